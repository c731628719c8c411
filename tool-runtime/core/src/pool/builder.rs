//! The methods that assemble a pool.

use super::catalog::Item;
use super::cli_command::CliCommand;
use super::draft::{Draft, Pending};
use super::filter::Filter;
#[cfg(feature = "tower")]
use super::governance::Layered;
use super::handle::ToolPool;
use super::offer::PoolTransform;
use super::problem::{PoolError, PoolProblem};
use super::selector::{Selector, SelectorError};
use crate::action::Action;
use crate::approval::Approver;
use crate::governance::{Limiter, MetaParameters, PolicyEngine, Recorder, StepStore};
use crate::hook::Hook;
use crate::limits::OutputLimits;
use crate::matching::{ArgumentMatcher, MatchAs, MatchedArgument};
use crate::pattern::{PatternError, ToolPattern};
use crate::prompt::{Prompt, PromptAction};
use crate::repair::AllRepairs;
use crate::resource::{Resource, ResourceAction};
use crate::source::Source;
use crate::tool::Tool;
use crate::toolset::Toolset;
use crate::transform::ToolTransform;
use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
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
///     /// The text to remember.
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
///
/// Methods record their input and run nothing: their order does not matter, and all problems are
/// reported by `build`. The first method that adds a toolset makes `build` asynchronous, since
/// toolsets are created there, with all state of the pool:
///
/// ```
/// # use tool_runtime::prelude::*;
/// # struct Clock;
/// # #[toolset(register = false)]
/// # impl Clock {
/// #     /// Tell the time.
/// #     #[tool(read_only)]
/// #     async fn now(&self) -> &'static str { "noon" }
/// # }
/// # impl Toolset for Clock {
/// #     type Params = ();
/// #     async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> { Ok(Self) }
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().toolset::<Clock>(()).deny(["hint:destructive"]).build().await?;
/// assert_eq!(pool.tools()[0].name(), "clock.now");
/// # Ok::<(), tool_runtime::PoolError>(())
/// # }).unwrap();
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct ToolPoolBuilder<S = WithoutToolsets> {
    draft: Draft,
    toolsets: PhantomData<S>,
}

/// A [`ToolPoolBuilder`] without toolsets: `build()` is not async.
#[derive(Clone, Copy, Debug)]
pub struct WithoutToolsets;

/// A [`ToolPoolBuilder`] with toolsets: `build()` creates them and is awaited.
#[derive(Clone, Copy, Debug)]
pub struct WithToolsets;

impl Default for ToolPoolBuilder {
    fn default() -> Self {
        Self::of(Draft::default())
    }
}

/// For toolsets that are added under a condition.
impl From<ToolPoolBuilder> for ToolPoolBuilder<WithToolsets> {
    fn from(builder: ToolPoolBuilder) -> Self {
        Self::of(builder.draft)
    }
}

impl ToolPool {
    /// Starts an empty pool.
    pub fn builder() -> ToolPoolBuilder {
        ToolPoolBuilder::default()
    }
}

impl<S> ToolPoolBuilder<S> {
    fn of(draft: Draft) -> Self {
        Self { draft, toolsets: PhantomData }
    }

    /// Records a problem, which `build` reports.
    pub(super) fn note(&mut self, problem: PoolProblem) {
        self.draft.problems.push(problem);
    }

    pub(super) fn add_command(&mut self, command: Arc<dyn CliCommand>) {
        self.draft.commands.push(command);
    }

    /// The commands that were added up to now.
    #[doc(hidden)]
    pub fn commands(&self) -> &[Arc<dyn CliCommand>] {
        &self.draft.commands
    }

    /// The builder in another state. Its toolsets are lost if the pool is built without them.
    #[doc(hidden)]
    pub fn in_state<T>(self) -> ToolPoolBuilder<T> {
        ToolPoolBuilder::of(self.draft)
    }

    /// Adds every linked tool, prompt and resource: those of `#[tool]`, `#[prompt]` and
    /// `#[resource]` in this binary.
    ///
    /// The tools of a dependency that nothing names are not linked: write
    /// `use my_tools as _;` beside this. Toolsets are added by [`Self::linked_toolsets`].
    #[cfg(feature = "linked")]
    pub fn linked(mut self) -> Self {
        self.draft.link();
        self
    }

    /// Adds every linked prompt and resource, and no tools: for a pool whose tools a
    /// [`PoolConfig`](crate::PoolConfig) names.
    #[cfg(feature = "linked")]
    pub fn linked_offerings(mut self) -> Self {
        self.draft.link_offerings();
        self
    }

