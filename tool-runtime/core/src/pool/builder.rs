//! Assembles a pool, and refuses one that cannot work.

use super::catalog::{self, Catalog, Entry, Item};
use super::core::Core;
use super::filter::Filter;
use super::governance::Governance;
#[cfg(feature = "tower")]
use super::governance::Layered;
use super::handle::ToolPool;
use super::offer::{Offer, Rules};
use super::problem::{PoolError, PoolProblem};
use super::selector::{Selector, SelectorError};
use super::source::Source;
use crate::action::Action;
use crate::approval::Approver;
use crate::context::ToolContext;
use crate::hook::{Hook, Hooks};
use crate::limits::OutputLimits;
use crate::pattern::{PatternError, ToolPattern};
use crate::prompt::{Prompt, PromptAction};
use crate::resource::{Resource, ResourceAction};
use crate::tool::Tool;
use crate::toolset::{self, Toolset, ToolsetError};
use std::any::{Any, TypeId, type_name};
use std::sync::Arc;
use std::time::Duration;

/// Assembles a [`ToolPool`].
///
/// ```
/// use std::sync::Mutex;
/// use tool_runtime::prelude::*;
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// /// Keep a note.
/// #[tool(destructive = false)]
/// async fn remember(
///     /// What to remember.
///     text: String,
///     notes: &Notes,
/// ) {
///     notes.0.lock().unwrap().push(text);
/// }
///
/// let pool = ToolPool::builder()
///     .tool::<RememberAction>()
///     .state(Notes::default())
///     .build()?;
/// assert_eq!(pool.tools().len(), 1);
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
#[derive(Default)]
pub struct ToolPoolBuilder {
    offers: Vec<Offer>,
    entries: Vec<Entry>,
    rules: Rules,
    hooks: Hooks,
    governance: Governance,
    problems: Vec<PoolProblem>,
    /// Whether tools come while the pool runs.
    allow_empty: bool,
    /// `Arc<T>` and the name of `T`, for each `T` given as state.
    shared_states: Vec<(TypeId, &'static str)>,
    /// The types of toolsets that were added.
    toolsets: Vec<TypeId>,
}

impl ToolPool {
    /// Starts an empty pool.
    pub fn builder() -> ToolPoolBuilder {
        ToolPoolBuilder::default()
    }
}

impl ToolPoolBuilder {
    /// Adds every tool that `#[tool]` left in the binary, every prompt of `#[prompt]` and every
    /// resource of `#[resource]`.
    ///
    /// The tools of a dependency that nothing names are not in the binary: write
    /// `use my_tools as _;` beside this. Toolsets are another matter, see
    /// [`Self::linked_toolsets`].
    #[cfg(feature = "linked")]
    #[must_use]
    pub fn linked(mut self) -> Self {
        let count = |builder: &Self| builder.offers.len() + builder.entries.len();
        let before = count(&self);
        self = self.offer(&Source::Linked, crate::registration::linked());
        for prompt in crate::registration::linked_prompts() {
            self = self.entry(Source::Linked, Item::Prompt(prompt));
        }
        for resource in crate::registration::linked_resources() {
            self = self.entry(Source::Linked, Item::Resource(resource));
        }
        if count(&self) == before && crate::registration::linked_toolsets().is_empty() {
            self.problems.push(PoolProblem::Nothing);
        }
        self
    }

    /// Makes every toolset that `#[toolset]` left in the binary, without parameters, and adds
    /// its tools. Those that need parameters belong in a specification. A type that was added
    /// before, by [`Self::toolset`] or [`Self::toolset_as`], is left out.
    #[cfg(feature = "linked")]
    #[must_use = "a builder adds to what it returns"]
    pub async fn linked_toolsets(mut self) -> Self {
        for kind in crate::registration::linked_toolsets() {
            if self.toolsets.contains(&kind.type_id()) {
                continue;
            }
            let made = kind.create_with(serde_json::Map::new(), self.new_toolset(None)).await;
            if let Err(ToolsetError::Params(_)) = &made {
                self.problems.push(PoolProblem::Unmade {
                    name: kind.name().to_owned(),
                    reason: format!(
                        "it is linked in and needs parameters; give them in a file of tools, or write `#[toolset(register = false)]` at {}",
                        kind.origin()
                    ),
                });
            }
            self = self.made(&Source::Linked, kind.name(), made);
        }
        self
    }

