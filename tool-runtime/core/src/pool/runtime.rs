//! Changes of a pool's tools while it runs.

use super::change::{PoolChange, PoolChanges};
use super::handle::ToolPool;
use super::problem::{PoolError, PoolProblem};
use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use crate::vocabulary::matching::pattern::ToolPattern;
use std::collections::BTreeMap;
use tokio::sync::mpsc::unbounded_channel;

impl ToolPool {
    /// Adds tools of a source; those of the same source and name are replaced. The filter and
    /// restrictions apply to them, too.
    ///
    /// # Errors
    /// All problems, as when a pool is built: two tools of one name, a tool of another source that
    /// does not yield, missing state. Nothing is changed then.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::pool::Source;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let ping = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let skills = Source::owner("skills");
    /// assert_eq!(pool.add_tools(&skills, [ping()])?.added, ["ping"]);
    /// assert!(pool.add_tools(&skills, [ping()])?.is_empty(), "replaced, and nothing to see of it");
    /// assert!(pool.add_tools(&Source::owner("others"), [ping()]).is_err());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn add_tools(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<PoolChange, PoolError> {
        let tools = collect(tools);
        self.0.core.change(source, |own| insert(own, source, &tools))
    }

    /// Sets all tools of a source: its other tools are removed.
    ///
    /// # Errors
    /// As [`Self::add_tools`].
    pub fn set_tools(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<PoolChange, PoolError> {
        let tools = collect(tools);
        self.0.core.change(source, |own| {
            own.clear();
            insert(own, source, &tools)
        })
    }

    /// Removes the tools of a source that a pattern matches; `*` is all of them. Running calls
    /// finish. A toolset is closed when its last tool is removed and its calls have ended.
    ///
    /// # Errors
    /// A pattern that matches none of the source's tools.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::pool::Source;
    ///
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// assert!(pool.remove_tools(&Source::owner("skills"), &"ping".parse()?).is_err());
    /// assert_eq!(pool.remove_tools(&Source::Custom, &"ping".parse()?)?.removed, ["ping"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove_tools(
        &self,
        source: &Source,
        pattern: &ToolPattern,
    ) -> Result<PoolChange, PoolError> {
        self.0.core.change(source, |own| {
            let before = own.len();
            own.retain(|name, _| !pattern.matches(name));
            if own.len() == before {
                let (source, pattern) = (source.clone(), pattern.to_string());
                return Err(vec![PoolProblem::NotOwned { source, pattern }]);
            }
            Ok(())
        })
    }

    /// Changes of the visible tools from now on, as the filter leaves them.
    pub fn changes(&self) -> PoolChanges {
        let (sender, receiver) = unbounded_channel();
        self.0.core.listen(sender);
        PoolChanges(receiver)
    }
}

/// Runs without the pool's lock, because the user's code may call the pool: the iterator that makes
/// the tools, `is_usable`, and `close` of rejected tools.
fn collect(tools: impl IntoIterator<Item = Tool>) -> Vec<Tool> {
    let tools: Vec<Tool> = tools.into_iter().collect();
    for tool in &tools {
        tool.unusable_reason();
    }
    tools
}

fn insert(
    own: &mut BTreeMap<String, Tool>,
    source: &Source,
    tools: &[Tool],
) -> Result<(), Vec<PoolProblem>> {
    let (mut given, mut problems) = (BTreeMap::new(), Vec::new());
    for tool in tools {
        let name = tool.name().to_owned();
        if given.insert(name.clone(), tool.clone()).is_some() {
            let (first, second) = (format!("of {source}"), "given with it".to_owned());
            problems.push(PoolProblem::Duplicate { name, first, second });
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    own.append(&mut given);
    Ok(())
}
