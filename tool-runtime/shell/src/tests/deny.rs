use super::compare;
use crate::{Reason, ShellMatch};

/// Commands that run `rm`.
const HIDDEN: &[&str] = &[
    "/bin/rm x",
    "/usr/bin/../bin/rm x",
    "./rm x",
    "\\rm x",
    "r''m x",
    "command rm x",
    "env rm x",
    "/usr/bin/env rm x",
    "busybox rm x",
    "perf stat rm x",
    "systemd-inhibit rm x",
    "xargs rm",
    "ssh host rm x",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "find . -exec rm {} +",
    "find . -name x -execdir rm '{}' +",
    "/usr/bin/find . -ok rm x ';'",
    "fd x -x rm",
    "tar -cf a --checkpoint=1 --checkpoint-action=exec=rm x",
    "tar xf a --to-command=rm",
    "tar -I rm -xf a",
    "tar xIf rm a",
    "sed 1e x",
    "sed '1e rm x' x",
    "sed -n 's/.*/rm x/e' x",
    "sed -e p -e '1e rm x' x",
    "sed -ne '1e rm x' x",
    "sed --expression='1e rm x' x",
    "sed --expression '1e rm x' x",
    "sed -e'1e rm x' x",
    "sed 's/a/b/;1e rm x' x",
    "sed '/a/{p;e rm x' x",
    "awk 'BEGIN { system(\"rm x\") }'",
    "awk 'BEGIN { print 1 | \"rm x\" }'",
    "perl -e 'unlink 1'",
    "perl -ne 'unlink 1' x",
    "node -e 1",
    "ruby -e 1",
    "python -c 1",
    "python3.12 -Sc 1",
    "/usr/bin/python3 -c 1",
    "php -r 1",
    "python3",
    "perl",
    "make 'X=$(shell rm x)'",
    "make SHELL=/bin/rm",
    "make --eval='$(shell rm x)'",
    "git -c alias.x='!rm x' x",
    "git bisect run rm x",
    "git submodule foreach rm x",
    "sort --compress-program=rm x",
    "rg --pre rm x",
    "vim -c '!rm x'",
    "uv run rm x",
    "npm exec rm x",
    "docker run a rm x",
    "cmake -E rm x",
    "gdb -ex 'shell rm x'",
    "zip a.zip x -T -TT 'rm x'",
    "dc -e '!rm x'",
    // Subscripts of variables are evaluated, substitutions included.
    "printf -v 'a[$(rm x)]' y",
    "test -v 'a[$(rm x)]'",
    "read 'a[`rm x`]'",
    "let 'a[$(rm x)]'",
    "wait -p 'a[$(rm x)]'",
    "compgen -W '$(rm x)'",
    "compgen -C 'rm x'",
    "mapfile -C 'rm x' -c 1",
    "jobs -x rm x",
    "alias r=rm",
    "hash -p /bin/rm r",
];

#[test]
fn a_deny_list_does_not_miss_a_command_that_another_one_runs() {
    for command in HIDDEN {
        let found = compare("rm *", command);
        assert!(matches!(found, ShellMatch::Undecidable(_)), "{command}: {found:?}");
    }
}

#[test]
fn a_deny_list_does_not_stop_commands_that_run_no_other() {
    for command in [
        "ls rm",
        "git rm x",
        "git log -c",
        "git commit -m 'rm x'",
        "git clone https://example.org/a.git",
        "cargo build --release",
        "gcc -o a a.c",
        "curl -o a https://example.org",
        "find . -name '*.rs' -newer x",
        "tar -xzf a.tar.gz -C src",
        "tar czf a.tgz src",
        "sed -n 1,20p x",
        "sed -i s/a/b/g x",
        "sed -i.bak -E 's|a|b|; s/c/d/p' x",
        "sed '/^here/,/end/d' x",
        "sed -e 1d -e '$!N' x y",
        "sed -f script x",
        "awk '{ print $1 }' x",
        "python -m pytest",
        "node index.js",
        "perl -v",
        "make test -j4",
        "npm run build",
        "docker ps",
        "/usr/bin/ls rm",
        "sort -o a b",
        "printf '%s\\n' x",
        "test -f x",
        "read -r x",
    ] {
        assert_eq!(compare("rm *", command), ShellMatch::No, "{command}");
    }
}

#[test]
fn an_allow_list_does_not_allow_another_path() {
    for (pattern, command) in
        [("git *", "./git status"), ("git *", "/tmp/git status"), ("/usr/bin/git *", "git status")]
    {
        let program = command.split(' ').next().unwrap();
        let expected = ShellMatch::Undecidable(Reason::Path(program.to_owned()));
        assert_eq!(compare(pattern, command), expected, "{command}");
    }
    assert!(compare("/usr/bin/git *", "/usr/bin/git status").is_yes());
    assert_eq!(compare("rm -r *", "/bin/rm x"), ShellMatch::No);
}

#[test]
fn options_do_not_hide_a_subcommand() {
    for command in ["git --no-pager push", "git -C src push", "/usr/bin/git -C src push"] {
        let found = compare("git push *", command);
        assert!(matches!(found, ShellMatch::Undecidable(_)), "{command}: {found:?}");
    }
    for command in ["git --no-pager log", "git log push", "git status -s"] {
        assert_eq!(compare("git push *", command), ShellMatch::No, "{command}");
    }
}

#[test]
fn options_of_a_wrapper_do_not_hide_its_command() {
    for command in ["sudo -u root rm x", "sudo A=1 rm x", "sudo /bin/rm x", "sudo env rm x"] {
        assert!(matches!(compare("sudo rm *", command), ShellMatch::Undecidable(_)), "{command}");
    }
    assert_eq!(compare("sudo rm *", "sudo ls"), ShellMatch::No);
}