    /// Adds the tool of an action. One that is linked in anyway is still one tool.
    #[must_use]
    pub fn tool<A: Action>(self) -> Self {
        self.add(Tool::of::<A>())
    }

    /// Adds a tool.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "a builder adds; nobody adds pools with `+`")]
    pub fn add(self, tool: Tool) -> Self {
        self.add_from(&Source::Custom, [tool])
    }

    /// Adds tools of a source.
    #[must_use]
    pub fn add_from(self, source: &Source, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.offer(source, tools)
    }

    /// Adds the prompt of an action. One that is linked in anyway is still one prompt.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Say hello.
    /// #[prompt(register = false)]
    /// async fn hello() -> &'static str { "Hello!" }
    ///
    /// let pool = ToolPool::builder().prompt::<HelloPrompt>().build()?;
    /// assert_eq!(pool.prompts()[0].name(), "hello");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn prompt<A: PromptAction>(self) -> Self {
        self.add_prompt(Prompt::of::<A>())
    }

    /// Adds a prompt.
    #[must_use]
    pub fn add_prompt(self, prompt: Prompt) -> Self {
        self.entry(Source::Custom, Item::Prompt(prompt))
    }

    /// Adds the resource of an action. One that is linked in anyway is still one resource.
    #[must_use]
    pub fn resource<A: ResourceAction>(self) -> Self {
        self.add_resource(Resource::of::<A>())
    }

