//! Patterns are enforced whatever brings them, and cost nothing where there are none.

use std::fs;
use std::path::Path;
use std::process::Command;
use suite::limit;

/// Each in a process of its own: one that enables patterns enables them for all.
#[test]
fn patterns_are_enforced_for_every_type() {
    for kind in ["type", "argument", "action", "builder"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_late_pattern"));
        let output = limit::output(command.arg(kind)).expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("must match the pattern"), "{kind}: {output:?}");
    }
}

/// A fifth of a small binary hangs on who names these crates: what is always linked must not.
#[test]
fn only_the_engine_names_the_crates_for_patterns_and_formats() {
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
    // The first is compiled for those who use external servers alone.
    assert_eq!(naming, ["config/src/url.rs", "core/src/regex.rs", "core/src/schema/format.rs"]);
}
