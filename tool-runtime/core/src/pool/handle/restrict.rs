//! Restrictions of a handle, and handles with restrictions of their own.

use super::ToolPool;
use crate::pool::declared::{DeclarationReport, DeclaredTools, Resolver};
use crate::pool::scope::{Narrowing, Restriction};
use crate::tool::context::ToolContext;
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::principal::Principal;
use std::sync::Arc;

impl ToolPool {
    /// Narrows what this handle and its clones see and call, until the guard is dropped. What
    /// an outer restriction hides stays hidden; no pattern at all hides everything.
    ///
    /// The restriction also applies to nested calls. Guards may be dropped in any order and on any
    /// thread; write `let _skill = ..`, since `let _ = ..` drops the guard immediately. Running
    /// calls continue. Parts of a program that run concurrently need separate handles for their
    /// restrictions, see [`Self::scope`].
    ///
    /// # Errors
    /// An invalid pattern.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(tool("fs.read")).add(tool("fs.write")).build()?;
    /// let skill = pool.restrict(["fs.read"])?;
    /// assert_eq!(pool.tools().len(), 1);
    /// let error = pool.call(ToolCall::new("fs.write", "")).await;
    /// assert_eq!(error.error().unwrap().class(), ErrorClass::Denied);
    /// drop(skill);
    /// assert_eq!(pool.tools().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn restrict<P>(&self, to: impl IntoIterator<Item = P>) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        self.push(to, false)
    }

    /// Replaces the restrictions of this handle and its clones until the guard is dropped. The
    /// pool's filter still applies, and so do the restrictions of the handle that this one was created
    /// from by [`Self::scope`].
    ///
    /// # Errors
    /// An invalid pattern.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(tool("fs.read")).add(tool("web.get")).build()?;
    /// let _outer = pool.restrict(["fs.*"])?;
    /// let _inner = pool.replace_restrictions(["web.*"])?;
    /// assert_eq!(pool.tools()[0].name(), "web.get");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_restrictions<P>(
        &self,
        to: impl IntoIterator<Item = P>,
    ) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        self.push(to, true)
    }

    fn push<P>(
        &self,
        to: impl IntoIterator<Item = P>,
        replaces: bool,
    ) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        let patterns = to.into_iter().map(TryInto::try_into).collect::<Result<Vec<_>, _>>()?;
        Ok(Restriction::new(&self.0, Narrowing::Patterns(patterns), replaces))
    }

    /// A handle on the same pool with restrictions of its own: they never show in this one,
    /// while this one's restrictions bound it.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(ping).build()?;
    /// let agent = pool.scope();
    /// let _none = agent.restrict([] as [&str; 0])?;
    /// assert_eq!((pool.tools().len(), agent.tools().len()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scope(&self) -> Self {
        self.scope_in(&self.0.context)
    }

    /// A handle on the same pool that calls and lists for this principal, bounded by this one's
    /// restrictions.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::Principal;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(ping).build()?.for_principal(Principal::new("ada"));
    /// assert_eq!(pool.context().principal().id(), "ada");
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn for_principal(&self, principal: impl Into<Arc<Principal>>) -> Self {
        self.scope_in(&self.0.context.clone().with_principal(principal))
    }

    /// A scope for a call: it sees what the principal of the call sees.
    pub(crate) fn scope_of(&self, context: &ToolContext) -> Self {
        if self.governance().governors.is_empty() {
            return self.scope();
        }
        self.for_principal(context.principal().clone())
    }

    /// A scope whose calls have this context if they have none of their own.
    pub(crate) fn scope_in(&self, context: &ToolContext) -> Self {
        Self::scoped(Arc::clone(&self.0.core), Some(Arc::clone(&self.0)), context)
    }
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
