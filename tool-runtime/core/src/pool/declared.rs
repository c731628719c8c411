//! Restrictions by declarations: `Read`, `Bash(git *)`.

mod report;
mod resolver;
mod rule;

pub use report::{DeclarationReport, DeclarationStatus};

use super::handle::ToolPool;
use super::scope::{Narrowing, Restriction};
use crate::vocabulary::matching::declaration::{Declaration, Declarations};
pub(super) use resolver::Resolver;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The tools that an agent or a skill declares, and those that it must not use.
///
/// Without an allow list every tool is allowed; an empty one allows nothing. Deny wins. Uncertainty
/// never allows: an entry of the allow list that cannot be evaluated allows nothing, and one of the
/// deny list denies its whole tool. [`ToolPool::declaration_report`] gives the reasons.
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

impl ToolPool {
    /// Narrows what this handle and its clones see and call to declared tools, until the guard is
    /// dropped, as [`Self::restrict`] does. Patterns such as `Bash(git *)` are checked before each call,
    /// and again when a hook changed its arguments.
    ///
    /// Declarations are resolved again when the tools of the pool change.
    ///
    /// ```
    /// use tool_runtime::pool::DeclaredTools;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Fetch a page.
    /// #[tool(name = "WebFetch", read_only)]
    /// async fn web_fetch(
    ///     /// The address.
    ///     #[arg(match_as = "url")]
    ///     url: String,
    /// ) -> String {
    ///     format!("the page {url}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<WebFetchAction>().build()?;
    /// let _skill = pool.restrict_declared(&DeclaredTools::allow("WebFetch(domain:docs.rs)"));
    /// let call = |url| pool.call(ToolCall::new("WebFetch", format!(r#"{{"url": "{url}"}}"#)));
    /// assert!(!call("https://docs.rs/serde").await.is_error());
    /// assert_eq!(
    ///     call("https://example.com").await.observation().to_text(),
    ///     "the call to `WebFetch` is not allowed: `url` does not match `WebFetch(domain:docs.rs)`"
    /// );
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn restrict_declared(&self, tools: &DeclaredTools) -> Restriction {
        let resolver = Resolver::new(tools.clone(), self.governance());
        Restriction::new(&self.0, Narrowing::Declared(Arc::new(resolver)), false)
    }

    /// The effect of each declaration on the tools that this handle sees now, with the reason if
    /// it has none.
    ///
    /// ```
    /// use tool_runtime::pool::DeclaredTools;
    /// use tool_runtime::prelude::*;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(ping).build()?;
    /// let report = pool.declaration_report(&DeclaredTools::allow("ping, Pong"));
    /// assert_eq!(report.entries[0].tools, ["ping"]);
    /// assert_eq!(
    ///     report.entries[1].to_string(),
    ///     "`Pong` allows nothing: the pool has no tool `Pong`; did you mean `ping`?"
    /// );
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn declaration_report(&self, tools: &DeclaredTools) -> DeclarationReport {
        Resolver::new(tools.clone(), self.governance()).report(&self.snapshot())
    }
}