    /// Adds every linked toolset, created without parameters. Those that need parameters belong
    /// in a specification. A type that [`Self::toolset`] or [`Self::toolset_as`] adds, before or
    /// after this, is left out.
    #[cfg(feature = "linked")]
    pub fn linked_toolsets(mut self) -> ToolPoolBuilder<WithToolsets> {
        self.draft.links_toolsets = true;
        self.in_state()
    }

    /// Adds the tool of an action. A tool that is also linked is added once.
    pub fn tool<A: Action>(self) -> Self {
        self.add(Tool::of::<A>())
    }

    /// Adds a tool.
    #[allow(clippy::should_implement_trait, reason = "a builder adds; nobody adds pools with `+`")]
    pub fn add(self, tool: Tool) -> Self {
        self.add_from(&Source::Custom, [tool])
    }

    /// Adds tools of a source.
    pub fn add_from(mut self, source: &Source, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.draft.offer(source, tools);
        self
    }

    /// Adds the prompt of an action. A prompt that is also linked is added once.
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
    pub fn prompt<A: PromptAction>(self) -> Self {
        self.add_prompt(Prompt::of::<A>())
    }

    /// Adds a prompt.
    pub fn add_prompt(self, prompt: Prompt) -> Self {
        self.entry(Item::Prompt(prompt))
    }

    /// Adds the resource of an action. A resource that is also linked is added once.
    pub fn resource<A: ResourceAction>(self) -> Self {
        self.add_resource(Resource::of::<A>())
    }

