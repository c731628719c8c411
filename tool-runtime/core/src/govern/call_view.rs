//! A call as policies, limiters and recorders see it.

use super::risk::Risk;
use crate::govern::hook::PooledTool;
use crate::tool::arguments::repair::Repair;
use crate::tool::arguments::{Arguments, EffectiveArgument, EffectiveArguments};
use crate::tool::concurrency::access::Access;
use crate::tool::context::{SessionId, StepId, ToolContext};
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::source::Source;
use crate::vocabulary::annotations::{RetryMode, ToolAnnotations};
use crate::vocabulary::principal::Principal;
use crate::vocabulary::unique_keys::unique_value;
use compact_str::CompactString;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The beginning of the name of a call that reads a resource; the URI follows. No tool has a `:` in its name.
pub const RESOURCES: &str = "resources:";

/// The beginning of the name of a call that gets a prompt; the name of the prompt follows.
pub const PROMPTS: &str = "prompts:";

/// The number of a call, unique within this process. Numbers grow in the order in which calls arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallNumber(pub(crate) NonZeroU64);

impl CallNumber {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NonZeroU64::new(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap_or(NonZeroU64::MAX))
    }

    /// The number itself.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call as policies, limiters and recorders see it, and hooks by
/// [`HookCall::view`](crate::govern::hook::HookCall::view).
///
/// ```
/// use tool_runtime::govern::{CallView, Decision, PolicyEngine};
///
/// struct NoSecrets;
///
/// impl PolicyEngine for NoSecrets {
///     fn decide(&self, call: &CallView<'_>) -> Decision {
///         match call.argument("path").and_then(|path| path.as_str()) {
///             Some(path) if path.ends_with(".pem") => Decision::deny("`path` must not be a key"),
///             _ => Decision::allow(),
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct CallView<'a> {
    name: &'a str,
    found: Option<&'a PooledTool>,
    details: &'a CallDetails,
}

/// The owned part of a view.
#[derive(Clone)]
pub(crate) struct CallDetails {
    pub(crate) number: CallNumber,
    pub(crate) step: Option<Arc<StepId>>,
    pub(crate) arguments: CallText,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) risk: Risk,
    pub(crate) summary: Option<String>,
    pub(crate) context: ToolContext,
}

/// The arguments of a call as text, and as a value that is parsed on first use.
#[derive(Clone, Debug)]
pub(crate) struct CallText {
    written: CompactString,
    /// The text without needless escapes, if it has some.
    unescaped: OnceLock<Option<Box<str>>>,
    value: OnceLock<Value>,
    effective: OnceLock<Arc<EffectiveArguments>>,
    /// What a call with them touches, if they were decoded.
    access: OnceLock<Arc<Access>>,
}

impl CallText {
    pub(crate) fn new(arguments: &str) -> Self {
        let written = Arguments::new(arguments).as_str().into();
        Self {
            written,
            unescaped: OnceLock::new(),
            value: OnceLock::new(),
            effective: OnceLock::new(),
            access: OnceLock::new(),
        }
    }

    /// The arguments without needless escapes, so that code that searches the text finds a word in any spelling. A text
    /// with duplicate keys stays as it is: a value would have one of them only.
    pub(crate) fn as_str(&self) -> &str {
        if !self.written.contains('\\') {
            return &self.written;
        }
        let unescape = || unique_value(&self.written).map(|value| value.to_string().into());
        self.unescaped.get_or_init(unescape).as_deref().unwrap_or(&self.written)
    }

    /// The arguments as the tool gets them: a value may not hold every number of the text.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    fn value(&self) -> &Value {
        self.value.get_or_init(|| serde_json::from_str(self.as_str()).unwrap_or_default())
    }

    /// Notes what a call with these arguments touches.
    pub(crate) fn set_access(&self, access: &Access) {
        if access.is_declared() {
            self.access.get_or_init(|| Arc::new(access.clone()));
        }
    }

    /// Notes that a call with these arguments touches something else.
    pub(crate) fn replace_access(&mut self, access: Access) {
        self.access = Arc::new(access).into();
    }

    fn effective(&self, tool: Option<&Tool>) -> &EffectiveArguments {
        self.effective.get_or_init(|| Arc::new(EffectiveArguments::new(&self.written, tool)))
    }
}

