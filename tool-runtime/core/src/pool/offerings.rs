//! Changes of a pool's prompts and resources while it runs.

use super::catalog::{Entry, Item};
use super::handle::ToolPool;
use super::problem::{PoolError, PoolProblem};
use super::scope::Scope;
use crate::tool::context::ToolContext;
use crate::tool::offering::prompt::Prompt;
use crate::tool::offering::resource::Resource;
use crate::tool::tool::source::Source;

impl ToolPool {
    /// Adds prompts of a source; those of the same source and name are replaced.
    ///
    /// # Errors
    /// All problems, as when a pool is built. Nothing is changed then.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::pool::Source;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let hello = Prompt::builder("hello", "Say hello.").handler(|| async { "Hello!" });
    /// pool.add_prompts(&Source::owner("skills"), [hello])?;
    /// pool.remove_prompts(&Source::owner("skills"), ["hello"])?;
    /// assert!(pool.prompts().is_empty());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn add_prompts(
        &self,
        source: &Source,
        prompts: impl IntoIterator<Item = Prompt>,
    ) -> Result<(), PoolError> {
        self.add_items(source, prompts.into_iter().map(Item::Prompt).collect())
    }

    /// Removes prompts of a source by their names. Running requests finish.
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
    /// All problems, as when a pool is built. Nothing is changed then.
    pub fn add_resources(
        &self,
        source: &Source,
        resources: impl IntoIterator<Item = Resource>,
    ) -> Result<(), PoolError> {
        self.add_items(source, resources.into_iter().map(Item::Resource).collect())
    }

    /// Removes resources of a source by their URIs, or their templates of URIs. Running requests
    /// finish.
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

    /// Notifies the clients that subscribed to exactly this URI that the resource changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        let uri = uri.into();
        self.0.core.notify(&|news| {
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
                .map(|name| PoolProblem::UnknownOffering {
                    source: source.clone(),
                    name: name.clone(),
                })
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
        self.0.core.notify(&|news| {
            news.prompts |= prompts;
            news.resources |= resources;
        });
    }
}

impl ToolContext {
    /// Notifies subscribers that the resource changed, see [`ToolPool::resource_updated`].
    /// Without a pool, as in a test that calls a function directly, this does nothing.
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

/// The key of an item: prompts and resources may have equal names.
fn names(item: &Item) -> (bool, &str) {
    (item.is_prompt(), item.name())
}
