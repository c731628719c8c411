//! The visible tools of one moment, and the prompts and resources beside them.

use super::catalog::Catalog;
use crate::definition::ToolDefinition;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tool::Tool;
use hashbrown::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The visible tools of one moment, sorted by name, and the prompts and resources beside them.
/// What changes in the pool later does not change it.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
///     .build()?;
/// let snapshot = pool.snapshot();
/// assert_eq!(snapshot.tools()[0].name(), "ping");
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
pub struct Snapshot {
    tools: Vec<Tool>,
    catalog: Arc<Catalog>,
    by_name: HashMap<String, Tool, foldhash::fast::RandomState>,
    listing: OnceLock<Arc<str>>,
    is_closed: bool,
}

impl Snapshot {
    /// Of tools that are sorted by name.
    pub(super) fn new(tools: Vec<Tool>, catalog: Arc<Catalog>) -> Self {
        let named = |tool: &Tool| (tool.name().to_owned(), tool.clone());
        Self {
            by_name: tools.iter().map(named).collect(),
            tools,
            catalog,
            listing: OnceLock::new(),
            is_closed: false,
        }
    }

    /// Of a pool that has been closed.
    pub(super) fn closed() -> Self {
        Self { is_closed: true, ..Self::new(Vec::new(), Arc::default()) }
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// All prompts, sorted by name. Filters and restrictions leave them alone.
    pub fn prompts(&self) -> &[Prompt] {
        self.catalog.prompts()
    }

    /// All resources, the most specific first: those of one URI, then templates. Filters and
    /// restrictions leave them alone.
    pub fn resources(&self) -> &[Resource] {
        self.catalog.resources()
    }

    /// A tool by its exact name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name)
    }

    /// All definitions, sorted by name.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(Tool::definition)
    }

    /// All definitions as one JSON array of MCP tools, made once. The same tools give the same
    /// bytes, in every run.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// assert!(pool.snapshot().definitions_json().starts_with(r#"[{"name":"ping""#));
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn definitions_json(&self) -> &Arc<str> {
        self.listing.get_or_init(|| {
            let definitions: Vec<&ToolDefinition> = self.definitions().collect();
            serde_json::to_string(&definitions).expect("definitions have string keys").into()
        })
    }

    /// Whether prompts are or were there: a server announces them then.
    #[doc(hidden)]
    pub fn offers_prompts(&self) -> bool {
        self.catalog.offers_prompts()
    }

    /// Whether resources are or were there.
    #[doc(hidden)]
    pub fn offers_resources(&self) -> bool {
        self.catalog.offers_resources()
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(Tool::name)).finish()
    }
}
