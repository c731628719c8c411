use super::allows;
use crate::ShellPattern;

#[test]
fn a_last_star_stands_for_any_further_words() {
    for pattern in ["git *", "git:*", " git * "] {
        assert!(allows(pattern, "git"), "{pattern}");
        assert!(allows(pattern, "git status"), "{pattern}");
        assert!(allows(pattern, "  git   log   -5  "), "{pattern}");
        assert!(!allows(pattern, "gitk"), "{pattern}");
        assert!(!allows(pattern, "/tmp/git status"), "{pattern}");
    }
    assert!(!allows("git * *", "git"));
    assert!(allows("git * *", "git log"));
}

#[test]
fn a_pattern_without_a_star_is_exact() {
    assert!(allows("npm run build", "npm run build"));
    assert!(allows("npm run build", "npm run 'build'"));
    assert!(!allows("npm run build", "npm run build --watch"));
    assert!(!allows("npm run build", "npm run"));
    assert!(!allows("npm run build", "npm 'run build'"));
}

#[test]
fn a_colon_and_a_star_begin_further_words() {
    assert!(allows("npm run test:*", "npm run test"));
    assert!(allows("npm run test:*", "npm run test -- -u"));
    assert!(!allows("npm run test:*", "npm run test:unit"));
    assert!(allows("npm run test:* *", "npm run test:unit --bail"));
    assert!(!allows("npm run test:* *", "npm run test"));
    assert!(allows("git add :*", "git add :/"));
}

#[test]
fn a_star_within_a_word_stays_in_the_word() {
    assert!(allows("git * main", "git merge main"));
    assert!(!allows("git * main", "git merge --no-ff main"));
    assert!(allows("git status*", "git status"));
    assert!(!allows("git status*", "git status -s"));
    assert!(allows("cat *.rs", "cat src/lib.rs"));
    assert!(!allows("cat *.rs", "cat key lib.rs"));
    assert!(allows("cat a*b*c", "cat a1b2c"));
    assert!(!allows("cat a*b*c", "cat a1c"));
    assert!(!allows("cat ab*bc", "cat abc"));
}

#[test]
fn a_star_within_a_word_does_not_match_parent_directories() {
    assert!(allows("cat src/*", "cat src/a/b..c"));
    assert!(!allows("cat src/*", "cat src/../key"));
    assert!(!allows("cat src/*", "cat src/a/.."));
    assert!(allows("cat ../*", "cat ../a"));
    assert!(!allows("cat ../*", "cat ../../a"));
    assert!(!allows("x --file=*", "x --file=../a"));
}

#[test]
fn quotes_make_a_part_literal() {
    assert!(allows("git commit -m 'a * b'", "git commit -m \"a * b\""));
    assert!(!allows("git commit -m 'a * b'", "git commit -m 'a c b'"));
    assert!(allows("git show 'stash@{0}'", "git show 'stash@{0}'"));
    assert!(allows("git show HEAD~*", "git show HEAD~3"));
}

#[test]
fn a_wrapper_is_allowed_by_its_name() {
    assert!(allows("env *", "env LANG=C git log"));
    assert!(allows("timeout 10 git *", "timeout 10 git log"));
    assert!(!allows("timeout * git *", "timeout 10 git -c a=b log"));
    assert!(!allows("timeout * git *", "timeout 10 sh -c git"));
    assert!(allows("/usr/bin/time *", "/usr/bin/time git log"));
    assert!(allows("bash *", "bash build.sh"));
    assert!(!allows("bash *", "bash -c ls"));
    assert!(!allows("bash *", "bash -xc ls"));
    assert!(allows("bash -c *", "bash -c ls"));
}

#[test]
fn an_invalid_pattern_has_a_reason() {
    let cases = [
        ("", "it is empty; name a program"),
        ("  ", "it is empty; name a program"),
        ("*", "its first word contains `*`; name the program, as in `git *`"),
        (":*", "its first word contains `*`; name the program, as in `git *`"),
        ("ls*", "its first word contains `*`; name the program, as in `git *`"),
        ("'' x", "its first word is not the name of a program"),
        ("A=1 git *", "its first word is not the name of a program"),
        ("time *", "`time` is a keyword of the shell, not a program"),
        ("while *", "`while` is a keyword of the shell, not a program"),
        ("git 'log", "a quote is not closed"),
        ("git\tlog", "it contains '\\t'; separate words by spaces"),
        (
            "git log; *",
            "`;` without quotes is a separator, which no plain command has; put it in single quotes",
        ),
        (
            "echo \"$HOME\"",
            "`$` in double quotes is an expansion, which no plain command has; put it in single quotes",
        ),
        (
            "cat ?.rs",
            "`?` without quotes is a pattern of file names, which no plain command has; put it in single \
             quotes",
        ),
    ];
    for (pattern, problem) in cases {
        let error = ShellPattern::parse(pattern).unwrap_err().to_string();
        let display = pattern.escape_debug();
        assert_eq!(error, format!("`{display}` is not a valid shell pattern: {problem}"));
    }
}

#[test]
fn a_pattern_shows_its_text() {
    let pattern: ShellPattern = "npm run test:*".parse().unwrap();
    assert_eq!(pattern.to_string(), "npm run test:*");
}
