//! The tools that a model is not shown until a search finds them.

use std::collections::HashSet;
use tool_runtime_core::pool::{Selector, SelectorError, Snapshot};
use tool_runtime_core::seam::estimate_tokens;
use tool_runtime_core::tool::Tool;

/// Decides which tools of a pool a model is shown from the start. The others are deferred: a
/// search still finds and activates them.
///
/// Kept tools are always shown. Of the others, those that a selector defers are not; the rest are
/// shown in the order of their names, as far as the limits allow. Kept tools count towards the
/// limits. The result depends only on the pool, so that it is the same for each request.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::search::{ActiveTools, Deferral};
///
/// let tool = |name: &str, tags: &[&str]| {
///     let tool = Tool::builder(name, "Answer at once.").tags(tags.iter().copied());
///     tool.handler(|| async { "pong" })
/// };
/// let pool = ToolPool::builder()
///     .add(tool("a", &[]))
///     .add(tool("b", &["rare"]))
///     .add(tool("c", &[]))
///     .add(tool("tool_search", &[]))
///     .build()?;
/// let deferral = Deferral::new().keep(["tool_search"])?.defer(["tag:rare"])?.max_tools(2);
/// let visible = ActiveTools::deferring(deferral).visible(&pool.snapshot());
/// let names: Vec<&str> = visible.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["a", "tool_search"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deferral {
    kept: Vec<Selector>,
    deferred: Vec<Selector>,
    max_tools: Option<usize>,
    max_tokens: Option<usize>,
}

impl Deferral {
    /// Defers nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Always shows the tools that these selectors pick.
    ///
    /// # Errors
    /// An invalid selector.
    pub fn keep<S>(mut self, selectors: impl IntoIterator<Item = S>) -> Result<Self, SelectorError>
    where
        S: TryInto<Selector, Error: Into<SelectorError>>,
    {
        for selector in selectors {
            self.kept.push(selector.try_into().map_err(Into::into)?);
        }
        Ok(self)
    }

    /// Defers the tools that these selectors pick: ids, globs, `tag:NAME`, `source:mcp:NAME`.
    ///
    /// # Errors
    /// An invalid selector.
    pub fn defer<S>(mut self, selectors: impl IntoIterator<Item = S>) -> Result<Self, SelectorError>
    where
        S: TryInto<Selector, Error: Into<SelectorError>>,
    {
        for selector in selectors {
            self.deferred.push(selector.try_into().map_err(Into::into)?);
        }
        Ok(self)
    }

    /// Limits the number of visible tools. Default: no limit.
    #[must_use]
    pub fn max_tools(mut self, limit: usize) -> Self {
        self.max_tools = Some(limit);
        self
    }

    /// Limits the tokens of the visible tools, as [`estimate_tokens`] counts their definitions. A
    /// tool that does not fit is deferred, and smaller ones after it are shown. Default: no limit.
    #[must_use]
    pub fn max_tokens(mut self, limit: usize) -> Self {
        self.max_tokens = Some(limit);
        self
    }

    /// The tools that are visible, sorted by name.
    pub(crate) fn visible<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Tool> {
        let (kept, deferred) = (picked(snapshot, &self.kept), picked(snapshot, &self.deferred));
        let mut room = Remaining { tools: self.max_tools, tokens: self.max_tokens };
        for name in &kept {
            room.take(snapshot, name);
        }
        let mut is_visible = |name: &str| {
            kept.contains(name) || (!deferred.contains(name) && room.takes(snapshot, name))
        };
        snapshot.tools().iter().filter(|tool| is_visible(tool.name())).collect()
    }
}

fn picked<'a>(snapshot: &'a Snapshot, selectors: &[Selector]) -> HashSet<&'a str> {
    let tools = selectors.iter().flat_map(|selector| snapshot.picked(selector));
    tools.map(Tool::name).collect()
}

/// The remaining part of the limits.
struct Remaining {
    tools: Option<usize>,
    tokens: Option<usize>,
}

impl Remaining {
    /// Adds a tool if it fits.
    fn takes(&mut self, snapshot: &Snapshot, name: &str) -> bool {
        let fits = self.tools != Some(0)
            && self.tokens.is_none_or(|tokens| tokens >= size(snapshot, name));
        if fits {
            self.take(snapshot, name);
        }
        fits
    }

    fn take(&mut self, snapshot: &Snapshot, name: &str) {
        self.tools = self.tools.map(|tools| tools.saturating_sub(1));
        self.tokens = self.tokens.map(|tokens| tokens.saturating_sub(size(snapshot, name)));
    }
}

/// The estimated tokens of a tool's definition.
fn size(snapshot: &Snapshot, name: &str) -> usize {
    let definition = snapshot.definition(name);
    let text = definition.and_then(|definition| serde_json::to_string(definition).ok());
    estimate_tokens(&text.unwrap_or_default())
}
