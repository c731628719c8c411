//! Where a tool comes from, and which tools are the same.

use super::Tool;
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

/// The name of a tool of an MCP server.
#[derive(Clone, Debug)]
pub(crate) struct RemoteName {
    pub(crate) server: String,
    pub(crate) tool: String,
}

/// The source location of a linked tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Tool {
    /// The tool that a [transform](Self::transform) started from, if there was one.
    ///
    /// ```
    /// use tool_runtime::Tool;
    /// use tool_runtime::transform::ToolTransform;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let echo = ping.transform(&ToolTransform::new().name("echo"))?;
    /// assert_eq!(echo.made_from().unwrap().name(), "ping");
    /// # Ok::<(), tool_runtime::transform::TransformError>(())
    /// ```
    pub fn made_from(&self) -> Option<&Self> {
        self.0.made_from.as_ref()
    }

    /// The name before all transforms.
    pub(crate) fn first_name(&self) -> &str {
        self.made_from().map_or_else(|| self.name(), Self::first_name)
    }

    /// The tool's name at its MCP server, if it belongs to one.
    pub(crate) fn remote_name(&self) -> Option<&RemoteName> {
        self.0.remote_name.as_deref()
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        self.0.origin
    }

    /// Sets the source location.
    pub(crate) fn at(self, origin: Origin) -> Self {
        self.with(|parts| parts.origin = Some(origin))
    }

    /// Whether arguments are decoded to an action before the tool runs.
    pub(crate) fn has_action(&self) -> bool {
        self.0.action.is_some()
    }

    fn action(&self) -> Option<TypeId> {
        self.0.action.as_ref().map(|(action, _)| *action)
    }

    /// Whether both are the same tool, independent of their sources.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_action = self.action().is_some() && self.action() == other.action();
        let is_free = self.0.values.is_none() && other.0.values.is_none();
        same_action && is_free || Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both are clones of one tool.
    pub(crate) fn is_one(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both are the same method, of different values.
    pub(crate) fn is_same_method(&self, other: &Self) -> bool {
        let same_action = self.action().is_some() && self.action() == other.action();
        same_action && self.0.values.is_some() && other.0.values.is_some()
    }
}
