//! A tool: its definition and its executor.
//!
//! | Module | Topic |
//! |---|---|
//! | `definition`, `source`, `requirement` | what clients see; where a tool comes from; what it needs beside its pool |
//! | `action`, `action_executor`, `registration` | what `#[tool]` generates, how it runs, its link-time registration |
//! | `executor`, `lifecycle` | what runs calls; interrupted by calls, closed once |
//! | `builder`, `handler` | tools from closures |
//! | `create`, `settings`, `identity`, `call` | methods of [`Tool`]: constructors, settings, equality, calls |
//! | `client_tools` | tools whose calls the host program executes later |
//! | [`transform`] | tools under another name, with other arguments |

pub(crate) mod action;
mod action_executor;
mod builder;
mod call;
pub(crate) mod client_tools;
mod create;
pub(crate) mod definition;
mod executor;
mod handler;
mod identity;
mod lifecycle;
pub(crate) mod registration;
mod requirement;
mod settings;
pub(crate) mod source;
pub mod transform;

pub use builder::ToolBuilder;
pub use executor::Executor;
pub use handler::Handler;
pub use requirement::{Requirement, RequirementState};

pub(crate) use action_executor::{DecodedAction, settle};
pub(crate) use call::DecodedCall;
pub(crate) use identity::{Origin, RemoteName};

use crate::tool::arguments::parameter::Parameter;
use crate::tool::context::{StepId, ToolContext};
use crate::tool::toolset::Values;
use crate::vocabulary::error::caught;
use crate::vocabulary::matching::{MatchAs, MatchedArgument};
use crate::vocabulary::need::Need;
use action_executor::ActionExecutor;
use definition::ToolDefinition;
use lifecycle::ExecutorLifecycle;
use std::any::TypeId;
use std::fmt;
use std::path::Path;
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
    /// Names by which models call the tool, besides its own.
    other_names: &'static [&'static str],
    timeout: Option<Duration>,
    /// The action type behind the tool, and the executor with its concrete type.
    action: Option<(TypeId, Arc<ActionExecutor>)>,
    origin: Option<Origin>,
    /// The argument that patterns of declarations are about.
    matched: Option<Box<MatchedArgument>>,
    /// The tool's name at its MCP server, if it belongs to one.
    remote_name: Option<Box<RemoteName>>,
    /// Requirements outside the pool.
    requirements: Vec<Requirement>,
    /// The reason why the tool is unusable, computed once.
    unusable: OnceLock<Option<String>>,
    /// Whether calls declare what they touch.
    declares_access: bool,
    /// Whether calls ask about each file that they read.
    checks_files: bool,
    /// The directory at which relative paths in keys begin. Default: that of the process.
    directory: Option<Arc<Path>>,
    /// Describes a call for people, instead of the executor.
    visualize: Option<Box<VisualizeCall>>,
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

impl Parts {
    /// The parts of a tool of a custom executor, without settings.
    fn new(definition: Arc<ToolDefinition>, lifecycle: ExecutorLifecycle) -> Self {
        Self {
            definition,
            lifecycle,
            values: None,
            needs: &[],
            toolset: None,
            parameters: &[],
            other_names: &[],
            timeout: None,
            action: None,
            origin: None,
            matched: None,
            remote_name: None,
            requirements: Vec::new(),
            unusable: OnceLock::new(),
            declares_access: true,
            checks_files: false,
            directory: None,
            visualize: None,
            is_custom: true,
            enforces_timeout: false,
            new_step: None,
            made_from: None,
        }
    }
}

/// The text that describes a call of these arguments, if there is one.
type VisualizeCall = dyn Fn(&str, &ToolContext) -> Option<String> + Send + Sync;

impl Tool {
    /// The definition that models and clients see.
    pub fn definition(&self) -> &ToolDefinition {
        &self.0.definition
    }

    /// The tool's id.
    pub fn name(&self) -> &str {
        &self.0.definition.name
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

    pub(crate) fn executor(&self) -> &dyn Executor {
        self.0.lifecycle.executor()
    }

    /// Whether a caller needs scopes.
    pub(crate) fn has_scopes(&self) -> bool {
        !self.0.definition.scopes.is_empty()
    }

    /// Whether calls take the governed path: they need a toolset value, an entry in the schedule, a check of scopes, or
    /// a notification when they are interrupted.
    pub(crate) fn is_governed(&self) -> bool {
        let parts = &*self.0;
        parts.values.is_some() || parts.declares_access || parts.is_custom || self.has_scopes()
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

    /// The requirements outside the pool that [`Self::requires`] has set.
    pub fn requirements(&self) -> &[Requirement] {
        &self.0.requirements
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
    pub fn argument_name<'a>(&self, key: &'a str) -> &'a str {
        let has = |parameter: &&Parameter| parameter.aliases.contains(&key);
        self.0.parameters.iter().find(has).map_or(key, |parameter| parameter.name)
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

    pub(crate) fn has_other_name(&self, name: &str) -> bool {
        self.0.other_names.contains(&name)
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.0.parameters
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}
