use super::{allows, compare, explain};
use crate::{ShellMatch, ShellPattern, commands};

/// Whether each command of a line needs no pattern, or is allowed by one of them.
fn allowed_by(patterns: &[&str], line: &str) -> bool {
    let patterns: Vec<ShellPattern> =
        patterns.iter().map(|pattern| ShellPattern::parse(pattern).unwrap()).collect();
    commands(line).is_ok_and(|commands| {
        commands.iter().all(|command| {
            let is_allowed = |it: &ShellPattern| it.matches(command.text()).is_yes();
            command.is_filter() || patterns.iter().any(is_allowed)
        })
    })
}

const PATTERNS: &[&str] =
    &["git *", "cargo *", "npm *", "cat *", "cd *", "ls *", "grep *", "echo *"];

#[test]
fn lines_of_allowed_commands_are_allowed() {
    for line in [
        "git status && cargo test 2>&1 | head",
        "git status; git diff --stat",
        "git status || echo none",
        "git add -A && git commit -m 'fix: a && b'",
        "git log --oneline | head -20",
        "git log | grep -i fix | wc -l",
        "git diff | cat",
        "cargo build 2>&1 | tail -n 5",
        "cargo test > /dev/null 2>&1 && echo ok",
        "cargo test &>/dev/null; git status",
        "cargo test 2>/dev/null </dev/null",
        "cd sub && git status",
        "git status\ngit diff\n",
        "git status &&\n  git diff",
        "git status;",
        "ls -la | sort -k5 -n | uniq -c | cut -d ' ' -f 1 | tr a b",
        "cargo test -- --nocapture 2>&1 | sed -n 1,20p",
        "git commit -F - <<'END'\nfix: $HOME `id` it's\n\tmore\nEND\n",
        "git commit -F - <<END && git log\nplain text\nEND",
        "cat <<-'A' | grep x\n\tx\n\tA\ngit status",
        "npm test -- -u && npm run build",
    ] {
        assert!(allowed_by(PATTERNS, line), "{line:?}: {:?}", commands(line));
    }
}

#[test]
fn a_hostile_line_is_not_allowed() {
    for line in [
        "git status && rm -rf x",
        "git status; id",
        "git status | sh",
        "git status | xargs rm",
        "git status | tee x",
        "git status | head x",
        "git status | grep -f /etc/passwd",
        "git status | grep -r root /etc",
        "git status | grep -e a /etc/passwd",
        "git status | sort -o x",
        "git status | uniq - x",
        "git status | sed 'w x'",
        "git status | sed -i s/a/b/ x",
        "git status | sed -n p /etc/passwd",
        "git status | awk 'BEGIN { system(\"id\") }'",
        "git status | ./head",
        "git status |& cat",
        "git status & git diff",
        "git status &",
        "git status > x",
        "git status >x",
        "git status >> x",
        "git status > /dev/nullx",
        "git status > /dev/null/../x",
        "git status >/dev/null x",
        "git status 2>&1x",
        "git status 2>&$x",
        "git status >&x",
        "git status < x",
        "git status <(id)",
        "git status <<< x",
        "2>&1 git status",
        "git status;; git diff",
        "git status && && git diff",
        "git status &&",
        "git status |",
        "&& git status",
        "| git status",
        "git status | time git diff",
        "if git status; then git diff; fi",
        "while git status; do git diff; done",
        "for a in b; do git status; done",
        "! git status",
        "(git status)",
        "{ git status; }",
        "git status # && git diff",
        "git status\n# a\ngit diff",
        "git status \\\n&& git diff",
        "git status && 'git' diff",
        "git status && git diff --output=x",
        "git status && git -C / diff",
        "git status && A=1 git diff",
        "export PATH=. ; git status",
        "git commit -F - <<END\n$(id)\nEND",
        "git commit -F - <<END\n`id`\nEND",
        "git commit -F - <<END\n\\\nEND\nEND",
        "git commit -F - <<'END'\nx",
        "git commit -F - <<'END'\nx\nEND \nid",
        "git commit -F - <<'END'\nx\nEND\nid",
        "git commit -F - <<'E'ND\nx\nEND\nid\nE",
        "git commit -F - <<$x\nx\n$x",
        "git commit -F - <<''\nx\n\nid",
        "git commit -F - <<'END' 'a\nEND\nid\n'",
        "git commit -F - <<'END' |\nx\nEND\nsh",
        "cat <<'END' | sh\nid\nEND",
        "cat <<'END' | npm exec\nid\nEND",
        "cd /tmp && ./git status",
        "cd /tmp && cargo +nightly rustc",
        "git status\rid",
        "git status\tid",
    ] {
        assert!(!allowed_by(&PATTERNS[..5], line), "{line:?}: {:?}", commands(line));
    }
}

#[test]
fn a_command_that_changes_later_ones_is_not_compared_with_them() {
    for line in [
        "alias git=rm; git x",
        "hash -p /tmp/x git; git status",
        "enable -f ./x git; git status",
        "read PATH; git status",
        "set -a; git status",
        "cd /tmp && ./build.sh",
        "cd /tmp; bin/x",
    ] {
        assert!(commands(line).is_err(), "{line}");
    }
    assert!(allowed_by(&["alias *", "git *"], "git status"));
    assert!(allowed_by(&["cd *", "./build.sh"], "./build.sh && cd /tmp"));
}

#[test]
fn input_is_only_for_programs_that_take_it_as_data() {
    for program in
        ["sh", "bash", "python3", "xargs rm", "parallel", "node", "sqlite3 a.db", "frobnicate"]
    {
        let line = format!("cat x | {program}");
        assert!(!allowed_by(&["cat *", &format!("{program} *"), program], &line), "{line}");
    }
}

#[test]
fn a_deny_list_finds_a_command_in_a_line() {
    for line in [
        "ls && rm x",
        "ls; rm x",
        "ls | rm x",
        "ls\nrm x",
        "rm x 2>&1",
        "rm x | head",
        "ls && /bin/rm x",
    ] {
        assert_ne!(compare("rm *", line), ShellMatch::No, "{line}");
    }
    for line in ["ls && git status", "ls | head", "cargo test 2>&1 | tail -5", "git status; ls"] {
        assert_eq!(compare("rm *", line), ShellMatch::No, "{line}");
    }
    assert_eq!(compare("rm *", "rm a && rm b 2>&1"), ShellMatch::Yes);
}

#[test]
fn a_line_of_one_pattern_is_allowed_by_it() {
    assert!(allows("git *", "git status && git diff | head"));
    assert_eq!(
        explain("git *", "git status && ls"),
        "`git *` describes some commands of the line, and not `ls`; run them apart"
    );
}

#[test]
fn a_line_has_a_limited_number_of_commands() {
    assert!(allows("git *", &["git status"; 32].join(" && ")));
    assert_eq!(
        explain("git *", &["git status"; 33].join(" && ")),
        "the line has more than 32 commands; run fewer at once"
    );
}
