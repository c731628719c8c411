//! Third-party checkers run on the quickstart.

use super::quickstart::binary;
use serde_json::Value;
use suite::peers::Program::Venv;
use suite::peers::{folder, peer};

/// The remarks of `mcp-assert` on descriptions are for people to judge, and `add` does not change
/// any state, despite its name.
const PROSE: &str = "W108,W110,W111,W116";

fn server() -> &'static str {
    binary().to_str().expect("a path in UTF-8")
}

#[test]
fn mcp_assert_finds_nothing_in_the_schemas() {
    let lint = ["lint", "--strict", "--skip-rules", PROSE, "--server", server()];
    let ended = peer(Venv("mcp-assert"), &lint);
    assert!(ended.is_success(), "{}", ended.described());
}

/// The checker fails for numbers that it cannot write, such as infinity; the server does not send these.
#[test]
fn mcp_assert_finds_no_input_that_breaks_a_tool() {
    let fuzz = ["fuzz", "--json", "--seed", "42", "--runs", "200", "--server", server()];
    let ended = peer(Venv("mcp-assert"), &fuzz);
    let report = ended.output.find('{').and_then(|start| {
        serde_json::Deserializer::from_str(&ended.output[start..]).into_iter::<Value>().next()
    });
    let report = report.and_then(Result::ok).unwrap_or_else(|| panic!("{}", ended.described()));
    assert_eq!(report["summary"]["total_runs"], 800, "{report:#}");
    let failures = report["tools"].as_array().into_iter().flatten();
    let failures = failures.flat_map(|tool| tool["failures"].as_array().into_iter().flatten());
    let ours = |failure: &&Value| {
        let detail = failure["detail"].as_str().unwrap_or_default();
        !detail.contains("failed to marshal request")
    };
    let ours: Vec<&Value> = failures.filter(ours).collect();
    assert!(ours.is_empty(), "{ours:#?}");
}

#[test]
fn mcp_contract_finds_no_difference_between_two_listings() {
    let file = folder().join("contract.json");
    let file = file.to_str().expect("a path in UTF-8");
    for words in [["snapshot", "--quiet"], ["check", "--strict"]] {
        let words = [words[0], words[1], "--file", file, "--", server()];
        let ended = peer(Venv("mcp-contract"), &words);
        assert!(ended.is_success(), "{}", ended.described());
    }
}
