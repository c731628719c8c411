//! The tool `tool_search`.

use crate::active::ActiveTools;
use crate::index::ToolIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, Weak};
use tool_runtime_core::pool::Snapshot;
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::{Json, Tool, ToolContext, ToolDefinition};
use tool_runtime_core::vocabulary::error::ToolError;

/// The name of the tool.
const NAME: &str = "tool_search";
/// The number of tools that a search returns by default.
const DEFAULT_LIMIT: u64 = 5;
/// Limit on the stored indexes: handles with different restrictions have separate snapshots.
const MAX_INDEXES: usize = 8;

/// Makes the tool `tool_search`, by which a model finds tools of a pool.
///
/// It searches the tools that its caller sees, except itself, and returns the definitions of the
/// best tools, as `{"tools": [..]}`. The arguments are `query`, see [`ToolIndex::search`], and
/// `limit` (1 to 50, default 5), also called `max_results`.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::search::{ActiveTools, ToolSearch};
///
/// let tool = |name: &str, description: &str| {
///     Tool::builder(name, description).handler(|| async { "done" })
/// };
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let active = ActiveTools::new(["tool_search"])?;
/// let pool = ToolPool::builder()
///     .add(tool("mail.send_message", "Send an email to recipients."))
///     .add(tool("files.delete_file", "Delete a file."))
///     .add(ToolSearch::new().activating(&active).into_tool())
///     .build()?;
/// assert_eq!(active.visible(&pool.snapshot()).len(), 1);
///
/// let call = ToolCall::new("tool_search", r#"{"query": "erase my files", "limit": 1}"#);
/// let result = pool.call(call).await;
/// let found = result.observation().structured().unwrap();
/// assert_eq!(found["tools"][0]["name"], "files.delete_file");
/// assert_eq!(active.visible(&pool.snapshot())[1].name(), "files.delete_file");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct ToolSearch {
    /// `None` for [`NAME`].
    name: Option<String>,
    tags: Vec<String>,
    active: Option<ActiveTools>,
    /// Each snapshot has its own index.
    indexes: Mutex<Vec<(Weak<Snapshot>, Arc<ToolIndex>)>>,
}

impl ToolSearch {
    /// A search that only reads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Activates the tools that a search finds.
    #[must_use]
    pub fn activating(mut self, active: &ActiveTools) -> Self {
        self.active = Some(active.clone());
        self
    }

    /// Sets the name of the tool. Default: `tool_search`.
    ///
    /// ```
    /// # use tool_runtime::search::ToolSearch;
    /// assert_eq!(ToolSearch::new().name("ToolSearch").into_tool().name(), "ToolSearch");
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the tags of the tool. Default: none.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// The tool, for [`ToolPoolBuilder::add`](tool_runtime_core::pool::ToolPoolBuilder::add).
    pub fn into_tool(self) -> Tool {
        let search = Arc::new(self);
        let purpose = "Find tools by what they do. Returns the definitions of the best ones.";
        Tool::builder(search.own_name(), purpose)
            .tags(search.tags.iter().cloned())
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false)
            .handler(move |query: Query, context: ToolContext| {
                let search = Arc::clone(&search);
                async move { search.answer(&query, &context) }
            })
    }

    fn own_name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAME)
    }

    fn answer(&self, query: &Query, context: &ToolContext) -> Result<Json<Found>, ToolError> {
        let snapshot = context.listed_tools().ok_or("there is no pool to search")?;
        let hits = self.index(&snapshot).search(&query.query, query.limit as usize);
        let found: Vec<&Tool> = hits.iter().filter_map(|hit| snapshot.get(&hit.name)).collect();
        if let Some(active) = &self.active {
            active.activate(found.iter().map(|tool| tool.name()));
        }
        let definitions = found.iter().filter_map(|tool| snapshot.definition(tool.name()));
        let tools = definitions.map(to_object).collect::<Result<_, _>>()?;
        Ok(Json(Found { tools }))
    }

    fn index(&self, snapshot: &Arc<Snapshot>) -> Arc<ToolIndex> {
        let mut indexes = lock(&self.indexes);
        let is_current =
            |(known, _): &&(Weak<Snapshot>, _)| known.as_ptr() == Arc::as_ptr(snapshot);
        if let Some((_, index)) = indexes.iter().find(is_current) {
            return Arc::clone(index);
        }
        let others = snapshot.definitions().filter(|definition| definition.name != self.own_name());
        let index = Arc::new(ToolIndex::from_definitions(others));
        indexes.retain(|(known, _)| known.strong_count() > 0);
        indexes.truncate(MAX_INDEXES - 1);
        indexes.insert(0, (Arc::downgrade(snapshot), Arc::clone(&index)));
        index
    }
}

/// The arguments of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// The task in plain words, or `select:a,b` for tools by their exact names.
    #[schemars(length(max = 2000))]
    query: String,
    /// The most tools to return.
    #[serde(default = "default_limit", alias = "max_results")]
    #[schemars(range(min = 1, max = 50))]
    limit: u64,
}

fn default_limit() -> u64 {
    DEFAULT_LIMIT
}

/// The result of a search.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// Definitions of the tools, best first, as in `tools/list`.
    tools: Vec<Map<String, Value>>,
}

fn to_object(definition: &ToolDefinition) -> Result<Map<String, Value>, ToolError> {
    let value = serde_json::to_value(definition).map_err(ToolError::internal)?;
    value.as_object().cloned().ok_or_else(|| ToolError::internal("a definition is not an object"))
}
