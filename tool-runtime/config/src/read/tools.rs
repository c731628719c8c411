//! Reads the selection of a server's tools, and the settings of single ones.

use super::Reader;
use super::entry::{Entry, Member};
use super::keys;
use crate::server::McpServerConfig;
use serde_json::Value;
use tool_runtime_core::vocabulary::matching::ToolPattern;

impl Reader<'_> {
    pub(super) fn tools(&mut self, entry: &mut Entry<'_>, server: &mut McpServerConfig) {
        if let Some(tools) = entry.take_if("tools", Value::is_object) {
            self.each_tool(&tools, server);
        }
        // Goose's empty list has all tools.
        entry.take_if("available_tools", |tools| tools.as_array().is_some_and(Vec::is_empty));
        let names = ["include", "include_tools", "enabled_tools", "available_tools", "tools"];
        let include = entry.one_of(&names, self.findings);
        server.include = include.and_then(|member| self.patterns(&member));
        let exclude = entry.one_of(&["exclude", "exclude_tools", "disabled_tools"], self.findings);
        let exclude = exclude.and_then(|member| self.patterns(&member));
        server.exclude.extend(exclude.unwrap_or_default());
    }

    fn patterns(&mut self, member: &Member<'_>) -> Option<Vec<ToolPattern>> {
        let mut patterns = Vec::new();
        for (location, item) in self.list(&member.location, member.value)? {
            let Some(text) = self.string(&location, item) else { continue };
            match pattern(text) {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => {
                    self.findings.problem(&location, "is not a valid pattern", error.to_string());
                }
            }
        }
        Some(patterns)
    }

    /// Reads `tools`, an object with the settings of single tools.
    fn each_tool(&mut self, tools: &Member<'_>, server: &mut McpServerConfig) {
        let Some(object) = tools.value.as_object() else { return };
        for (name, value) in object {
            let location = tools.location.key(name);
            let Some(settings) = self.object(&location, value) else { continue };
            let mut settings = Entry::read(&location, settings, keys::TOOL, self.findings);
            let limit = settings.one_of(&["timeout", "timeout_sec", "timeout_ms"], self.findings);
            if let Some(limit) = limit.and_then(|member| self.duration(&member)) {
                server.tool_timeouts.insert(name.clone(), limit);
            }
            if let Some(transform) = self.transform(&mut settings) {
                server.transforms.insert(name.clone(), transform);
            }
            if self.flag(&mut settings, &["enabled"]) == Some(false) {
                server.exclude.push(ToolPattern::exact(name));
            }
        }
    }
}

/// A pattern: a glob, a regular expression `/../`, or else an exact name of any characters.
fn pattern(
    text: &str,
) -> Result<ToolPattern, tool_runtime_core::vocabulary::matching::PatternError> {
    let varies = text.is_empty() || text.starts_with('/') || text.contains(['*', '?', '[', '{']);
    if varies { text.parse() } else { Ok(ToolPattern::exact(text)) }
}
