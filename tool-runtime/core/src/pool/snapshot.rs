//! The visible tools, the prompts and the resources of one moment.

use super::catalog::Catalog;
use super::governance::Governance;
use super::selector::Selector;
use crate::govern::MetaParameters;
use crate::govern::hook::{Hooks, PooledTool};
use crate::tool::export::{ApiFormat, Export};
use crate::tool::offering::prompt::Prompt;
use crate::tool::offering::resource::Resource;
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::source::Source;
use crate::vocabulary::error::CallError;
use crate::vocabulary::mask::Mask;
use crate::vocabulary::matching::CallRule;
use crate::vocabulary::sync::lock;
use hashbrown::HashTable;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, OnceLock};

/// The parts of a pool's governance that its snapshots need.
#[derive(Clone, Default)]
struct Rules {
    hooks: Arc<Hooks>,
    /// The parameters that the pool adds.
    added: Option<MetaParameters>,
    /// Masks secrets in definitions.
    mask: Option<Arc<dyn Mask>>,
}

/// The visible tools of one moment, sorted by name, and the prompts and resources. It does not
/// change with the pool.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
///     .build()?;
/// let snapshot = pool.snapshot();
/// assert_eq!(snapshot.tools()[0].name(), "ping");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub struct Snapshot {
    tools: Vec<Tool>,
    /// The tools as calls find them, in the same order.
    found: Vec<PooledTool>,
    catalog: Arc<Catalog>,
    /// Positions in `tools` by the hash of their names.
    by_name: HashTable<usize>,
    hasher: foldhash::fast::RandomState,
    rules: Rules,
    /// The definitions as models and clients see them, in the order of the tools. `None` for a tool's own.
    definitions: OnceLock<Vec<Option<ToolDefinition>>>,
    /// Whether a tool has scopes.
    has_scopes: bool,
    listing: OnceLock<Arc<str>>,
    /// By the key of their format.
    exports: Mutex<Vec<(String, Arc<Export>)>>,
    is_closed: bool,
}

impl Rules {
    /// The definition of a tool as models and clients see it. `None` for the tool's own.
    fn client_definition(&self, tool: &Tool) -> Option<ToolDefinition> {
        let extended = self.added.as_ref().and_then(|added| added.extended(tool));
        let seen = extended.as_ref().unwrap_or(tool.definition());
        let masked = self.mask.as_deref().and_then(|mask| seen.masked(mask));
        masked.or(extended)
    }
}

/// The visibility of a tool under a restriction.
pub(super) enum Visibility {
    Hidden,
    Visible,
    /// Visible, and calls are checked.
    Checked(Arc<dyn CallRule>),
}

impl Snapshot {
    /// Creates a snapshot from tools sorted by name and the rules of the pool.
    pub(super) fn new(
        found: Vec<PooledTool>,
        catalog: Arc<Catalog>,
        governance: &Governance,
    ) -> Self {
        let rules = Rules {
            hooks: Arc::clone(&governance.hooks),
            added: governance.meta_parameters,
            mask: governance.mask.clone(),
        };
        Self::with_rules(found, catalog, rules)
    }

    fn with_rules(found: Vec<PooledTool>, catalog: Arc<Catalog>, rules: Rules) -> Self {
        let tools: Vec<Tool> = found.iter().map(|found| found.tool().clone()).collect();
        let (mut by_name, hasher) = (HashTable::with_capacity(tools.len()), Default::default());
        let hash = |tool: &Tool| foldhash::fast::RandomState::hash_one(&hasher, tool.name());
        for (index, tool) in tools.iter().enumerate() {
            by_name.insert_unique(hash(tool), index, |index: &usize| hash(&tools[*index]));
        }
        let (listing, exports) = (OnceLock::new(), Mutex::default());
        Self {
            has_scopes: tools.iter().any(Tool::has_scopes),
            tools,
            found,
            catalog,
            by_name,
            hasher,
            rules,
            definitions: OnceLock::new(),
            listing,
            exports,
            is_closed: false,
        }
    }

    /// Some of the tools, in their order, in the same pool. Their rules are kept, and new ones added.
    pub(super) fn narrowed(&self, visibility: impl Fn(&Tool) -> Visibility) -> Self {
        let narrowed = |found: &PooledTool| match visibility(found.tool()) {
            Visibility::Hidden => None,
            Visibility::Visible => Some(found.clone()),
            Visibility::Checked(added) => {
                let rule = both(found.rule().cloned(), Some(added));
                Some(rule.into_iter().fold(found.clone(), PooledTool::with_rule))
            }
        };
        let visible = self.found.iter().filter_map(narrowed).collect();
        Self::with_rules(visible, Arc::clone(&self.catalog), self.rules.clone())
    }

    /// The tools as calls find them.
    pub(super) fn pooled_tools(&self) -> &[PooledTool] {
        &self.found
    }

