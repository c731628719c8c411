//! Programs and builtins that run another command, and keywords of the shell.

const WRAPPERS: &str = "\
    . ash at bash batch builtin busybox bwrap caffeinate chroot chrt command coproc csh \
    dash dbus-run-session doas entr env eval exec expect fakeroot faketime firejail fish \
    flock gdb ionice ksh ltrace nice nohup nsenter nu parallel pkexec prlimit proot pwsh \
    rlwrap runcon runuser screen script setarch setpriv setsid sh source \
    start-stop-daemon stdbuf strace su sudo systemd-run taskset tcsh time timeout tmux \
    toybox trap unbuffer unshare watch xargs zsh";

const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Whether a program runs another command.
pub(crate) fn is_wrapper(program: &str) -> bool {
    let name = base_name(program);
    WRAPPERS.split(' ').any(|wrapper| wrapper == name)
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
