//! Methods that set the rules around calls.

use super::ToolPoolBuilder;
use crate::govern::approval::Approver;
use crate::govern::hook::Hook;
use crate::govern::limits::OutputLimits;
use crate::govern::{Limiter, MetaParameters, PolicyEngine, Recorder, StepStore};
#[cfg(feature = "tower")]
use crate::pool::Layers;
use crate::vocabulary::matching::pattern::{PatternError, ToolPattern};
use crate::vocabulary::matching::{ArgumentMatcher, MatchAs, MatchedArgument};
use std::sync::Arc;
use std::time::Duration;

impl<S> ToolPoolBuilder<S> {
    /// Limits the time of calls whose tool has no limit of its own. Default: no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.draft.governance.timeout = Some(timeout);
        self
    }
    /// Adds a hook: it runs before or after the calls that its pattern names, in the order in
    /// which hooks are added.
    pub fn hook(mut self, hook: Hook) -> Self {
        Arc::make_mut(&mut self.draft.governance.hooks).push(hook);
        self
    }

    /// Sets the approver, which is asked when a hook or a policy requires approval. Default:
    /// [`AskCaller`](crate::govern::AskCaller), a form for the user of the caller.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.draft.governance.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the approver unless one is set.
    #[doc(hidden)]
    pub fn default_approver(mut self, approver: impl Approver) -> Self {
        self.draft.governance.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Adds a policy, which decides about every call and hides tools from callers. Default: none.
    /// With several policies the strictest decision counts. Pools share a policy in an [`Arc`].
    pub fn policy(mut self, policy: impl PolicyEngine) -> Self {
        self.draft.governors().policies.push(Arc::new(policy));
        self
    }

    /// Sets the limiter, which enforces limits on calls. Default: none, and calls to which a policy
    /// sets limits are denied.
    pub fn limiter(mut self, limiter: impl Limiter) -> Self {
        let is_repeated = self.draft.governors().limiter.replace(Arc::new(limiter)).is_some();
        self.draft.note_repeated(is_repeated, "limiter");
        self
    }

    /// Adds a recorder of all calls. Default: none.
    pub fn recorder(mut self, recorder: impl Recorder) -> Self {
        self.draft.governors().recorders.push(Arc::new(recorder));
        self
    }

    /// Sets the store of completed calls, for calls in an [`Execution`](crate::tool::Execution). Default:
    /// none, and every call runs.
    pub fn step_store(mut self, store: impl StepStore) -> Self {
        let is_repeated = self.draft.governors().steps.replace(Arc::new(store)).is_some();
        self.draft.note_repeated(is_repeated, "step_store");
        self
    }

    /// Limits the size of results. Default: no limit.
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.draft.governance.limits = Some(limits);
        self
    }

    /// Checks the structured results of all tools against their output schemas. Default: only
    /// of tools whose results do not have the type from which the schema was generated, and of tools whose
    /// schema has bounds, lengths or patterns besides the type.
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
    /// [its repairs](crate::govern::hook::HookCall::repairs); the result lists them in its metadata, under
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn repair(mut self) -> Self {
        self.draft.governance.repairs = true;
        // Schemas of external tools may contain patterns and formats.
        crate::schema::engine::enable();
        self
    }

    /// Adds a matcher of arguments, for the patterns of declarations such as `Bash(git *)`. It replaces an
    /// earlier one of its kind. Default: matchers of paths and URLs, and none of commands.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::matching::PathMatcher;
    ///
    /// let paths = PathMatcher::new().in_directory("/work");
    /// let pool = ToolPool::builder().argument_matcher(paths).allow_empty().build()?;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::matching::MatchAs;
    ///
    /// let pool = ToolPool::builder()
    ///     .match_argument("fetch.*", "url", MatchAs::Url)
    ///     .allow_empty()
    ///     .build()?;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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

    /// Adds parameters to the tools, with which a model describes a call besides its arguments. They
    /// stand first in every listed and exported schema and are optional. They are taken off a call
    /// before its arguments are validated; hooks, policies and records get them, the tool does not.
    /// A tool keeps its own parameter of such a name. Default: none.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::govern::{CallView, Decision, MetaParameters, PolicyEngine, Risk};
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn meta_parameters(mut self, parameters: MetaParameters) -> Self {
        self.draft.governance.meta_parameters = Some(parameters);
        self
    }

    /// Sets how many calls of one batch run concurrently. Default: 10.
    pub fn batch_limit(mut self, limit: usize) -> Self {
        self.draft.governance.batch_limit = limit.max(1);
        self
    }

    /// Wraps every call in the layers.
    #[cfg(feature = "tower")]
    pub(crate) fn map_layers(mut self, wrap: impl FnOnce(Option<Layers>) -> Layers) -> Self {
        self.draft.governance.layers = Some(wrap(self.draft.governance.layers.take()));
        self
    }
}
