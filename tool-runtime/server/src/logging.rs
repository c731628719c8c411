//! Log notifications, which MCP deprecates and older clients still request.

#![allow(deprecated, reason = "rmcp marks the log's types as MCP does; they are named only here")]

use super::convert::via_json;
use rmcp::model::{
    JsonObject, LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam,
    RequestMetaObject, ServerCapabilities, ServerNotification, SetLevelRequestParams,
};
use std::sync::atomic::{AtomicU8, Ordering};
use tool_runtime_core::tool::peer::{LogEntry, LogLevel};

/// The lowest level that a stateful client receives.
#[derive(Debug)]
pub(super) struct Level(AtomicU8);

impl Level {
    pub(super) fn set(&self, request: &SetLevelRequestParams) {
        self.0.store(level(request.level) as u8, Ordering::Relaxed);
    }

    pub(super) fn includes(&self, level: LogLevel) -> bool {
        level as u8 >= self.0.load(Ordering::Relaxed)
    }
}

/// A client that sets no level gets no debug messages.
impl Default for Level {
    fn default() -> Self {
        Self(AtomicU8::new(LogLevel::Info as u8))
    }
}

/// The parameters of `logging/setLevel`.
pub(super) type SetLevel = SetLevelRequestParams;

/// Declares logging: any tool may log.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.logging = Some(JsonObject::new());
}

/// The level in a request of 2026-07-28; without one the client receives nothing.
pub(super) fn requested_level(meta: &RequestMetaObject) -> Option<LogLevel> {
    meta.log_level().map(level)
}

/// The notification of an entry.
pub(super) fn message(entry: LogEntry) -> ServerNotification {
    let level = via_json(&entry.level).expect("MCP has these levels");
    LoggingMessageNotification::new(LoggingMessageNotificationParam::new(level, entry.data)).into()
}

fn level(level: LoggingLevel) -> LogLevel {
    via_json(&level).expect("the levels are MCP's")
}