    /// The snapshot of a pool that has been closed.
    pub(super) fn closed() -> Self {
        Self { is_closed: true, ..Self::with_rules(Vec::new(), Arc::default(), Rules::default()) }
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tools that a selector picks, sorted by name.
    pub fn picked<'a>(&'a self, selector: &Selector) -> impl Iterator<Item = &'a Tool> {
        let found = self.found.iter().filter(|found| selector.picks(found.tool(), found.source()));
        found.map(PooledTool::tool)
    }

    /// All prompts, sorted by name. Filters and restrictions do not apply to them.
    pub fn prompts(&self) -> &[Prompt] {
        self.catalog.prompts()
    }

    /// All resources, the most specific first: those of one URI, then templates. Filters and
    /// restrictions do not apply to them.
    pub fn resources(&self) -> &[Resource] {
        self.catalog.resources()
    }

    /// The source of a prompt.
    pub(crate) fn source_of_prompt(&self, name: &str) -> Option<&Source> {
        self.catalog.source_of_prompt(name)
    }

    /// The source of a resource, by its URI or template.
    pub(crate) fn source_of_resource(&self, uri: &str) -> Option<&Source> {
        self.catalog.source_of_resource(uri)
    }

    /// A tool by its exact name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.position(name).map(|index| &self.tools[index])
    }

    /// A tool by its exact name, otherwise by its [wire name](ToolDefinition::wire_name), with its hooks.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<PooledTool> {
        let index = self.position(name).or_else(|| self.position_of_wire_name(name))?;
        let found = &self.found[index];
        if !self.rules.hooks.is_empty() {
            found.init_hooks(&self.rules.hooks);
        }
        Some(found.clone())
    }

    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.by_name.find(hash, |index| self.tools[*index].name() == name).copied()
    }

    /// The only tool that has this name in requests to model APIs.
    #[cold]
    fn position_of_wire_name(&self, name: &str) -> Option<usize> {
        let is_named = |(_, tool): &(usize, &Tool)| tool.definition().wire_name() == name;
        let mut named = self.tools.iter().enumerate().filter(is_named);
        let (index, _) = named.next()?;
        named.next().is_none().then_some(index)
    }

    /// All definitions, sorted by name, as models and clients see them: with the
    /// [parameters that the pool adds](crate::pool::ToolPoolBuilder::meta_parameters), and without the
    /// [secrets](crate::pool::ToolPoolBuilder::secrets) of the pool.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        (0..self.tools.len()).map(|index| self.definition_at(index))
    }

    /// The definition of a tool by its exact name, as in [`Self::definitions`].
    pub fn definition(&self, name: &str) -> Option<&ToolDefinition> {
        self.position(name).map(|index| self.definition_at(index))
    }

    fn definition_at(&self, index: usize) -> &ToolDefinition {
        let own = self.tools[index].definition();
        if self.rules.added.is_none() && self.rules.mask.is_none() {
            return own;
        }
        let make = || self.tools.iter().map(|tool| self.rules.client_definition(tool)).collect();
        self.definitions.get_or_init(make)[index].as_ref().unwrap_or(own)
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn definitions_json(&self) -> &Arc<str> {
        self.listing.get_or_init(|| {
            let definitions: Vec<&ToolDefinition> = self.definitions().collect();
            serde_json::to_string(&definitions).expect("definitions have string keys").into()
        })
    }

    /// The tools in the format of a model API, made once for each format.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::export::Api;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Add two integers.
    /// #[tool(read_only)]
    /// async fn add(
    ///     /// First addend.
    ///     a: i64,
    ///     /// Second addend.
    ///     b: i64,
    /// ) -> i64 {
    ///     a + b
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<AddAction>().build()?;
    /// let export = pool.snapshot().export(Api::Anthropic);
    /// let mut messages = vec![json!({ "role": "user", "content": "What is 40 + 2?" })];
    /// let request = json!({ "model": "..", "tools": export.definitions(), "messages": messages });
    /// # let post = |_| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t1",
    /// #     "name": "add", "input": { "a": 40, "b": 2 } }] });
    /// let response = post(request);
    /// let results = pool.call_all(export.calls(&response)?).await;
    /// messages.extend(export.next_messages(&response, &results)?);
    /// assert_eq!(messages[2]["content"][0]["content"][0]["text"], "42");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn export(&self, format: impl ApiFormat) -> Arc<Export> {
        let key = format.key();
        let mut exports = lock(&self.exports);
        if let Some((_, export)) = exports.iter().find(|(known, _)| *known == key) {
            return Arc::clone(export);
        }
        let definitions: Vec<&ToolDefinition> = self.definitions().collect();
        let export = Arc::new(Export::new(format, &definitions));
        exports.push((key, Arc::clone(&export)));
        export
    }

    /// Whether the pool has or had prompts: a server announces them then.
    #[doc(hidden)]
    pub fn offers_prompts(&self) -> bool {
        self.catalog.offers_prompts()
    }

    /// Whether the pool has or had resources.
    #[doc(hidden)]
    pub fn offers_resources(&self) -> bool {
        self.catalog.offers_resources()
    }

    /// Masks the secrets of the pool.
    #[doc(hidden)]
    pub fn mask(&self) -> Option<&Arc<dyn Mask>> {
        self.rules.mask.as_ref()
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub(super) fn has_scopes(&self) -> bool {
        self.has_scopes
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Two rules that both apply.
struct Both([Arc<dyn CallRule>; 2]);

impl CallRule for Both {
    fn check(&self, arguments: &str) -> Result<(), CallError> {
        self.0.iter().try_for_each(|rule| rule.check(arguments))
    }
}

pub(super) fn both(
    outer: Option<Arc<dyn CallRule>>,
    inner: Option<Arc<dyn CallRule>>,
) -> Option<Arc<dyn CallRule>> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => Some(Arc::new(Both([outer, inner]))),
        (outer, inner) => outer.or(inner),
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(Tool::name)).finish()
    }
}
