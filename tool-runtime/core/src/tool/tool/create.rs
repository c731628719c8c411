//! Tools from actions, closures, executors and other tools.

use super::action::Action;
use super::action_executor::{ActionExecutor, ActionParts};
use super::definition::ToolDefinition;
use super::executor::Executor;
use super::lifecycle::{ExecutorLifecycle, Unusable};
use super::{Parts, RemoteName, Tool, ToolBuilder};
use crate::schema;
use crate::tool::arguments::parameter::Parameter;
use crate::tool::context::StepId;
use crate::tool::toolset::Values;
use crate::vocabulary::matching::MatchedArgument;
use std::any::TypeId;
use std::sync::Arc;

impl Tool {
    /// Creates a tool from a definition and an executor, which checks the arguments itself.
    pub fn new(mut definition: ToolDefinition, executor: impl Executor) -> Self {
        let output = definition.output_schema.as_ref();
        let problem = output.and_then(|output| schema::problem(output, "output"));
        definition.problems.extend(problem);
        Self::from_executor(Arc::new(definition), executor)
    }

    fn from_executor(definition: Arc<ToolDefinition>, executor: impl Executor) -> Self {
        Self::from_parts(Parts::new(definition, ExecutorLifecycle::new(Arc::new(executor))))
    }

    fn from_parts(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Creates a tool for an MCP server's tool. The client checks results on arrival, and the executor
    /// enforces its own timeout.
    #[doc(hidden)]
    pub fn foreign(
        definition: Arc<ToolDefinition>,
        executor: impl Executor,
        server: &str,
        name: &str,
    ) -> Self {
        let remote = RemoteName { server: server.to_owned(), tool: name.to_owned() };
        Self::from_handler(definition, executor, false).with(|parts| {
            parts.enforces_timeout = true;
            parts.remote_name = Some(Box::new(remote));
        })
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
        Self::from_executor(definition, executor).with(|parts| {
            parts.declares_access = false;
            parts.enforces_timeout = true;
            parts.new_step = Some(new_step);
        })
    }

    /// Creates a tool from a closure, which has no `interrupt` and whose results fit their schema.
    pub(super) fn from_handler(
        definition: impl Into<Arc<ToolDefinition>>,
        executor: impl Executor,
        declares_access: bool,
    ) -> Self {
        Self::from_executor(definition.into(), executor).with(|parts| {
            parts.declares_access = declares_access;
            parts.is_custom = false;
        })
    }

    /// Creates a tool that is hidden. The pool's report shows the reason.
    pub(crate) fn unusable(definition: ToolDefinition, reason: &str) -> Self {
        Self::new(definition, Unusable(reason.to_owned()))
    }

    /// Creates a tool that runs another one, with that tool's values, needs and limits. Closing the
    /// new tool closes the other one.
    pub(crate) fn from_tool(
        original: &Self,
        definition: Arc<ToolDefinition>,
        executor: impl Executor,
        matched: Option<MatchedArgument>,
    ) -> Self {
        let parts = &*original.0;
        let lifecycle = ExecutorLifecycle::without_close(Arc::new(executor));
        Self::from_parts(Parts {
            values: parts.values.clone(),
            needs: parts.needs,
            toolset: parts.toolset,
            timeout: parts.timeout,
            origin: parts.origin,
            matched: matched.map(Box::new),
            remote_name: parts.remote_name.clone(),
            requirements: parts.requirements.clone(),
            declares_access: parts.declares_access,
            checks_files: parts.checks_files,
            directory: parts.directory.clone(),
            is_custom: parts.is_custom,
            enforces_timeout: parts.enforces_timeout,
            new_step: parts.new_step,
            made_from: Some(original.clone()),
            ..Parts::new(definition, lifecycle)
        })
    }

    /// Creates a tool from an action that is a method of `values`.
    pub(crate) fn from_method<A: Action>(values: Values, name: String) -> Self {
        let parts = ActionParts::from_action::<A>().with_name(name);
        let tool = Self::from_action_parts(&parts, TypeId::of::<A>(), A::ACCESS.is_some());
        tool.with(|parts| {
            parts.values = Some(values);
            parts.toolset = None;
        })
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
        let parts = ActionParts::from_action::<A>();
        Self::from_action_parts(&parts, TypeId::of::<A>(), A::ACCESS.is_some())
    }

    fn from_action_parts(parts: &ActionParts, action: TypeId, declares_access: bool) -> Self {
        let executor = Arc::new(ActionExecutor::new(parts));
        let (definition, settings) = (Arc::clone(executor.definition()), executor.settings());
        let lifecycle = ExecutorLifecycle::without_close(Arc::clone(&executor) as _);
        Self::from_parts(Parts {
            needs: settings.needs,
            toolset: settings.toolset,
            parameters: settings.parameters,
            timeout: settings.timeout,
            action: Some((action, executor)),
            matched: matched_argument(settings.parameters),
            declares_access,
            is_custom: false,
            ..Parts::new(definition, lifecycle)
        })
    }

    /// Starts a tool from a closure.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> ToolBuilder {
        ToolBuilder::new(name, description)
    }
}

/// The argument of an action that patterns are about.
fn matched_argument(parameters: &[Parameter]) -> Option<Box<MatchedArgument>> {
    let of = |parameter: &Parameter| {
        let mut matched = MatchedArgument::new(parameter.name, parameter.match_as?);
        matched.aliases.extend(parameter.aliases.iter().map(|alias| (*alias).to_owned()));
        Some(Box::new(matched))
    };
    parameters.iter().find_map(of)
}