    /// Adds a resource.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let config = Resource::builder("config://app", "config", "How it is configured.")
    ///     .handler(|| async { "verbose = true" });
    /// let pool = ToolPool::builder().add_resource(config).build()?;
    /// assert_eq!(pool.resources()[0].uri(), "config://app");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn add_resource(self, resource: Resource) -> Self {
        self.entry(Source::Custom, Item::Resource(resource))
    }

    fn entry(mut self, source: Source, item: Item) -> Self {
        self.entries.push(Entry { item, source });
        self
    }

    /// Makes a toolset and adds its tools. What goes wrong is told by [`Self::build`], with
    /// everything else. State that `create` needs is given before.
    #[must_use = "a builder adds to what it returns"]
    pub async fn toolset<T: Toolset>(self, params: T::Params) -> Self {
        self.toolset_with::<T>(None, params).await
    }

    /// Makes a toolset whose tools have this prefix instead of the type's own, so that one type
    /// may be there several times.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// struct Lamp(String);
    ///
    /// #[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
    /// struct LampParams {
    ///     /// Where it stands.
    ///     room: String,
    /// }
    ///
    /// #[toolset(register = false)]
    /// impl Lamp {
    ///     /// Say where the lamp stands.
    ///     #[tool(read_only)]
    ///     async fn room(&self) -> String { self.0.clone() }
    /// }
    ///
    /// impl Toolset for Lamp {
    ///     type Params = LampParams;
    ///
    ///     async fn create(params: LampParams, _: &ToolContext) -> Result<Self, ToolError> {
    ///         Ok(Self(params.room))
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .toolset_as::<Lamp>("desk", LampParams { room: "study".into() })
    ///     .await
    ///     .toolset_as::<Lamp>("ceiling", LampParams { room: "kitchen".into() })
    ///     .await
    ///     .build()?;
    /// let result = pool.call(ToolCall::new("desk.room", "")).await;
    /// assert_eq!(result.observation().to_text(), "study");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "a builder adds to what it returns"]
    pub async fn toolset_as<T: Toolset>(
        self,
        prefix: impl Into<String>,
        params: T::Params,
    ) -> Self {
        self.toolset_with::<T>(Some(prefix.into()), params).await
    }

    async fn toolset_with<T: Toolset>(mut self, prefix: Option<String>, params: T::Params) -> Self {
        self.toolsets.push(TypeId::of::<T>());
        let name = prefix.clone().unwrap_or_else(|| T::NAME.to_owned());
        let made = toolset::start::<T>(params, self.new_toolset(prefix)).await;
        self.made(&Source::Custom, &name, made)
    }

    fn new_toolset(&self, prefix: Option<String>) -> toolset::New {
        toolset::New { context: self.state_context(), prefix }
    }

    /// A context over the state that was given so far.
    pub(crate) fn state_context(&self) -> ToolContext {
        ToolContext::over(self.rules.state.clone())
    }

    fn made(mut self, source: &Source, name: &str, made: Result<Vec<Tool>, ToolsetError>) -> Self {
        match made {
            Ok(tools) => self.offer(source, tools),
            Err(error) => {
                let (name, reason) = (name.to_owned(), error.to_string());
                self.problems.push(PoolProblem::Unmade { name, reason });
                self
            }
        }
    }

    fn offer(mut self, source: &Source, tools: impl IntoIterator<Item = Tool>) -> Self {
        let offer = |tool| Offer { tool, source: source.clone() };
        self.offers.extend(tools.into_iter().map(offer));
        self
    }

    /// Provides a value that tools, prompts and resources borrow by a parameter `&T`. The value
    /// may stand in an `Arc`, so that the rest of the program shares it:
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_runtime::prelude::*;
    ///
    /// struct Db(Mutex<Vec<String>>);
    ///
    /// /// Count the rows.
    /// #[tool(read_only)]
    /// async fn count(db: &Db) -> usize {
    ///     db.0.lock().unwrap().len()
    /// }
    ///
    /// let db = Arc::new(Db(Mutex::default()));
    /// let pool = ToolPool::builder().tool::<CountAction>().state(Arc::clone(&db)).build()?;
    /// db.0.lock().unwrap().push("seen by the tool".into());
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    ///
    /// A second value of one type is reported by [`Self::build`], and so is an `Arc<T>` beside a
    /// `T`.
    #[must_use]
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        if !self.rules.state.insert(value) {
            self.problems.push(PoolProblem::DuplicateState { type_name: type_name::<T>() });
        }
        self.shared_states.push((TypeId::of::<Arc<T>>(), type_name::<T>()));
        self
    }

    /// Limits the time of calls whose tool has no limit of its own. Default: no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.governance.timeout = Some(timeout);
        self
    }

    /// Has only tools that one of these picks; called again, also those. An empty list is an
    /// empty pool. Default: all tools. What can be written is told by [`Selector`].
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
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn allow<S>(mut self, selectors: impl IntoIterator<Item = S>) -> Self
    where
        S: TryInto<Selector, Error: Into<SelectorError>>,
    {
        let selectors = self.parsed::<_, _, SelectorError>(selectors);
        self.rules.filter.allow.get_or_insert_default().extend(selectors);
        self
    }

    /// Leaves out the tools that one of these picks, also if they are allowed.
    #[must_use]
    pub fn deny<S>(mut self, selectors: impl IntoIterator<Item = S>) -> Self
    where
        S: TryInto<Selector, Error: Into<SelectorError>>,
    {
        let selectors = self.parsed::<_, _, SelectorError>(selectors);
        self.rules.filter.deny.extend(selectors);
        self
    }

    /// Says that tools come while the pool runs, those of MCP servers for instance: a pool that is
    /// empty when it is built, and rules that pick nothing then, are no slips.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    ///
    /// let pool = ToolPool::builder().allow_empty().build()?;
    /// assert!(pool.snapshot().tools().is_empty());
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    #[must_use]
    pub fn allow_empty(mut self) -> Self {
        self.allow_empty = true;
        self
    }

    /// Adds a filter, as it stands in a configuration: it leaves out more, and lets in nothing
    /// that [`Self::allow`], [`Self::deny`] or another filter leaves out.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.rules.further.push(filter);
        self
    }

    /// Lets tools of MCP servers take the place of other tools with these ids. Default: that
    /// is an error.
    #[must_use]
    pub fn mcp_replaces<P>(mut self, patterns: impl IntoIterator<Item = P>) -> Self
    where
        P: TryInto<ToolPattern, Error: Into<PatternError>>,
    {
        let patterns = self.parsed::<_, _, PatternError>(patterns);
        self.rules.mcp_replaces.extend(patterns);
        self
    }

    fn parsed<T, P, E>(&mut self, texts: impl IntoIterator<Item = P>) -> Vec<T>
    where
        P: TryInto<T>,
        P::Error: Into<E>,
        SelectorError: From<E>,
    {
        let mut parsed = Vec::new();
        for text in texts {
            match text.try_into() {
                Ok(value) => parsed.push(value),
                Err(error) => {
                    let error: E = error.into();
                    self.problems.push(PoolProblem::BadPattern(error.into()));
                }
            }
        }
        parsed
    }

    /// Adds a hook: it runs before or after the calls that its pattern names, in the order in
    /// which hooks are added.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        // The code that runs them is linked by this alone.
        self.governance.hooks = Some(Arc::new(self.hooks.clone()));
        self
    }

    /// Sets who is asked where a hook wants a person's approval. Default: nobody, and then
    /// asking denies.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.governance.approver = Some(Arc::new(approver));
        self
    }

    /// Limits what results may weigh. Default: no limit.
    #[must_use]
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.governance.limits = Some(Arc::new(limits));
        self
    }

    /// Checks the structured results of all tools against their output schemas. Default: only
    /// of tools whose results do not have the type that the schema was made from.
    #[must_use]
    pub fn check_outputs(mut self) -> Self {
        // The schemas of results may hold patterns and formats although no arguments' do.
        crate::schema::engine::enable();
        self.governance.checks_outputs = true;
        self
    }

    /// Sets how many calls of one batch run at once. Default: 10.
    #[must_use]
    pub fn batch_limit(mut self, limit: usize) -> Self {
        self.governance.batch_limit = limit.max(1);
        self
    }

    pub(crate) fn with_problems(mut self, problems: impl IntoIterator<Item = PoolProblem>) -> Self {
        self.problems.extend(problems);
        self
    }

    /// Wraps the layers that stand around every call.
    #[cfg(feature = "tower")]
    pub(crate) fn map_layers(
        mut self,
        wrap: impl FnOnce(Option<Arc<dyn Layered>>) -> Arc<dyn Layered>,
    ) -> Self {
        self.governance.layered = Some(wrap(self.governance.layered.take()));
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    /// Everything that is wrong at once: two tools of one name where none gives way, state that
    /// a tool borrows and nobody provides, names and definitions that clients would refuse, bad
    /// patterns, toolsets that could not be made; and the same for prompts and resources.
    pub fn build(mut self) -> Result<ToolPool, PoolError> {
        self.problems.extend(
            self.hooks.problems().map(|error| PoolProblem::BadPattern(error.clone().into())),
        );
        let state = &self.rules.state;
        let is_ambiguous = |(shared, _): &&(TypeId, _)| state.contains(*shared);
        let ambiguous = self.shared_states.iter().filter(is_ambiguous);
        self.problems
            .extend(ambiguous.map(|(_, type_name)| PoolProblem::AmbiguousState { type_name }));
        self.rules.hooks.clone_from(&self.governance.hooks);
        let mut decision = self.rules.decide(self.offers);
        let settled =
            catalog::settle(self.entries.clone(), &self.rules.state, &mut decision.problems);
        if self.allow_empty {
            self.problems.retain(|problem| *problem != PoolProblem::Nothing);
        }
        decision.problems.splice(0..0, self.problems);
        decision.problems.dedup();
        let decision = decision.checked()?;
        let context = ToolContext::over(self.rules.state.clone());
        let catalog = Catalog::after(&Catalog::default(), &settled);
        let may_be_idle = self.rules.may_be_idle();
        let core = Core::new(self.rules, self.governance, decision, (self.entries, catalog));
        let pool = ToolPool::scoped(Arc::new(core), None, &context);
        if !self.allow_empty && (may_be_idle || pool.current().tools().is_empty()) {
            warn_of_slips(&pool);
        }
        Ok(pool)
    }
}

/// An empty pool and a rule that never applies may be meant; whoever wonders should find them in
/// the log.
fn warn_of_slips(pool: &ToolPool) {
    let report = pool.report();
    let snapshot = pool.current();
    let has_others = !snapshot.prompts().is_empty() || !snapshot.resources().is_empty();
    if report.is_empty() && !has_others
        || !report.unmatched.is_empty()
        || !report.idle_hooks.is_empty()
    {
        tracing::warn!("{}", report.to_string().trim_end());
    }
}
