//! Log notifications, which MCP deprecates and older clients still ask for.

#![allow(deprecated, reason = "rmcp marks the log's types as MCP does; they are named here alone")]

use rmcp::model::{
    JsonObject, LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam,
    RequestMetaObject, ServerCapabilities, ServerNotification, SetLevelRequestParams,
};
use std::sync::atomic::{AtomicU8, Ordering};
use tool_runtime_core::{LogEntry, LogLevel};

/// The least level that a client of the older era hears.
#[derive(Debug)]
pub(super) struct Level(AtomicU8);

impl Level {
    pub(super) fn set(&self, level: LogLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    pub(super) fn hears(&self, level: LogLevel) -> bool {
        level as u8 >= self.0.load(Ordering::Relaxed)
    }
}

/// A client that says nothing hears what is worth knowing, not what helps to find faults.
impl Default for Level {
    fn default() -> Self {
        Self(AtomicU8::new(LogLevel::Info as u8))
    }
}

/// What a client of the older era sends to set its level.
pub(super) type SetLevel = SetLevelRequestParams;

/// Any tool may log.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.logging = Some(JsonObject::new());
}

/// The level that a client sets.
pub(super) fn level_set(request: &SetLevel) -> LogLevel {
    level_of(request.level)
}

/// The level that a request of 2026-07-28 asks for; without one it hears nothing.
pub(super) fn level_asked(meta: &RequestMetaObject) -> Option<LogLevel> {
    meta.log_level().map(level_of)
}

/// The message that carries an entry.
pub(super) fn message(entry: LogEntry) -> ServerNotification {
    let param = LoggingMessageNotificationParam::new(mcp_level(entry.level), entry.data);
    LoggingMessageNotification::new(param).into()
}

fn level_of(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}

fn mcp_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}
