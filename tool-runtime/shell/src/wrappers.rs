//! Programs and builtins that run another command, and keywords of the shell.

const WRAPPERS: &str = "\
    . ash at bash batch builtin busybox bwrap caffeinate catchsegv chpst chronic chroot chrt \
    command coproc cpulimit csh daemonize dash dbus-run-session doas dtach dumb-init \
    eatmydata entr env eval exec expect fakeroot faketime firejail fish flock gdb gosu \
    hyperfine ifne ionice ksh ld.so ltrace mosh nice nohup nsenter nu numactl parallel perf \
    pkexec prlimit proot proxychains proxychains4 pwsh rlwrap rr run-parts runcon runuser \
    screen script sem setarch setpriv setsid sh source ssh sshpass start-stop-daemon stdbuf \
    strace su su-exec sudo systemd-inhibit systemd-nspawn systemd-run taskset tcsh time \
    timeout tini tmux torsocks toybox trap unbuffer unshare valgrind watch xargs xvfb-run \
    zsh";

/// Beginnings of the names of dynamic linkers, which run a program that is an argument.
const LINKERS: &[&str] = &["ld-linux", "ld-musl"];

const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Whether a program runs another command.
pub(crate) fn is_wrapper(program: &str) -> bool {
    let name = base_name(program);
    WRAPPERS.split(' ').any(|wrapper| wrapper == name)
        || LINKERS.iter().any(|linker| name.starts_with(linker))
}

/// Whether a word is a keyword of the shell at the beginning of a command.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The last component of a program's path, without `.exe`.
pub(crate) fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}
