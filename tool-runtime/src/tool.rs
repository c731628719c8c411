//! A definition and what executes it; after that nobody can tell what it was made from.

mod action_executor;
mod builder;
mod handler;

pub use builder::ToolBuilder;
pub use handler::Handler;

use crate::action::Action;
use crate::arguments::Arguments;
use crate::context::{Need, ToolContext};
use crate::definition::ToolDefinition;
use crate::error::CallError;
use crate::observation::Observation;
use crate::parameter::{Parameter, Settings};
use action_executor::ActionExecutor;
use std::any::TypeId;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What executes calls of one tool.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{Arguments, BoxFuture, CallError, Executor};
///
/// struct Echo;
///
/// impl Executor for Echo {
///     fn call<'a>(
///         &'a self,
///         arguments: Arguments<'a>,
///         _: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<Observation, CallError>> {
///         Box::pin(async move { Ok(Observation::text(arguments.as_str())) })
///     }
/// }
///
/// let definition = ToolDefinition::new("echo", "Give the arguments back.");
/// let tool = Tool::new(definition, Echo);
/// assert_eq!(tool.definition().name, "echo");
/// ```
pub trait Executor: Send + Sync + 'static {
    /// Runs one call. Dropping the future cancels it.
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>>;

    /// How a call shows itself to a person. Default: `None`, which shows name and arguments.
    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        let _ = arguments;
        None
    }
}

/// A definition and what executes it. Cheap to clone.
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
    definition: ToolDefinition,
    executor: Box<dyn Executor>,
    needs: &'static [Need],
    parameters: &'static [Parameter],
    timeout: Option<Duration>,
    action: Option<TypeId>,
    origin: Option<Origin>,
}

/// Where in the source a linked tool was written.
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
    /// From a definition and any executor, which checks its arguments itself.
    pub fn new(definition: ToolDefinition, executor: impl Executor) -> Self {
        Self(Arc::new(Parts {
            definition,
            executor: Box::new(executor),
            needs: &[],
            parameters: &[],
            timeout: None,
            action: None,
            origin: None,
        }))
    }

    /// From an action.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// /// Answer at once.
    /// #[tool]
    /// async fn ping() -> &'static str { "pong" }
    ///
    /// assert_eq!(Tool::of::<PingAction>().name(), "ping");
    /// ```
    pub fn of<A: Action>() -> Self {
        let (definition, settings) = (A::definition(), A::settings());
        let executor = ActionExecutor::new::<A>(&definition);
        Self::assembled(definition, &settings, executor, TypeId::of::<A>())
    }

    fn assembled(
        definition: ToolDefinition,
        settings: &Settings,
        executor: ActionExecutor,
        action: TypeId,
    ) -> Self {
        Self(Arc::new(Parts {
            definition,
            executor: Box::new(executor),
            needs: settings.needs,
            parameters: settings.parameters,
            timeout: settings.timeout,
            action: Some(action),
            origin: None,
        }))
    }

    /// Starts a tool from a closure.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> ToolBuilder {
        ToolBuilder::new(name, description)
    }

    /// Everything that a model or client may know of it.
    pub fn definition(&self) -> &ToolDefinition {
        &self.0.definition
    }

    /// Its id.
    pub fn name(&self) -> &str {
        &self.0.definition.name
    }

    /// Its own time limit. Default: the pool's.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// How a call shows itself to a person: what the tool says, else name and arguments.
    pub fn visualize(&self, arguments: &str) -> String {
        let arguments = Arguments::new(arguments);
        // What a tool says of itself may panic as everything of a user's may.
        let own = catch_unwind(AssertUnwindSafe(|| self.0.executor.visualize(arguments)));
        own.ok().flatten().unwrap_or_else(|| format!("{}({})", self.name(), arguments.as_str()))
    }

    pub(crate) fn executor(&self) -> &dyn Executor {
        &*self.0.executor
    }

    pub(crate) fn needs(&self) -> &'static [Need] {
        self.0.needs
    }

    /// The advertised name of an argument that may be given by an alias.
    #[cfg_attr(not(feature = "cli"), allow(dead_code))]
    pub(crate) fn argument_name<'a>(&self, given: &'a str) -> &'a str {
        let has = |parameter: &&Parameter| parameter.aliases.contains(&given);
        self.0.parameters.iter().find(has).map_or(given, |parameter| parameter.name)
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        self.0.origin
    }

    /// Whether it was made from action `A`.
    pub(crate) fn is<A: Action>(&self) -> bool {
        self.0.action == Some(TypeId::of::<A>())
    }

    /// Whether both are one and the same tool, however they were found.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_action = self.0.action.is_some() && self.0.action == other.0.action;
        same_action || Arc::ptr_eq(&self.0, &other.0)
    }

    /// Says where in the source it was written.
    #[cfg_attr(not(feature = "linked"), allow(dead_code))]
    pub(crate) fn at(mut self, origin: Origin) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.origin = Some(origin);
        }
        self
    }

    fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.timeout = timeout;
        }
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}
