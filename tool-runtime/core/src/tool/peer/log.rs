//! Log entries for the caller.

use crate::tool::context::ToolContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The severity: the levels of syslog (RFC 5424), as in MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For debugging the tool.
    Debug,
    /// Steps of the work of a tool.
    Info,
    /// Normal, but significant.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
    /// A part of the system does not work.
    Critical,
    /// Action must be taken immediately.
    Alert,
    /// Nothing works.
    Emergency,
}

/// One log entry of a call: MCP's `notifications/message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogEntry {
    /// The severity.
    pub level: LogLevel,
    /// A text, or any JSON.
    pub data: Value,
}

impl LogEntry {
    /// An entry of a level, with its text or value.
    pub fn new(level: LogLevel, data: impl Into<Value>) -> Self {
        Self { level, data: data.into() }
    }
}

impl ToolContext {
    /// Writes to the log of the caller. (`tracing` writes to the log of this process.) Never write
    /// secrets: the caller reads it, and only the secrets of the pool are masked.
    ///
    /// Does not wait, and costs nothing if no log was requested: clients of 2026-07-28 request logs
    /// with each request, older ones once for all.
    ///
    /// ```
    /// use tool_runtime::peer::LogLevel;
    /// use tool_runtime::prelude::*;
    ///
    /// # let context = ToolContext::default();
    /// context.log(LogLevel::Info, format_args!("{} files", 3));
    /// ```
    pub fn log(&self, level: LogLevel, message: impl fmt::Display) {
        if let Some(peer) = self.peer().filter(|peer| peer.accepts_log(level)) {
            peer.log(LogEntry { level, data: self.without_secrets(message.to_string()) });
        }
    }

    /// Logs any JSON value instead of a string.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # let context = ToolContext::default();
    /// let data = serde_json::json!({ "file": "a.txt", "bytes": 3 });
    /// context.log_data(tool_runtime::peer::LogLevel::Debug, data);
    /// ```
    pub fn log_data(&self, level: LogLevel, data: impl Into<Value>) {
        if let Some(peer) = self.peer().filter(|peer| peer.accepts_log(level)) {
            peer.log(LogEntry { level, data: self.without_secrets(data) });
        }
    }

    fn without_secrets(&self, data: impl Into<Value>) -> Value {
        let mut data = data.into();
        if let Some(mask) = self.mask() {
            mask.value(&mut data);
        }
        data
    }
}
