//! Patterns of `--allow` and `--deny` that match no tool.

use crate::{exit, print};
use std::process::ExitCode;
use tool_runtime_core::pool::{Selector, ToolPool};
use tool_runtime_core::seam::nearest;

/// Prints the patterns of the command line that match no tool, and gives the exit code. `None`: each matches one, or tools
/// are missing that it may match, which is a warning.
pub(super) fn unmatched(pool: &ToolPool, selectors: &[Selector]) -> Option<ExitCode> {
    if selectors.is_empty() {
        return None;
    }
    let report = pool.report();
    let unmatched = report.unmatched.iter().filter(|selector| selectors.contains(selector));
    let unmatched: Vec<String> = unmatched.map(ToString::to_string).collect();
    if unmatched.is_empty() {
        return None;
    }
    if !report.absent.is_empty() {
        unmatched.iter().for_each(|selector| print::warning(&unmatched_yet(selector)));
        return None;
    }
    let names: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    for selector in &unmatched {
        let near = nearest(selector, names.iter().copied(), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| "; `report` lists the tools".to_owned());
        print::error(&format!("the pattern `{selector}` picks no tool{near}"));
    }
    Some(ExitCode::from(exit::USAGE))
}

/// The warning about a pattern that matches no tool while servers are missing.
pub(super) fn unmatched_yet(selector: &str) -> String {
    format!("the pattern `{selector}` picks no tool of those that are there; servers are missing")
}
