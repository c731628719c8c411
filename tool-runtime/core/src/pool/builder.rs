//! The methods that assemble a pool: its tools and state here, their selection and the rules around calls below.

mod calls;
mod selection;

use super::catalog::Item;
use super::draft::{Draft, Pending};
use super::handle::ToolPool;
use super::problem::{PoolError, PoolProblem};
use crate::tool::offering::prompt::{Prompt, PromptAction};
use crate::tool::offering::resource::{Resource, ResourceAction};
use crate::tool::tool::Tool;
use crate::tool::tool::action::Action;
use crate::tool::tool::source::Source;
use crate::tool::toolset::Toolset;
use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;

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
/// # Ok::<(), tool_runtime::pool::PoolError>(())
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
/// # Ok::<(), tool_runtime::pool::PoolError>(())
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
        Self::from_draft(Draft::default())
    }
}

/// For toolsets that are added under a condition.
impl From<ToolPoolBuilder> for ToolPoolBuilder<WithToolsets> {
    fn from(builder: ToolPoolBuilder) -> Self {
        Self::from_draft(builder.draft)
    }
}

impl ToolPool {
    /// Starts an empty pool.
    pub fn builder() -> ToolPoolBuilder {
        ToolPoolBuilder::default()
    }
}

impl<S> ToolPoolBuilder<S> {
    fn from_draft(draft: Draft) -> Self {
        Self { draft, toolsets: PhantomData }
    }

    /// Records a problem, which `build` reports.
    pub(super) fn note(&mut self, problem: PoolProblem) {
        self.draft.problems.push(problem);
    }

    /// Keeps a value of another crate in the pool.
    #[doc(hidden)]
    pub fn with_extra(mut self, value: impl Any + Send + Sync) -> Self {
        self.draft.extras.push(value);
        self
    }

    /// The values of a type that [`Self::with_extra`] keeps.
    #[doc(hidden)]
    pub fn extras<T: Any>(&self) -> impl Iterator<Item = &T> {
        self.draft.extras.iter()
    }

    /// Applies a change that is written for builders without toolsets, for lists of changes that are made at run time.
    /// Toolsets that were added before stay.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::ToolPoolBuilder;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let changes: Vec<Box<dyn FnOnce(ToolPoolBuilder) -> ToolPoolBuilder>> =
    ///     vec![Box::new(|pool| pool.add(ping)), Box::new(|pool| pool.batch_limit(4))];
    /// let pool = ToolPool::builder();
    /// let pool = pool.apply(|pool| changes.into_iter().fold(pool, |pool, change| change(pool)));
    /// assert_eq!(pool.build()?.tools().len(), 1);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn apply(self, change: impl FnOnce(ToolPoolBuilder) -> ToolPoolBuilder) -> Self {
        change(self.in_state()).in_state()
    }

    /// The builder in another state. Its toolsets are lost if the pool is built without them.
    #[doc(hidden)]
    pub fn in_state<T>(self) -> ToolPoolBuilder<T> {
        ToolPoolBuilder::from_draft(self.draft)
    }

    /// Adds every linked tool, prompt and resource: those of `#[tool]`, `#[prompt]` and
    /// `#[resource]` in this binary.
    ///
    /// The tools of a dependency that nothing names are not linked: write
    /// `use my_tools as _;` next to this. Toolsets are added by [`Self::linked_toolsets`].
    #[cfg(feature = "linked")]
    pub fn linked(mut self) -> Self {
        self.draft.link();
        self
    }

    /// Adds every linked prompt and resource, and no tools: for a pool whose tools a
    /// [`PoolConfig`](crate::pool::PoolConfig) names.
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
        self.add(Tool::from_action::<A>())
    }

    /// Adds a tool.
    #[allow(clippy::should_implement_trait, reason = "a tool is added, not a number")]
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn prompt<A: PromptAction>(self) -> Self {
        self.add_prompt(Prompt::from_action::<A>())
    }

    /// Adds a prompt.
    pub fn add_prompt(self, prompt: Prompt) -> Self {
        self.entry(Item::Prompt(prompt))
    }

    /// Adds the resource of an action. A resource that is also linked is added once.
    pub fn resource<A: ResourceAction>(self) -> Self {
        self.add_resource(Resource::from_action::<A>())
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    ///
    /// A second value of one type is reported by [`Self::build`], and so is an `Arc<T>` next to a
    /// `T`.
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        let is_new = self.draft.rules.state.insert(value);
        self.draft.note_state(is_new, TypeId::of::<Arc<T>>(), type_name::<T>());
        self
    }

    /// Masks secrets in what leaves the pool: results, errors and their traces, progress, logs,
    /// questions, approvals, prompts, resources, definitions and reports, in the forms that
    /// [`Redactor`](crate::vocabulary::Redactor) finds. A name that contains a secret is a problem: masked, it
    /// could not be called. Definitions are masked with the secrets that are known when the tools last
    /// changed. The secrets are also state, so that a tool borrows them as `&Secrets`. Default:
    /// nothing is masked.
    #[cfg(feature = "redact")]
    pub fn secrets(mut self, secrets: crate::tool::Secrets) -> Self {
        let mask: Arc<dyn crate::vocabulary::mask::Mask> = Arc::new(secrets.clone());
        self.draft.rules.state.mask = Some(Arc::clone(&mask));
        self.draft.governance.mask = Some(mask);
        self.state(secrets)
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