impl CallDetails {
    /// Inline: it is large, and every call with hooks makes one.
    #[inline]
    pub(crate) fn new(
        name: &str,
        arguments: &str,
        tool: Option<&Tool>,
        mut context: ToolContext,
    ) -> Self {
        let step = context
            .take_step()
            .or_else(|| Some(context.execution()?.next_step(name, arguments)))
            .or_else(|| tool?.new_step());
        Self { step: step.map(Arc::new), ..Self::without_step(arguments, context) }
    }

    /// A call that is not a step, and runs again when its execution is repeated.
    pub(crate) fn without_step(arguments: &str, context: ToolContext) -> Self {
        Self {
            number: CallNumber::next(),
            step: None,
            arguments: CallText::new(arguments),
            repairs: Vec::new(),
            risk: Risk::Unknown,
            summary: None,
            context: context.without_step(),
        }
    }
}

impl<'a> CallView<'a> {
    pub(crate) fn new(
        name: &'a str,
        found: Option<&'a PooledTool>,
        details: &'a CallDetails,
    ) -> Self {
        Self { name, found, details }
    }

    /// The tool's id. Of a call of an unknown tool, the name as it was given. Of a resource that is read
    /// `resources:URI`, and of a prompt `prompts:NAME`: their definitions are those of tools that only read.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The definition of the tool, as clients see it. `None` for a call of an unknown tool, which is
    /// recorded and never decided about.
    pub fn definition(&self) -> Option<&'a ToolDefinition> {
        self.tool().map(Tool::definition)
    }

    /// The tool. `None` for a call of an unknown tool.
    pub fn tool(&self) -> Option<&'a Tool> {
        self.found.map(PooledTool::tool)
    }

    /// Whether the call may run again if its outcome is unknown: as the tool's
    /// [`retry_mode`](crate::tool::ToolDefinition::retry_mode) says, or else its hints.
    pub fn retry_mode(&self) -> RetryMode {
        let stated = self.definition().and_then(|definition| definition.retry_mode);
        stated.unwrap_or_else(|| RetryMode::from_annotations(&self.annotations()))
    }

    /// The hints of the tool that decisions may rely on: MCP's defaults, which are the dangerous ones,
    /// if their source is not trusted.
    pub fn annotations(&self) -> Cow<'a, ToolAnnotations> {
        self.definition().map(ToolDefinition::effective_annotations).unwrap_or_default()
    }

    /// Whether the source of the tool's hints is trusted.
    pub fn is_trusted(&self) -> bool {
        self.definition().is_some_and(|definition| !definition.untrusted_annotations)
    }

    /// The origin of the tool. `None` for a call of an unknown tool.
    pub fn source(&self) -> Option<&'a Source> {
        self.found.map(PooledTool::source)
    }

    /// The arguments as JSON text, with escapes normalised, after all changes up to now. Includes
    /// secrets: what is stored or shown uses [`Self::masked_arguments`].
    pub fn arguments(&self) -> &'a str {
        self.details.arguments.as_str()
    }

    /// The arguments as JSON text, with the [secrets](crate::pool::ToolPoolBuilder::secrets) of the pool masked.
    /// Arguments that the tool's schema marks as secret are in it.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::govern::{CallEvent, Receipt, Recorder};
    /// use tool_runtime::secret::Secrets;
    ///
    /// struct Print;
    ///
    /// impl Recorder for Print {
    ///     fn record(&self, event: CallEvent<'_>) -> Receipt {
    ///         println!("{} {}", event.call.name(), event.call.masked_arguments());
    /// #       assert!(!event.call.masked_arguments().contains("8fQm2x1v"));
    ///         Receipt::recorded()
    ///     }
    /// }
    ///
    /// let secrets = Secrets::new().with("TOKEN", "8fQm2x1v");
    /// let pool = ToolPool::builder().allow_empty().secrets(secrets).recorder(Print).build()?;
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// pool.call(ToolCall::new("login", r#"{ "token": "8fQm2x1v" }"#)).await;
    /// # });
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn masked_arguments(&self) -> Cow<'a, str> {
        let (text, Some(mask)) = (self.arguments(), self.context().mask()) else {
            return self.arguments().into();
        };
        match mask.text(text) {
            Cow::Owned(masked) => Cow::Owned(match serde_json::from_str::<Value>(text) {
                // A number that is a secret becomes a string, so that the whole stays JSON.
                Ok(mut value) => {
                    mask.value(&mut value);
                    value.to_string()
                }
                Err(_) => masked,
            }),
            unchanged => unchanged,
        }
    }

    /// A text about the call, with the [secrets](crate::pool::ToolPoolBuilder::secrets) of the pool masked: a
    /// reason, a summary, a value of an argument.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.context().mask().map_or(Cow::Borrowed(text), |mask| mask.text(text))
    }

    /// The arguments as a value, parsed once. `null` if they are not JSON.
    pub fn arguments_value(&self) -> &'a Value {
        self.details.arguments.value()
    }

    /// One argument as the tool gets it: by its advertised name, also if the model gave it by an alias, with defaults
    /// filled in at every depth. `None` if it is absent or null, and if its value is uncertain: it is given by two names, also by
    /// one that differs only in case and that the schema does not list, it
    /// has a default and the call has a name that the schema does not list, which may stand for it, or the arguments are
    /// not an object or have a key twice. An engine that denies by a value denies `None` as well.
    pub fn argument(&self, name: &str) -> Option<&'a Value> {
        match self.effective_arguments().get(name) {
            EffectiveArgument::Given(value) => Some(value),
            _ => None,
        }
    }

    /// The resources that the call touches, as its tool declares them. `None` if it does not declare them, and while
    /// the arguments are not known to be valid.
    pub fn access(&self) -> Option<&'a Access> {
        self.details.arguments.access.get().map(|access| &**access)
    }

    /// The arguments as the tool gets them.
    #[doc(hidden)]
    pub fn effective_arguments(&self) -> &'a EffectiveArguments {
        self.details.arguments.effective(self.tool())
    }

    /// The advertised name of an argument that may be given by an alias.
    pub fn argument_name<'n>(&self, given: &'n str) -> &'n str {
        self.tool().map_or(given, |tool| tool.argument_name(given))
    }

    /// The risk, as the model judges it. Always [`Risk::Unknown`] without
    /// [`meta_parameters`](crate::pool::ToolPoolBuilder::meta_parameters).
    pub fn risk(&self) -> Risk {
        self.details.risk
    }

    /// The purpose of the call in the words of the model, if it gave one.
    pub fn summary(&self) -> Option<&'a str> {
        self.details.summary.as_deref()
    }

    /// The corrections of what the model wrote, which the arguments have already.
    pub fn repairs(&self) -> &'a [Repair] {
        &self.details.repairs
    }

    /// The caller.
    pub fn principal(&self) -> &'a Principal {
        self.details.context.principal()
    }

    /// The session that the call belongs to.
    pub fn session(&self) -> Option<&'a SessionId> {
        self.details.context.session()
    }

    /// The number of the call.
    pub fn number(&self) -> CallNumber {
        self.details.number
    }

    /// The number of the call whose tool made this one.
    pub fn parent(&self) -> Option<CallNumber> {
        self.details.context.call_number().map(CallNumber)
    }

    /// The id that the caller gave the call.
    pub fn call_id(&self) -> Option<&'a str> {
        self.details.context.call_id()
    }

    /// The id of the call: in its [`Execution`](crate::tool::Execution) if it is part of one, or made elsewhere, or random if
    /// its tool runs in another process, which can be asked about the call again. `None` for other calls.
    pub fn step(&self) -> Option<&'a StepId> {
        self.details.step.as_deref()
    }

    /// The id of the call in its execution, if it is part of one: it has the same id when the execution is repeated.
    pub(crate) fn repeatable_step(&self) -> Option<&'a StepId> {
        self.step().filter(|_| self.context().execution().is_some())
    }

    /// The number of the attempt of the execution, from 1.
    pub fn attempt(&self) -> u32 {
        self.details.context.execution().map_or(1, |execution| execution.attempt())
    }

    /// The context of the call: the pool's state, values that hooks provided, the deadline.
    pub fn context(&self) -> &'a ToolContext {
        &self.details.context
    }
}

/// Omits the arguments, which may be secret.
impl fmt::Debug for CallView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallView")
            .field("number", &self.number())
            .field("name", &self.name())
            .field("source", &self.source())
            .field("risk", &self.risk())
            .field("call_id", &self.call_id())
            .finish_non_exhaustive()
    }
}
