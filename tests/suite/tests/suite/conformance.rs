//! The official conformance suite against a server that uses the macros alone, and
//! against a client that is a pool and its manager.

use serde_json::Value;
use std::fs;
use std::path::Path;
use suite::built::built;
use suite::http_server::HttpServerProcess;
use suite::peers::Program::Node;
use suite::peers::{folder, peer};
use suite::process::Ended;

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

/// Milliseconds for one scenario. All run at once, on a machine that may be busy.
const TIMEOUT: [&str; 2] = ["--timeout", "600000"];

#[test]
fn server_conforms_to_2025_11_25() {
    conforms("2025-11-25", 30, 3);
}

#[test]
fn server_conforms_to_2026_07_28() {
    conforms("2026-07-28", 37, 13);
}

#[test]
fn client_conforms_to_2025_11_25() {
    client_conforms("2025-11-25", 18);
}

#[test]
fn client_conforms_to_2026_07_28() {
    client_conforms("2026-07-28", 32);
}

/// Scenarios that are not scored, and not supported: authorization grants other than by a secret or a user. A
/// host can pass such tokens as headers.
const NOT_SUPPORTED: [&str; 5] = [
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
];

/// Runs a frozen set of scenarios and the seven that are not scored, two of which pass.
fn client_conforms(version: &str, scored: usize) {
    let results = folder().join(format!("conformance-client-{version}"));
    drop(fs::remove_dir_all(&results));
    let client = built("conformance-client");
    let client = client.to_str().expect("a path in UTF-8");
    let out = results.to_str().expect("a path in UTF-8");
    let words = ["client", "--command", client, "--requirements", version, "--output-dir", out];
    let ended = peer(Node(SUITE), &[&words[..], &TIMEOUT].concat());
    assert!(ended.is_success(), "{}", ended.described());
    let mut failed = failed(&ended);
    failed.sort_unstable();
    assert_eq!(failed, NOT_SUPPORTED, "{}", ended.described());
    assert_eq!(passed(&ended.output), scored + 2, "{}", ended.described());
}

/// The scenarios that have failed.
fn failed(ended: &Ended) -> Vec<&str> {
    let lines = summary(&ended.output).lines().filter_map(|line| line.strip_prefix("✗ "));
    lines.filter_map(|line| line.split(':').next()).collect()
}

/// The summary has one line per scenario; scenarios that are not scored are listed again below.
fn summary(output: &str) -> &str {
    let summary = output.split("SUMMARY ===").nth(1).unwrap_or_default();
    summary.split("Total").next().unwrap_or_default()
}

/// Runs a frozen set of scenarios, and those that are not scored.
fn conforms(version: &str, scored: usize, unscored: usize) {
    let results = folder().join(format!("conformance-{version}"));
    // A fresh directory: the suite appends to existing results.
    drop(fs::remove_dir_all(&results));
    let server =
        HttpServerProcess::start(&built("conformance-server"), &["--max-stream-duration", "1"]);
    let out = results.to_str().expect("a path in UTF-8");
    let words = ["server", "--url", server.url(), "--requirements", version, "--output-dir", out];
    let ended = peer(Node(SUITE), &[&words[..], &TIMEOUT].concat());
    let findings = findings(&results);
    let described = || format!("{findings:#?}\nThe suite {}", ended.described());
    assert!(ended.is_success() && findings.is_empty(), "{}", described());
    assert_eq!(passed(&ended.output), scored + unscored, "{}", described());
}

/// Number of scenarios that passed.
fn passed(output: &str) -> usize {
    summary(output).lines().filter(|line| line.starts_with('✓')).count()
}

/// Failures and warnings of all scenarios.
fn findings(results: &Path) -> Vec<String> {
    let scenarios = fs::read_dir(results).expect("the suite has written its results");
    let scenarios = scenarios.map(|scenario| scenario.expect("a readable entry").path());
    scenarios.flat_map(|scenario| findings_of(&scenario)).collect()
}

fn findings_of(scenario: &Path) -> Vec<String> {
    let text = fs::read_to_string(scenario.join("checks.json")).expect("the scenario's checks");
    let checks: Vec<Value> = serde_json::from_str(&text).expect("a list of checks");
    let succeeded =
        |check: &Value| matches!(check["status"].as_str(), Some("SUCCESS" | "INFO" | "SKIPPED"));
    let bad = checks.iter().filter(|check| !succeeded(check));
    bad.map(|check| format!("{} {}: {}", check["status"], check["id"], check["errorMessage"]))
        .collect()
}
