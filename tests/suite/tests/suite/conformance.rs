//! The official conformance suite against a server that is written with the macros alone.

use serde_json::Value;
use std::fs;
use std::path::Path;
use suite::built::built;
use suite::peers::Program::Node;
use suite::peers::{folder, peer};
use suite::served::Served;

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

#[test]
fn everything_that_2025_11_25_requires() {
    conforms("2025-11-25", 30, 3);
}

#[test]
fn everything_that_2026_07_28_requires() {
    conforms("2026-07-28", 37, 13);
}

/// Runs a frozen set of scenarios, and those that are not scored.
fn conforms(version: &str, scored: usize, unscored: usize) {
    let results = folder().join(format!("conformance-{version}"));
    // A fresh directory: the suite adds to what is there.
    drop(fs::remove_dir_all(&results));
    let served = Served::start(&built("conformance-server"), &["--hang-up-after", "1"]);
    let out = results.to_str().expect("a path in UTF-8");
    let words = ["server", "--url", served.url(), "--requirements", version, "--output-dir", out];
    let ended = peer(Node(SUITE), &words);
    let complaints = complaints(&results);
    let described = || format!("{complaints:#?}\nThe suite {}", ended.described());
    assert!(ended.is_success() && complaints.is_empty(), "{}", described());
    assert_eq!(passed(&ended.output), scored + unscored, "{}", described());
}

/// How many scenarios have passed; the summary has one line for each, and repeats those that are not scored.
fn passed(output: &str) -> usize {
    let summary = output.split("=== SUMMARY ===").nth(1).unwrap_or_default();
    let lines = summary.lines().take_while(|line| !line.starts_with("Total"));
    lines.filter(|line| line.starts_with('✓')).count()
}

/// What the suite failed or warned of, in any scenario.
fn complaints(results: &Path) -> Vec<String> {
    let scenarios = fs::read_dir(results).expect("the suite has written its results");
    let scenarios = scenarios.map(|scenario| scenario.expect("a readable entry").path());
    scenarios.flat_map(|scenario| complaints_of(&scenario)).collect()
}

fn complaints_of(scenario: &Path) -> Vec<String> {
    let text = fs::read_to_string(scenario.join("checks.json")).expect("the scenario's checks");
    let checks: Vec<Value> = serde_json::from_str(&text).expect("a list of checks");
    let is_fine =
        |check: &Value| matches!(check["status"].as_str(), Some("SUCCESS" | "INFO" | "SKIPPED"));
    let bad = checks.iter().filter(|check| !is_fine(check));
    bad.map(|check| format!("{} {}: {}", check["status"], check["id"], check["errorMessage"]))
        .collect()
}
