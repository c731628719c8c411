//! Patterns of all sources are enforced, and binaries without patterns do not link the engine.

use std::fs;
use std::path::Path;
use std::process::Command;
use suite::limit;

/// Each in a separate process, since patterns are enabled globally.
#[test]
fn patterns_are_enforced_for_every_type() {
    for kind in ["type", "argument", "action", "builder", "output"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_late_pattern"));
        let output = limit::output(command.arg(kind)).expect("it runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("must match the pattern"), "{kind}: {output:?}");
    }
}

#[test]
fn a_pattern_of_an_output_that_nothing_checks_is_a_problem_of_the_pool() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_late_pattern"));
    let output = limit::output(command.arg("unchecked output")).expect("it runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("add `.check_outputs()` to the pool"), "{output:?}");
}

/// These crates are a fifth of a small binary: code that is always linked must not link them.
#[test]
fn only_the_engine_links_the_crates_for_patterns_and_formats() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-runtime");
    let mut naming: Vec<String> = Vec::new();
    for file in super::floors::sources(&root) {
        let text = fs::read_to_string(&file).expect("a readable source");
        let crates =
            ["regex_automata::", "chrono::", "fluent_uri::Uri", "email_address::", "uuid::"];
        let names_one = |line: &str| crates.iter().any(|name| line.contains(name));
        if super::floors::code_lines(&text).any(|(_, line)| names_one(line)) {
            naming.push(file.strip_prefix(&root).expect("below it").display().to_string());
        }
    }
    naming.sort();
    // Linked only by programs with a log of calls, with external servers, with declarations.
    let expected = [
        "audit/src/time.rs",
        "config/src/url.rs",
        "core/src/schema/format.rs",
        "core/src/vocabulary/matching/url.rs",
        "core/src/vocabulary/regex.rs",
    ];
    assert_eq!(naming, expected);
}