    /// Adds a resource.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let config = Resource::builder("config://app", "config", "The configuration.")
    ///     .handler(|| async { "verbose = true" });
    /// let pool = ToolPool::builder().add_resource(config).build()?;
    /// assert_eq!(pool.resources()[0].uri(), "config://app");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn add_resource(self, resource: Resource) -> Self {
        self.entry(Item::Resource(resource))
    }

    fn entry(mut self, item: Item) -> Self {
        self.draft.entry(Source::Custom, item);
        self
    }

    /// Adds a toolset. Its value is created by `build`, from these parameters and all state of
    /// the pool; `build` reports a failure.
    pub fn toolset<T: Toolset>(self, params: T::Params) -> ToolPoolBuilder<WithToolsets> {
        self.toolset_with::<T>(None, params)
    }

    /// Adds a toolset whose tools have this prefix instead of the type's own, so that a pool can
    /// have several values of one type.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// struct Lamp(String);
    ///
    /// #[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
    /// struct LampParams {
    ///     /// The lamp's room.
    ///     room: String,
    /// }
    ///
    /// #[toolset(register = false)]
    /// impl Lamp {
    ///     /// Name the lamp's room.
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
    ///     .toolset_as::<Lamp>("ceiling", LampParams { room: "kitchen".into() })
    ///     .build()
    ///     .await?;
    /// let result = pool.call(ToolCall::new("desk.room", "")).await;
    /// assert_eq!(result.observation().to_text(), "study");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn toolset_as<T: Toolset>(
        self,
        prefix: impl Into<String>,
        params: T::Params,
    ) -> ToolPoolBuilder<WithToolsets> {
        self.toolset_with::<T>(Some(prefix.into()), params)
    }

    fn toolset_with<T: Toolset>(
        mut self,
        prefix: Option<String>,
        params: T::Params,
    ) -> ToolPoolBuilder<WithToolsets> {
        self.draft.toolset::<T>(prefix, params);
        self.in_state()
    }

    /// Adds tools that `build` creates.
    pub(crate) fn pending(mut self, pending: Pending) -> ToolPoolBuilder<WithToolsets> {
        self.draft.pending.push(pending);
        self.in_state()
    }

    /// Provides a value that tools, prompts and resources borrow by a parameter `&T`. The value
    /// may be an `Arc`, so that the rest of the program shares it:
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
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        let is_new = self.draft.rules.state.insert(value);
        self.draft.note_state(is_new, TypeId::of::<Arc<T>>(), type_name::<T>());
        self
    }

    /// Masks secrets in everything that leaves the pool: results, errors and their traces, progress,
    /// logs, questions, approvals, prompts and resources. The secrets are also state, so that a tool
    /// borrows them as `&Secrets`. Default: nothing is masked.
    #[cfg(feature = "redact")]
    pub fn secrets(mut self, secrets: crate::Secrets) -> Self {
        let mask: Arc<dyn crate::mask::Mask> = Arc::new(secrets.clone());
        self.draft.rules.state.mask = Some(Arc::clone(&mask));
        self.draft.governance.mask = Some(mask);
        self.state(secrets)
    }

    /// Limits the time of calls whose tool has no limit of its own. Default: no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.draft.governance.timeout = Some(timeout);
        self
    }

    /// Keeps only tools that one of these selectors picks. Further calls add selectors. An empty list is an
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
    /// # Ok::<(), tool_runtime::PoolError>(())
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
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn allow_empty(mut self) -> Self {
        self.draft.allow_empty = true;
        self
    }

    /// Adds a filter, from a configuration: it leaves out more, and adds nothing
    /// that [`Self::allow`], [`Self::deny`] or another filter leaves out.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.draft.rules.further.push(filter);
        self
    }

    /// Changes the public side of the tools that a selector picks, those of MCP servers too: name, texts,
    /// arguments. Selectors see tools as their sources give them; of several transforms of one tool, each
    /// starts from the result of the one before.
    ///
    /// Filters, restrictions, hooks and calls use the new name.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::ToolTransform;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder()
    ///     .add(ping)
    ///     .transform("ping", ToolTransform::new().name("net.ping").tag("network"))
    ///     .allow(["tag:network"])
    ///     .build()?;
    /// assert_eq!(pool.report().to_string(), "net.ping  custom  visible, made from `ping`\n");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    ///
    /// A transform that does not fit its tool is reported by [`Self::build`], and so is one that picks
    /// no tool, unless tools [come later](Self::allow_empty). A tool of an MCP server that a transform
    /// does not fit is quarantined.
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
                    self.draft.problems.push(PoolProblem::InvalidPattern(error.into()));
                }
            }
        }
        parsed
    }

    /// Adds a hook: it runs before or after the calls that its pattern names, in the order in
    /// which hooks are added.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.draft.hooks.push(hook);
        // Programs without hooks do not link the code that runs them.
        self.draft.governance.hooks = Some(Arc::new(self.draft.hooks.clone()));
        self
    }

    /// Sets the approver, which is asked when a hook or a policy requires approval. Default: none,
    /// and calls that require approval are denied.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.draft.governance.approver = Some(Arc::new(approver));
        self
    }

    /// Adds a policy, which decides about every call and hides tools from callers. Default: none.
    /// With several policies the strictest answer counts.
    pub fn policy(mut self, policy: impl PolicyEngine) -> Self {
        self.draft.govern(|seams| seams.policies.push(Arc::new(policy)));
        self
    }

    /// Sets the limiter, which enforces limits on calls. Default: none, and calls to which a policy
    /// sets limits are denied.
    pub fn limiter(mut self, limiter: impl Limiter) -> Self {
        let mut is_repeated = false;
        self.draft.govern(|seams| {
            is_repeated = seams.limiter.replace(Arc::new(limiter)).is_some();
        });
        self.draft.note_repeated(is_repeated, "limiter");
        self
    }

    /// Adds a recorder of all calls. Default: none.
    pub fn recorder(mut self, recorder: impl Recorder) -> Self {
        self.draft.govern(|seams| seams.recorders.push(Arc::new(recorder)));
        self
    }

    /// Sets the store of completed calls, for calls in an [`Execution`](crate::Execution). Default:
    /// none, and every call runs.
    pub fn step_store(mut self, store: impl StepStore) -> Self {
        let mut is_repeated = false;
        self.draft.govern(|seams| is_repeated = seams.steps.replace(Arc::new(store)).is_some());
        self.draft.note_repeated(is_repeated, "step_store");
        self
    }

    /// Limits the size of results. Default: no limit.
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.draft.governance.limits = Some(Arc::new(limits));
        self
    }

    /// Checks the structured results of all tools against their output schemas. Default: only
    /// of tools whose results do not have the type from which the schema was generated.
    pub fn check_outputs(mut self) -> Self {
        // Schemas of results may contain patterns and formats even if no schema of arguments does.
        crate::schema::engine::enable();
        self.draft.governance.checks_outputs = true;
        self
    }

    /// Corrects calls that would be rejected, where the schema leaves no doubt: control characters
    /// and trailing text, objects, lists, numbers and booleans written as strings, `null` for
    /// absent arguments, names in another case or with other separators, names of tools within XML
    /// or with a prefix. Default: such calls are rejected.
    ///
    /// Valid calls are never changed, and an exact name always wins. Hooks see the corrected call and
    /// [its repairs](crate::HookCall::repairs); the result lists them in its metadata, under
    /// `tool-runtime/repairs`.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
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
    /// let pool = ToolPool::builder().tool::<AddAction>().repair().build()?;
    /// let result = pool.call(ToolCall::new("functions.add", r#"{"A": "40", "b": 2} </call>"#)).await;
    /// assert_eq!(result.observation().to_text(), "42");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn repair(mut self) -> Self {
        self.draft.governance.repair = Some(&AllRepairs);
        // Schemas of external tools may contain patterns and formats.
        crate::schema::engine::enable();
        self
    }

    /// Adds a matcher of arguments, for the patterns of declarations such as `Bash(git *)`. It replaces an
    /// earlier one of its kind. Default: matchers of paths and URLs, and none of commands.
    ///
    /// ```
    /// use tool_runtime::{PathMatcher, ToolPool};
    ///
    /// let paths = PathMatcher::new().in_directory("/work");
    /// let pool = ToolPool::builder().argument_matcher(paths).allow_empty().build()?;
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn argument_matcher(mut self, matcher: impl ArgumentMatcher) -> Self {
        self.draft.governance.matchers.push(Arc::new(matcher));
        self
    }

    /// Sets the argument that patterns of declarations are matched against, for tools that do not
    /// set it themselves, such as tools of external MCP servers. It replaces an earlier one, and
    /// the argument that a tool itself names.
    ///
    /// ```
    /// use tool_runtime::{MatchAs, ToolPool};
    ///
    /// let pool = ToolPool::builder()
    ///     .match_argument("fetch.*", "url", MatchAs::Url)
    ///     .allow_empty()
    ///     .build()?;
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn match_argument<P>(mut self, tools: P, argument: impl Into<String>, kind: MatchAs) -> Self
    where
        P: TryInto<ToolPattern, Error: Into<PatternError>>,
    {
        let argument = MatchedArgument::new(argument, kind);
        for pattern in self.parsed::<_, _, PatternError>([tools]) {
            self.draft.governance.matched.push((pattern, argument.clone()));
        }
        self
    }

    /// Adds parameters to the tools, with which a model describes a call beside its arguments. They
    /// stand first in every listed and exported schema and are optional. They are taken off a call
    /// before its arguments are validated; hooks, policies and records get them, the tool does not.
    /// A tool keeps its own parameter of such a name. Default: none.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::{CallView, Decision, MetaParameters, PolicyEngine, Risk};
    ///
    /// struct Cautious;
    ///
    /// impl PolicyEngine for Cautious {
    ///     fn decide(&self, call: &CallView<'_>) -> Decision {
    ///         match call.risk() {
    ///             Risk::Low | Risk::Medium => Decision::allow(),
    ///             _ => Decision::deny("the risk is too high"),
    ///         }
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .meta_parameters(MetaParameters::all())
    ///     .policy(Cautious)
    ///     .build()?;
    /// assert!(pool.definitions_json().contains("security_risk"));
    /// assert!(!pool.call(ToolCall::new("ping", r#"{"security_risk": "LOW"}"#)).await.is_error());
    /// assert!(pool.call(ToolCall::new("ping", "{}")).await.is_error());
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn meta_parameters(mut self, parameters: MetaParameters) -> Self {
        self.draft.governance.meta_parameters = Some(Arc::new(parameters));
        self
    }

    /// Sets how many calls of one batch run concurrently. Default: 10.
    pub fn batch_limit(mut self, limit: usize) -> Self {
        self.draft.governance.batch_limit = limit.max(1);
        self
    }

    /// Wraps every call in the layers.
    #[cfg(feature = "tower")]
    pub(crate) fn map_layers(
        mut self,
        wrap: impl FnOnce(Option<Arc<dyn Layered>>) -> Arc<dyn Layered>,
    ) -> Self {
        self.draft.governance.layered = Some(wrap(self.draft.governance.layered.take()));
        self
    }
}

impl ToolPoolBuilder<WithoutToolsets> {
    /// Builds the pool.
    ///
    /// # Errors
    /// All problems together: two tools of one name of which none yields, missing state, names and
    /// definitions that clients would reject, invalid patterns; and the same for prompts and
    /// resources.
    pub fn build(self) -> Result<ToolPool, PoolError> {
        self.draft.build()
    }
}

impl ToolPoolBuilder<WithToolsets> {
    /// Creates the toolsets, in the order of the methods and those of [`Self::linked_toolsets`]
    /// last, and builds the pool.
    ///
    /// # Errors
    /// All problems together, as without toolsets, and each toolset or specification that could not
    /// be created. Toolsets that were created are closed then.
    pub async fn build(mut self) -> Result<ToolPool, PoolError> {
        self.draft.create_pending().await;
        self.draft.build()
    }
}
