//! Methods that choose and change the tools of a pool.

use super::ToolPoolBuilder;
use crate::pool::filter::Filter;
use crate::pool::offer::PoolTransform;
use crate::pool::problem::PoolProblem;
use crate::pool::selector::{Selector, SelectorError};
use crate::tool::tool::Tool;
use crate::tool::tool::transform::ToolTransform;
use crate::vocabulary::matching::pattern::{PatternError, ToolPattern};

impl<S> ToolPoolBuilder<S> {
    /// Keeps only tools that one of these selectors picks. More calls add selectors. An empty list is an
    /// empty pool. Default: all tools. See [`Selector`] for the syntax.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder()
    ///     .add(tool("fs.read"))
    ///     .add(tool("fs.write"))
    ///     .add(tool("web.get"))
    ///     .allow(["fs.*"])
    ///     .deny(["*.write"])
    ///     .build()?;
    /// assert_eq!(pool.tools()[0].name(), "fs.read");
    /// assert_eq!(pool.tools().len(), 1);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn allow<P>(mut self, selectors: impl IntoIterator<Item = P>) -> Self
    where
        P: TryInto<Selector, Error: Into<SelectorError>>,
    {
        let selectors = self.parsed::<_, _, SelectorError>(selectors);
        self.draft.rules.filter.allow.get_or_insert_default().extend(selectors);
        self
    }

    /// Leaves out tools that one of these selectors picks, even if they are allowed.
    pub fn deny<P>(mut self, selectors: impl IntoIterator<Item = P>) -> Self
    where
        P: TryInto<Selector, Error: Into<SelectorError>>,
    {
        let selectors = self.parsed::<_, _, SelectorError>(selectors);
        self.draft.rules.filter.deny.extend(selectors);
        self
    }

    /// Declares that tools are added while the pool runs, by MCP servers for instance: the pool may
    /// be empty when it is built, and rules may match no tool yet.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    ///
    /// let pool = ToolPool::builder().allow_empty().build()?;
    /// assert!(pool.snapshot().tools().is_empty());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn allow_empty(mut self) -> Self {
        self.draft.allow_empty = true;
        self
    }

    /// Adds a filter, from a configuration: it leaves out more, and adds nothing
    /// that [`Self::allow`], [`Self::deny`] or another filter leaves out.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.draft.rules.more_filters.push(filter);
        self
    }

    /// Changes the public side of the tools that a selector picks, those of MCP servers too: name, descriptions,
    /// arguments. Selectors see tools as their sources give them; of several transforms of one tool, each
    /// starts from the result of the one before.
    ///
    /// Filters, restrictions, hooks and calls use the new name.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::transform::ToolTransform;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder()
    ///     .add(ping)
    ///     .transform("ping", ToolTransform::new().name("net.ping").tag("network"))
    ///     .allow(["tag:network"])
    ///     .build()?;
    /// assert_eq!(pool.report().to_string(), "net.ping  custom  visible, made from `ping`\n");
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    ///
    /// A transform that does not fit its tool is reported by [`Self::build`], and so is one that picks
    /// no tool, unless tools [come later](Self::allow_empty). A tool of an MCP server or a runner that a
    /// transform does not fit is quarantined.
    pub fn transform<P>(mut self, selector: P, transform: ToolTransform) -> Self
    where
        P: TryInto<Selector, Error: Into<SelectorError>>,
    {
        for selector in self.parsed::<_, _, SelectorError>([selector]) {
            let transform = transform.clone();
            let apply = Box::new(move |tool: &Tool| tool.transformed(&transform));
            self.draft.rules.transforms.push(PoolTransform { selector, apply });
        }
        self
    }

    /// Lets tools of MCP servers replace other tools with these ids. Default: that
    /// is an error.
    pub fn mcp_replaces<P>(mut self, patterns: impl IntoIterator<Item = P>) -> Self
    where
        P: TryInto<ToolPattern, Error: Into<PatternError>>,
    {
        let patterns = self.parsed::<_, _, PatternError>(patterns);
        self.draft.rules.mcp_replaces.extend(patterns);
        self
    }

    pub(super) fn parsed<T, P, E>(&mut self, values: impl IntoIterator<Item = P>) -> Vec<T>
    where
        P: TryInto<T>,
        P::Error: Into<E>,
        SelectorError: From<E>,
    {
        let mut parsed = Vec::new();
        for value in values {
            match value.try_into() {
                Ok(value) => parsed.push(value),
                Err(error) => {
                    let error: E = error.into();
                    self.draft.problems.push(PoolProblem::InvalidPattern(error.into()));
                }
            }
        }
        parsed
    }
}
