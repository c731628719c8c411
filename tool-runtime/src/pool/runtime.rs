//! Changes of a pool while it runs.

use super::catalog::{Entry, Item};
use super::change::PoolChanges;
use super::problem::{PoolError, PoolProblem};
use super::{PoolChange, Scope, Source, ToolPool};
use crate::context::ToolContext;
use crate::pattern::ToolPattern;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tool::Tool;
use std::collections::BTreeMap;
use tokio::sync::mpsc::unbounded_channel;

impl ToolPool {
    /// Adds tools of a source; those of the same source and name are replaced. Filter and
    /// restrictions hold for them as for all others.
    ///
    /// # Errors
    /// Everything that is wrong, as when a pool is built: two tools of one name, a tool of
    /// another source that does not give way, missing state. Nothing is changed then.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::Source;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let ping = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let skills = Source::owner("skills");
    /// assert_eq!(pool.add_tools(&skills, [ping()])?.added, ["ping"]);
    /// assert!(pool.add_tools(&skills, [ping()])?.is_empty(), "replaced, and nothing to see of it");
    /// assert!(pool.add_tools(&Source::owner("others"), [ping()]).is_err());
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn add_tools(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<PoolChange, PoolError> {
        let tools = collected(tools);
        self.0.core.change(source, |own| insert(own, source, &tools))
    }

    /// Sets all tools of a source: those that it had and that are not given are removed.
    ///
    /// # Errors
    /// As [`Self::add_tools`].
    pub fn set_tools(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<PoolChange, PoolError> {
        let tools = collected(tools);
        self.0.core.change(source, |own| {
            own.clear();
            insert(own, source, &tools)
        })
    }

    /// Removes the tools of a source that a pattern matches; `*` is all of them. A call that
    /// runs finishes. A toolset whose last tool goes is closed once its calls have ended.
    ///
    /// # Errors
    /// A pattern that matches none of the source's tools.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::Source;
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

    /// Adds prompts of a source; those of the same source and name are replaced.
    ///
    /// # Errors
    /// Everything that is wrong, as when a pool is built. Nothing is changed then.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::Source;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let hello = Prompt::builder("hello", "Say hello.").handler(|| async { "Hello!" });
    /// pool.add_prompts(&Source::owner("skills"), [hello])?;
    /// pool.remove_prompts(&Source::owner("skills"), ["hello"])?;
    /// assert!(pool.prompts().is_empty());
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn add_prompts(
        &self,
        source: &Source,
        prompts: impl IntoIterator<Item = Prompt>,
    ) -> Result<(), PoolError> {
        self.add_items(source, prompts.into_iter().map(Item::Prompt).collect())
    }

    /// Removes prompts of a source by their names. A request that runs finishes.
    ///
    /// # Errors
    /// A name that none of the source's prompts has.
    pub fn remove_prompts<N: Into<String>>(
        &self,
        source: &Source,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), PoolError> {
        self.remove_items(source, true, names.into_iter().map(Into::into).collect())
    }

    /// Adds resources of a source; those of the same source and URI are replaced.
    ///
    /// # Errors
    /// Everything that is wrong, as when a pool is built. Nothing is changed then.
    pub fn add_resources(
        &self,
        source: &Source,
        resources: impl IntoIterator<Item = Resource>,
    ) -> Result<(), PoolError> {
        self.add_items(source, resources.into_iter().map(Item::Resource).collect())
    }

    /// Removes resources of a source by their URIs, or their templates of URIs. A request that
    /// runs finishes.
    ///
    /// # Errors
    /// A URI that none of the source's resources has.
    pub fn remove_resources<U: Into<String>>(
        &self,
        source: &Source,
        uris: impl IntoIterator<Item = U>,
    ) -> Result<(), PoolError> {
        self.remove_items(source, false, uris.into_iter().map(Into::into).collect())
    }

    /// Says that the contents of a resource are others now: clients that subscribed to this very
    /// URI are told.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        let uri = uri.into();
        self.0.core.tell(&|news| {
            news.updated.insert(uri.clone());
        });
    }

    fn add_items(&self, source: &Source, items: Vec<Item>) -> Result<(), PoolError> {
        let is_given = |entry: &Entry| {
            let is_named = |item: &Item| names(item) == names(&entry.item);
            entry.source == *source && items.iter().any(is_named)
        };
        self.0.core.change_catalog(|entries| {
            entries.retain(|entry| !is_given(entry));
            let entry = |item: &Item| Entry { item: item.clone(), source: source.clone() };
            entries.extend(items.iter().map(entry));
            Ok(())
        })?;
        self.tell_of(items.iter().any(Item::is_prompt), !items.iter().all(Item::is_prompt));
        Ok(())
    }

    fn remove_items(
        &self,
        source: &Source,
        is_prompt: bool,
        wanted: Vec<String>,
    ) -> Result<(), PoolError> {
        let is = |entry: &Entry, name: &String| {
            entry.source == *source && names(&entry.item) == (is_prompt, name.as_str())
        };
        self.0.core.change_catalog(|entries| {
            let is_unknown = |name: &&String| !entries.iter().any(|entry| is(entry, name));
            let unknown: Vec<PoolProblem> = wanted
                .iter()
                .filter(is_unknown)
                .map(|name| PoolProblem::NotOffered { source: source.clone(), name: name.clone() })
                .collect();
            if !unknown.is_empty() {
                return Err(unknown);
            }
            entries.retain(|entry| !wanted.iter().any(|name| is(entry, name)));
            Ok(())
        })?;
        self.tell_of(is_prompt, !is_prompt);
        Ok(())
    }

    fn tell_of(&self, prompts: bool, resources: bool) {
        self.0.core.tell(&|news| {
            news.prompts |= prompts;
            news.resources |= resources;
        });
    }

    /// Changes of the visible tools from now on, as the filter leaves them.
    pub fn changes(&self) -> PoolChanges {
        let (sender, receiver) = unbounded_channel();
        self.0.core.listen(sender);
        PoolChanges(receiver)
    }
}

impl ToolContext {
    /// Says that the contents of a resource are others now, see [`ToolPool::resource_updated`].
    /// Without a pool, as in a test that calls a function itself, nobody is told.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Keep a note.
    /// #[tool]
    /// async fn remember(
    ///     /// Its number.
    ///     id: u32,
    ///     context: &ToolContext,
    /// ) {
    ///     context.resource_updated(format!("notes://{id}"));
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// remember(1, &ToolContext::default()).await;
    /// # });
    /// ```
    pub fn resource_updated(&self, uri: impl Into<String>) {
        if let Some(host) = self.host::<Scope>() {
            ToolPool::of_scope(host).resource_updated(uri);
        }
    }
}

/// What an item goes by: prompts and resources may have equal names.
fn names(item: &Item) -> (bool, &str) {
    (item.is_prompt(), item.name())
}

/// Outside of the pool's lock: what makes the tools may ask the pool, and so may what says
/// whether they can work, and what closes those that are refused.
fn collected(tools: impl IntoIterator<Item = Tool>) -> Vec<Tool> {
    let tools: Vec<Tool> = tools.into_iter().collect();
    for tool in &tools {
        tool.why_unusable();
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
