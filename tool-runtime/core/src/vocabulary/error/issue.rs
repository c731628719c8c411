//! A mistake in the arguments of a call, described for a model.

use crate::vocabulary::mask::{self, Mask};
use std::fmt;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// One mistake in a call's arguments, and what is allowed instead.
///
/// `Display` writes the message, which names the path, so that a list of issues is readable
/// as it is.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Wait for a while.
/// #[tool(read_only)]
/// async fn wait(
///     /// For how many seconds.
///     #[arg(range = 1..=60)]
///     seconds: u32,
/// ) {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<WaitAction>().build()?;
/// let result = pool.call(ToolCall::new("wait", r#"{"seconds": 0}"#)).await;
/// let issue = &result.error().unwrap().issues()[0];
/// assert_eq!((issue.path(), issue.rule()), ("seconds", "minimum"));
/// assert_eq!(issue.message(), "`seconds` must be at least 1, got 0");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    path: String,
    rule: Cow<'static, str>,
    message: String,
}

impl Issue {
    /// An issue at `path` that breaks `rule`.
    #[doc(hidden)]
    pub fn new(path: impl Into<String>, rule: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.into(), rule: Cow::Borrowed(rule), message: message.into() }
    }

    /// Masks secrets.
    pub(crate) fn mask(&mut self, mask: &dyn Mask) {
        mask::in_place(mask, &mut self.path);
        mask::in_place(mask, &mut self.message);
    }

    /// The same issue at another path and in other words.
    pub(crate) fn reworded(&self, path: String, message: String) -> Self {
        Self { path, rule: self.rule.clone(), message }
    }

    /// The path of the issue: `tags[2]`, `filter.range.from`, or empty for the arguments as a whole.
    ///
    /// A property whose name is not an identifier is written `["odd name"]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The JSON Schema keyword that is broken: `type`, `required`, `minimum`, ...
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The mistake and what is allowed, lower case, without a full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
