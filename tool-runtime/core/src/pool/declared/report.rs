//! Reports the effect of declarations as text.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The effect of each declaration on the tools of a pool. It prints one line for each.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::DeclaredTools;
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder().add(ping).build()?;
/// let report = pool.declaration_report(&DeclaredTools::allow("ping(a *)").deny("Bash"));
/// assert!(report.entries[0].reason.is_some());
/// assert_eq!(report.to_string().lines().count(), 2);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeclarationReport {
    /// The declarations of the allow list, then those of the deny list.
    pub entries: Vec<DeclarationStatus>,
}

/// The effect of one declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeclarationStatus {
    /// The declaration as it was written.
    pub declaration: String,
    /// Whether the declaration is of the deny list.
    pub denies: bool,
    /// The tools that it allows or denies, in whole or in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The reason why it matches no tool or cannot be evaluated. If it cannot be evaluated, a tool
    /// on the deny list is denied as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl fmt::Display for DeclarationStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.denies { "denies" } else { "allows" };
        let tools: Vec<String> = self.tools.iter().map(|tool| format!("`{tool}`")).collect();
        let tools = if tools.is_empty() { "nothing".to_owned() } else { tools.join(", ") };
        write!(f, "`{}` {verb} {tools}", self.declaration)?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl fmt::Display for DeclarationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
