//! A tool: its definition and its executor.

pub(crate) mod action;
mod action_executor;
mod builder;
pub(crate) mod client_tools;
pub(crate) mod definition;
mod executor;
mod handler;
mod lifecycle;
pub(crate) mod registration;
mod requirement;
pub(crate) mod source;
pub mod transform;

pub use builder::ToolBuilder;
pub use executor::Executor;
pub use handler::Handler;
pub use requirement::{Requirement, RequirementState};

pub(crate) use action_executor::{DecodedAction, settle};

use crate::schema;
use crate::tool::arguments::Arguments;
use crate::tool::arguments::parameter::Parameter;
use crate::tool::call::visual;
use crate::tool::concurrency::access::{self, Access};
use crate::tool::context::{StepId, ToolContext};
use crate::tool::results::observation::Observation;
use crate::tool::tool::action::Action;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::toolset::Values;
use crate::vocabulary::error::{CallError, caught};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::matching::{MatchAs, MatchedArgument};
use crate::vocabulary::need::Need;
use action_executor::{ActionExecutor, ActionParts};
use lifecycle::{ExecutorLifecycle, Unusable};
use std::any::TypeId;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A definition and its executor. Cheap to clone.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// let ping = Tool::builder("ping", "Answer at once.")
///     .read_only(true)
///     .handler(|| async { "pong" });
/// assert_eq!(ping.name(), "ping");
/// ```
#[derive(Clone)]
pub struct Tool(Arc<Parts>);

struct Parts {
    /// Shared with executors that need the definition.
    definition: Arc<ToolDefinition>,
    lifecycle: ExecutorLifecycle,
    /// The toolset values, if the tool is a method.
    values: Option<Values>,
    needs: &'static [Need],
    /// The toolset that the tool is a method of, without a value of it.
    toolset: Option<Need>,
    parameters: &'static [Parameter],
    timeout: Option<Duration>,
    /// The action type behind the tool, and the executor with its concrete type.
    action: Option<(TypeId, Arc<ActionExecutor>)>,
    origin: Option<Origin>,
    /// The argument that patterns of declarations are about.
    matched: Option<Box<MatchedArgument>>,
    /// The tool's name at its MCP server, if it belongs to one.
    remote_name: Option<Box<RemoteName>>,
    /// Requirements outside of the pool.
    requirements: Vec<Requirement>,
    /// The reason why the tool is unusable, computed once.
    unusable: OnceLock<Option<String>>,
    /// Whether calls declare what they touch.
    declares_access: bool,
    /// The directory at which relative paths in keys begin. Default: that of the process.
    directory: Option<Arc<Path>>,
    /// Shows a call to people, instead of the executor.
    show: Option<Box<ShowCall>>,
    /// Whether the executor was written by the user, or runs the tool of another process. It is notified of
    /// interruptions, and its results are checked against the schema.
    is_custom: bool,
    /// Whether the executor enforces its own timeout. Those of the tool and the pool do not apply.
    enforces_timeout: bool,
    /// Makes the step of a call that has none, if the tool resumes: an interrupted call can be taken up again by its step.
    new_step: Option<fn() -> StepId>,
    /// The tool that a transform started from.
    made_from: Option<Tool>,
}

/// The text that shows a call of these arguments, if there is one.
type ShowCall = dyn Fn(&str, &ToolContext) -> Option<String> + Send + Sync;

/// A validated call that has not started.
#[derive(Default)]
pub(crate) struct DecodedCall {
    pub(crate) access: Access,
    pub(crate) action: Option<DecodedAction>,
}

/// The name of a tool of an MCP server.
#[derive(Clone, Debug)]
pub(crate) struct RemoteName {
    pub(crate) server: String,
    pub(crate) tool: String,
}

