//! Patterns of an entry that match no tool of its server.

use super::server::{McpServerConfig, matches};
use std::collections::BTreeSet;
use tool_runtime_core::seam::{nearest, printable};
use tool_runtime_core::vocabulary::matching::ToolPattern;

impl McpServerConfig {
    /// Notices about settings for tools that the server does not have, which are probably typing errors. Empty for a
    /// server without tools.
    pub fn unmatched_patterns(&self, tools: &[&str]) -> Vec<String> {
        let include = self.include.iter().flatten().map(|pattern| ("include", pattern.clone()));
        let exclude = self.exclude.iter().map(|pattern| ("exclude", pattern.clone()));
        let single: BTreeSet<&String> =
            self.tool_timeouts.keys().chain(self.transforms.keys()).collect();
        let single = single.into_iter().map(|name| ("tools", ToolPattern::exact(name)));
        let is_unmatched = |(_, pattern): &(_, ToolPattern)| {
            !tools.is_empty() && !tools.iter().any(|tool| matches(pattern, tool))
        };
        let unmatched = include.chain(exclude).chain(single).filter(is_unmatched);
        unmatched.map(|(key, pattern)| notice(key, &pattern, tools)).collect()
    }
}

/// The notice about a pattern that matches no tool.
fn notice(key: &str, pattern: &ToolPattern, tools: &[&str]) -> String {
    let written = pattern.to_string();
    let count = match tools.len() {
        1 => "the only tool".to_owned(),
        count => format!("any of the {count} tools"),
    };
    let is_exact = *pattern == ToolPattern::exact(&written);
    let verb = if is_exact { "is not" } else { "does not match" };
    let notice = format!("`{key}`: `{}` {verb} {count} that it lists", printable(&written));
    if !is_exact {
        return notice;
    }
    let near = nearest(&written, tools.iter().copied(), 1);
    let near = near.first().map(|near| format!("; did you mean `{}`?", printable(near)));
    notice + &near.unwrap_or_default()
}
