//! Time limits.

use super::Reader;
use super::entry::{Entry, Member};
use crate::server::McpServerConfig;
use serde_json::Value;
use std::time::Duration;

const HELP: &str = r#"write a time with its unit, as `"30s"`"#;

impl Reader<'_> {
    pub(super) fn timeouts(&mut self, entry: &mut Entry<'_>, server: &mut McpServerConfig) {
        const CALL: &[&str] =
            &["call_timeout", "timeout", "tool_timeout", "tool_timeout_sec", "request_timeout"];
        const CONNECT: &[&str] = &[
            "connect_timeout",
            "connection_timeout",
            "startup_timeout",
            "startup_timeout_sec",
            "startup_timeout_ms",
            "init_timeout",
        ];
        let call = entry.one_of(CALL, self.findings);
        server.call_timeout = call.and_then(|member| self.duration(&member));
        let connect = entry.one_of(CONNECT, self.findings);
        server.connect_timeout = connect.and_then(|member| self.duration(&member));
    }

    /// A duration: a string with a unit, a number in the unit of the key, or a bare number. Dialects differ in bare numbers:
    /// small ones are seconds, large ones milliseconds.
    pub(super) fn duration(&mut self, member: &Member<'_>) -> Option<Duration> {
        let duration = match member.value {
            Value::String(text) => humantime::parse_duration(text).ok(),
            Value::Number(number) => number.as_f64().and_then(|number| self.bare(member, number)),
            _ => None,
        };
        if duration.is_none() {
            self.findings.problem(&member.location, "is not a valid time", HELP);
        }
        duration
    }

    fn bare(&mut self, member: &Member<'_>, number: f64) -> Option<Duration> {
        let (is_named, seconds) = match member.key {
            key if key.ends_with("_sec") => (true, number),
            key if key.ends_with("_ms") => (true, number / 1000.0),
            _ if number < 1000.0 => (false, number),
            _ => (false, number / 1000.0),
        };
        let duration = Duration::try_from_secs_f64(seconds).ok()?;
        if !is_named {
            let unit = if number < 1000.0 { "seconds" } else { "milliseconds" };
            let text = format!("{number} has no unit, and was taken for {unit}");
            let help = format!("write `\"{}\"`", humantime::format_duration(duration));
            self.findings.warn(&member.location, text, help);
        }
        Some(duration)
    }
}
