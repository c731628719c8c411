//! Restrictions by declarations: `Read`, `Bash(git *)`.

mod report;
mod resolver;
mod rule;

pub use report::{DeclarationReport, DeclarationStatus};

use crate::vocabulary::matching::declaration::{Declaration, Declarations};
pub(super) use resolver::Resolver;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The tools that an agent or a skill declares, and those that it must not use.
///
/// Without an allow list every tool is allowed; an empty one allows nothing. Deny wins. Uncertainty
/// never allows: an entry of the allow list that cannot be evaluated allows nothing, and one of the
/// deny list denies its whole tool. [`ToolPool::declaration_report`](crate::pool::ToolPool::declaration_report) gives the reasons.
///
/// ```
/// use tool_runtime::pool::DeclaredTools;
///
/// let tools = DeclaredTools::allow("Read, Bash(git *)").deny("Bash(git push *)");
/// assert_eq!(tools.allow.unwrap().len(), 2);
///
/// let tools: DeclaredTools = serde_json::from_str(r#"{ "allow": ["Read"], "deny": "Bash, Write" }"#)?;
/// assert_eq!(tools.deny.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeclaredTools {
    /// The allowed tools and calls. Default: `None`, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Declarations>,
    /// The denied tools and calls. Default: empty.
    #[serde(default, skip_serializing_if = "Declarations::is_empty")]
    pub deny: Declarations,
}

impl DeclaredTools {
    /// Allows only these tools and calls.
    pub fn allow(declarations: impl Into<Declarations>) -> Self {
        Self { allow: Some(declarations.into()), ..Self::default() }
    }

    /// Denies these tools and calls. Replaces an earlier list.
    #[must_use]
    pub fn deny(mut self, declarations: impl Into<Declarations>) -> Self {
        self.deny = declarations.into();
        self
    }
}

/// For messages after "restricted to".
impl fmt::Display for DeclaredTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.allow {
            None => f.write_str("everything")?,
            Some(allow) if allow.is_empty() => f.write_str("nothing")?,
            Some(allow) => f.write_str(&quoted(allow))?,
        }
        match self.deny.is_empty() {
            true => Ok(()),
            false => write!(f, " except {}", quoted(&self.deny)),
        }
    }
}

fn quoted(declarations: &Declarations) -> String {
    let quoted: Vec<String> =
        declarations.iter().map(|declaration: &Declaration| format!("`{declaration}`")).collect();
    quoted.join(", ")
}