/// The source location of a linked tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Tool {
    /// Creates a tool from a definition and an executor, which checks the arguments itself.
    pub fn new(mut definition: ToolDefinition, executor: impl Executor) -> Self {
        let output = definition.output_schema.as_ref();
        let problem = output.and_then(|output| schema::problem(output, "output"));
        definition.problems.extend(problem);
        Self::of_parts(Arc::new(definition), executor)
    }

    fn of_parts(definition: Arc<ToolDefinition>, executor: impl Executor) -> Self {
        Self(Arc::new(Parts {
            definition,
            lifecycle: ExecutorLifecycle::new(Arc::new(executor)),
            values: None,
            needs: &[],
            toolset: None,
            parameters: &[],
            timeout: None,
            action: None,
            origin: None,
            matched: None,
            remote_name: None,
            requirements: Vec::new(),
            unusable: OnceLock::new(),
            declares_access: true,
            directory: None,
            show: None,
            is_custom: true,
            enforces_timeout: false,
            new_step: None,
            made_from: None,
        }))
    }

    /// Creates a tool for an MCP server's tool. The client checks results on arrival, and the executor
    /// enforces its own timeout.
    #[doc(hidden)]
    pub fn foreign(
        definition: Arc<ToolDefinition>,
        executor: impl Executor,
        (server, tool): (&str, &str),
    ) -> Self {
        let remote = RemoteName { server: server.to_owned(), tool: tool.to_owned() };
        let mut tool = Self::of_handler(definition, executor, false);
        if let Some(parts) = Arc::get_mut(&mut tool.0) {
            parts.enforces_timeout = true;
            parts.remote_name = Some(Box::new(remote));
        }
        tool
    }

    /// Creates a tool of another process, which keeps the outcome of each step: a call that is interrupted can be taken up
    /// again by its step. The executor enforces its own timeout; results are checked against the output schema, as far
    /// as it is checked here. `new_step` makes the random step of a call that is in no execution.
    #[doc(hidden)]
    pub fn remote(
        definition: Arc<ToolDefinition>,
        executor: impl Executor,
        new_step: fn() -> StepId,
    ) -> Self {
        let mut tool = Self::of_parts(definition, executor);
        if let Some(parts) = Arc::get_mut(&mut tool.0) {
            parts.declares_access = false;
            parts.enforces_timeout = true;
            parts.new_step = Some(new_step);
        }
        tool
    }

    /// Creates a tool from a closure, which has no `interrupt` and whose results fit their schema.
    fn of_handler(
        definition: impl Into<Arc<ToolDefinition>>,
        executor: impl Executor,
        declares_access: bool,
    ) -> Self {
        let mut tool = Self::of_parts(definition.into(), executor);
        if let Some(parts) = Arc::get_mut(&mut tool.0) {
            parts.declares_access = declares_access;
            parts.is_custom = false;
        }
        tool
    }

    /// Sets the time limit of its calls.
    pub(crate) fn with_time_limit(mut self, limit: Option<Duration>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.timeout = limit;
        }
        self
    }

    /// Creates a tool that is hidden. The pool's report shows the reason.
    pub(crate) fn unusable(definition: ToolDefinition, reason: &str) -> Self {
        Self::new(definition, Unusable(reason.to_owned()))
    }

    /// Creates a tool that runs another one, with that tool's values, needs and limits. Closing the
    /// new tool closes the other one.
    pub(crate) fn made_of(
        other: &Self,
        definition: Arc<ToolDefinition>,
        executor: impl Executor,
        matched: Option<MatchedArgument>,
    ) -> Self {
        let parts = &*other.0;
        Self(Arc::new(Parts {
            definition,
            lifecycle: ExecutorLifecycle::without_close(Arc::new(executor)),
            values: parts.values.clone(),
            needs: parts.needs,
            toolset: parts.toolset,
            parameters: &[],
            timeout: parts.timeout,
            action: None,
            origin: parts.origin,
            matched: matched.map(Box::new),
            remote_name: parts.remote_name.clone(),
            requirements: parts.requirements.clone(),
            unusable: OnceLock::new(),
            declares_access: parts.declares_access,
            directory: parts.directory.clone(),
            show: None,
            is_custom: parts.is_custom,
            enforces_timeout: parts.enforces_timeout,
            new_step: parts.new_step,
            made_from: Some(other.clone()),
        }))
    }

    /// Creates a tool from an action that is a method of `values`.
    pub(crate) fn bound<A: Action>(values: Values, name: String) -> Self {
        let parts = ActionParts::from_action::<A>().with_name(name);
        let mut tool = Self::from_parts(&parts, TypeId::of::<A>(), A::ACCESS.is_some());
        if let Some(parts) = Arc::get_mut(&mut tool.0) {
            parts.values = Some(values);
            parts.toolset = None;
        }
        tool
    }

    /// Creates a tool from an action.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// /// Answer at once.
    /// #[tool]
    /// async fn ping() -> &'static str { "pong" }
    ///
    /// assert_eq!(Tool::from_action::<PingAction>().name(), "ping");
    /// ```
    pub fn from_action<A: Action>() -> Self {
        Self::from_parts(&ActionParts::from_action::<A>(), TypeId::of::<A>(), A::ACCESS.is_some())
    }

    fn from_parts(parts: &ActionParts, action: TypeId, declares_access: bool) -> Self {
        let executor = Arc::new(ActionExecutor::new(parts));
        let (definition, settings) = (Arc::clone(executor.definition()), executor.settings());
        Self(Arc::new(Parts {
            definition,
            lifecycle: ExecutorLifecycle::without_close(Arc::clone(&executor) as _),
            values: None,
            needs: settings.needs,
            toolset: settings.toolset,
            parameters: settings.parameters,
            timeout: settings.timeout,
            action: Some((action, executor)),
            origin: None,
            matched: matched(settings.parameters),
            remote_name: None,
            requirements: Vec::new(),
            unusable: OnceLock::new(),
            declares_access,
            directory: None,
            show: None,
            is_custom: false,
            enforces_timeout: false,
            new_step: None,
            made_from: None,
        }))
    }

    /// Starts a tool from a closure.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> ToolBuilder {
        ToolBuilder::new(name, description)
    }

    /// The definition that models and clients see.
    pub fn definition(&self) -> &ToolDefinition {
        &self.0.definition
    }

    /// The tool's id.
    pub fn name(&self) -> &str {
        &self.0.definition.name
    }

    /// The tool that a [transform](Self::transform) started from, if there was one.
    ///
    /// ```
    /// use tool_runtime::Tool;
    /// use tool_runtime::transform::ToolTransform;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let echo = ping.transform(&ToolTransform::new().name("echo"))?;
    /// assert_eq!(echo.made_from().unwrap().name(), "ping");
    /// # Ok::<(), tool_runtime::transform::TransformError>(())
    /// ```
    pub fn made_from(&self) -> Option<&Self> {
        self.0.made_from.as_ref()
    }

    /// The tool's own timeout. Default: the pool's.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// Whether the executor enforces its own timeout.
    pub(crate) fn enforces_timeout(&self) -> bool {
        self.0.enforces_timeout
    }

    /// Whether an interrupted call can be taken up again by its step: another process keeps its outcome.
    pub(crate) fn resumes(&self) -> bool {
        self.0.new_step.is_some()
    }

    /// A new step for a call that has none. `None` unless the tool resumes.
    pub(crate) fn new_step(&self) -> Option<StepId> {
        self.0.new_step.map(|make| make())
    }

    /// Describes a call for people: the tool's own text, or else its name and arguments, without secret ones. No character
    /// controls a terminal or is invisible, and long strings are shortened.
    pub fn visualize(&self, arguments: &str) -> String {
        match self.own_text(arguments, &ToolContext::default()) {
            Some(own) => visual::own(&own),
            None => visual::call(self.name(), arguments, &self.definition().input_schema),
        }
    }

    /// The tool's own text about a call, if it has one.
    pub(crate) fn own_text(&self, arguments: &str, context: &ToolContext) -> Option<String> {
        let own = || self.executor().visualize(Arguments::new(arguments));
        let show = || self.0.show.as_ref().and_then(|show| show(arguments, context)).or_else(own);
        // Both are the user's code and may panic.
        caught(show).ok().flatten()
    }

    pub(crate) fn executor(&self) -> &dyn Executor {
        self.0.lifecycle.executor()
    }

    /// The resources that a call would touch, and its decoded arguments where they are kept.
    ///
    /// # Errors
    /// Arguments that are not valid.
    pub(crate) fn decode(&self, arguments: &str) -> Result<DecodedCall, CallError> {
        let arguments = Arguments::new(arguments);
        self.in_its_directory(|| match &self.0.action {
            Some((_, executor)) => {
                let (access, action) = executor.decode_call(arguments)?;
                Ok(DecodedCall { access, action: Some(action) })
            }
            None => Ok(DecodedCall { access: self.executor().access(arguments)?, action: None }),
        })
    }

    /// Computes the keys of a call.
    pub(crate) fn in_its_directory<T>(&self, compute: impl FnOnce() -> T) -> T {
        access::in_directory(self.0.directory.as_ref(), compute)
    }

    /// Runs a call with the decoded action, or else with the text of the arguments.
    pub(crate) fn run<'a>(
        &'a self,
        action: Option<DecodedAction>,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        match (&self.0.action, action) {
            (Some((_, executor)), Some(action)) => executor.start(action, context),
            _ => self.executor().call(Arguments::new(arguments), context),
        }
    }

    /// Whether a caller needs scopes.
    pub(crate) fn has_scopes(&self) -> bool {
        !self.0.definition.scopes.is_empty()
    }

    /// Whether calls take the governed path: they need a toolset value, a place in the schedule, a check of scopes, or
    /// a notification when they are interrupted.
    pub(crate) fn is_governed(&self) -> bool {
        let parts = &*self.0;
        parts.values.is_some() || parts.declares_access || parts.is_custom || self.has_scopes()
    }

    /// What a call would touch. `None` if the tool does not declare it, and for invalid arguments.
    #[doc(hidden)]
    pub fn access_of(&self, arguments: &str) -> Option<Access> {
        let decoded = self.declares_access().then(|| caught(|| self.decode(arguments)));
        let access = decoded?.ok()?.ok()?.access;
        access.is_declared().then_some(access)
    }

    /// Whether calls declare what they touch.
    #[doc(hidden)]
    pub fn declares_access(&self) -> bool {
        self.0.declares_access
    }

    /// Whether results are checked against the output schema.
    pub(crate) fn checks_output(&self) -> bool {
        self.0.is_custom && self.0.definition.output_schema.is_some()
    }

    /// The toolset values, if the tool is a method.
    pub(crate) fn values(&self) -> Option<&Values> {
        self.0.values.as_ref()
    }

    /// The reason why the tool is unusable, if it is. Checked once; a panic counts as a reason.
    pub(crate) fn unusable_reason(&self) -> Option<&str> {
        let asked = || match caught(|| self.executor().is_usable()) {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(_) => Some("its `is_usable` panicked".to_owned()),
        };
        let missing = || self.requirements().iter().find_map(Requirement::reason);
        self.0.unusable.get_or_init(|| missing().or_else(asked)).as_deref()
    }

    /// The requirements outside of the pool that [`Self::requires`] has set.
    pub fn requirements(&self) -> &[Requirement] {
        &self.0.requirements
    }

    /// Notifies the executor that a call ended early.
    pub(crate) fn interrupt(&self, context: &ToolContext) {
        self.0.lifecycle.interrupt(context);
    }

    /// Closes the executor and the toolset values, once.
    pub(crate) async fn close(&self) {
        let mut next = Some(self);
        while let Some(Self(parts)) = next {
            parts.lifecycle.close().await;
            if let Some(values) = &parts.values {
                values.close().await;
            }
            next = parts.made_from.as_ref();
        }
    }

    /// The toolset that the tool is a method of, if it has no value of it.
    pub(crate) fn missing_toolset(&self) -> Option<Need> {
        self.0.toolset
    }

    pub(crate) fn needs(&self) -> &'static [Need] {
        self.0.needs
    }

    /// The advertised name of an argument that may be given by an alias.
    #[doc(hidden)]
    pub fn argument_name<'a>(&self, given: &'a str) -> &'a str {
        let has = |parameter: &&Parameter| parameter.aliases.contains(&given);
        self.0.parameters.iter().find(has).map_or(given, |parameter| parameter.name)
    }

    /// The name and the kind of the argument that patterns of declarations are about:
    /// `Bash(git *)`, say.
    ///
    /// ```
    /// use tool_runtime::matching::MatchAs;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Fetch a page.
    /// #[tool(read_only)]
    /// async fn fetch(
    ///     /// The address.
    ///     #[arg(match_as = "url")]
    ///     url: String,
    /// ) {
    /// }
    ///
    /// let fetch = Tool::from_action::<FetchAction>();
    /// assert_eq!(fetch.matched_argument(), Some(("url", MatchAs::Url)));
    /// ```
    pub fn matched_argument(&self) -> Option<(&str, MatchAs)> {
        self.matched().map(|matched| (matched.name.as_str(), matched.kind))
    }

    pub(crate) fn matched(&self) -> Option<&MatchedArgument> {
        self.0.matched.as_deref()
    }

    /// The tool's name at its MCP server, if it belongs to one.
    pub(crate) fn remote_name(&self) -> Option<&RemoteName> {
        self.0.remote_name.as_deref()
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.0.parameters
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        self.0.origin
    }

    /// Whether arguments are decoded to an action before the tool runs.
    pub(crate) fn has_action(&self) -> bool {
        self.0.action.is_some()
    }

    fn action(&self) -> Option<TypeId> {
        self.0.action.as_ref().map(|(action, _)| *action)
    }

    /// Whether both are the same tool, independent of their sources.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_action = self.action().is_some() && self.action() == other.action();
        let is_free = self.0.values.is_none() && other.0.values.is_none();
        same_action && is_free || Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both are clones of one tool.
    pub(crate) fn is_one(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The name before all transforms.
    pub(crate) fn first_name(&self) -> &str {
        self.made_from().map_or_else(|| self.name(), Self::first_name)
    }

    /// Whether both are the same method, of different values.
    pub(crate) fn is_same_method(&self, other: &Self) -> bool {
        let same_action = self.action().is_some() && self.action() == other.action();
        same_action && self.0.values.is_some() && other.0.values.is_some()
    }

    /// Sets the source location.
    pub(crate) fn at(mut self, origin: Origin) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.origin = Some(origin);
        }
        self
    }

    /// Sets the directory at which relative paths in `file:` keys of its calls begin, for tools whose files are
    /// somewhere else than in the current directory of the process. Without effect on a tool that is in a pool already.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Read a file of the project.
    /// #[tool(reads("file:{path}"))]
    /// async fn read(
    ///     /// Path of the file.
    ///     path: String,
    /// ) -> String {
    ///     path
    /// }
    ///
    /// let tool = Tool::from_action::<ReadAction>().resolve_keys_in("/srv/project");
    /// let pool = ToolPool::builder().add(tool).build()?;
    /// # let _ = pool;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn resolve_keys_in(mut self, directory: impl Into<PathBuf>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.directory = Some(directory.into().into());
        }
        self
    }

    /// Sets the text that shows a call of these arguments to people, for one that depends on more than the arguments, such as
    /// the file that a call replaces. `None` for the tool's own text. Nothing changes once the tool was cloned.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let clear = Tool::builder("clear", "Remove all notes.").handler(|| async { "removed" });
    /// let clear = clear.shown_by(|_, _| Some("Remove 3 notes".to_owned()));
    /// assert_eq!(clear.visualize("{}"), "Remove 3 notes");
    /// ```
    #[must_use]
    pub fn shown_by(
        mut self,
        show: impl Fn(&str, &ToolContext) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.show = Some(Box::new(show));
        }
        self
    }

    /// Sets whether calls change nothing, for a tool of which this depends on the program. Nothing changes once the tool was
    /// cloned.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let check = Tool::builder("check", "Run the linter.").read_only(true).handler(|| async { "fine" });
    /// let check = check.with_read_only(false);
    /// assert!(!check.definition().annotations.is_read_only());
    /// ```
    #[must_use]
    pub fn with_read_only(mut self, hint: bool) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            Arc::make_mut(&mut parts.definition).annotations.read_only_hint = Some(hint);
        }
        self
    }

    /// Adds what the tool needs beside its pool. A [missing](Requirement::missing) requirement hides the tool, and the
    /// pool's report shows all. Nothing changes once the tool was cloned.
    ///
    /// ```
    /// use tool_runtime::tool::Requirement;
    /// use tool_runtime::prelude::*;
    ///
    /// let fetch = Tool::builder("fetch", "Fetch commits.").handler(|| async { "fetched" });
    /// let fetch = fetch.requires([Requirement::met("git", "/usr/bin/git")]);
    /// assert_eq!(fetch.requirements()[0].to_string(), "needs `git`: /usr/bin/git");
    /// ```
    #[must_use]
    pub fn requires(mut self, requirements: impl IntoIterator<Item = Requirement>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.requirements.extend(requirements);
        }
        self
    }

    /// Sets the argument that patterns are about.
    pub(crate) fn with_matched(mut self, matched: Option<MatchedArgument>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.matched = matched.map(Box::new);
        }
        self
    }

    /// Sets the tool's own time limit.
    pub(crate) fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.timeout = timeout;
        }
        self
    }
}

/// The argument of an action that patterns are about.
fn matched(parameters: &[Parameter]) -> Option<Box<MatchedArgument>> {
    let of = |parameter: &Parameter| {
        let mut matched = MatchedArgument::new(parameter.name, parameter.match_as?);
        matched.aliases.extend(parameter.aliases.iter().map(|alias| (*alias).to_owned()));
        Some(Box::new(matched))
    };
    parameters.iter().find_map(of)
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}
