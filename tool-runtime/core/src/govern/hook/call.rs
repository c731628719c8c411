//! The call that a hook sees.

use super::PooledTool;
use crate::govern::{CallDetails, CallText, CallView, MetaArguments, Risk};
use crate::tool::arguments::repair::Repair;
use crate::tool::arguments::{Arguments, DecodeError};
use crate::tool::concurrency::access::Access;
use crate::tool::context::{StepId, ToolContext};
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The call that a hook receives, with the changes of the hooks before it. Cheap to clone.
///
/// ```
/// use tool_runtime::hook::{Before, Hook, HookCall};
///
/// let hook = Hook::before("*", |call: HookCall| async move {
///     if call.definition().effective_annotations().is_read_only() {
///         return Before::proceed();
///     }
///     Before::ask(format!("Let {} change something?", call.name()))
/// });
/// # let _ = hook;
/// ```
#[derive(Clone)]
pub struct HookCall(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    found: PooledTool,
    details: CallDetails,
}

impl HookCall {
    /// A call before any hook; empty text means no arguments.
    pub(crate) fn new(found: PooledTool, arguments: &str, context: ToolContext) -> Self {
        let details = match found.is_offering() {
            false => CallDetails::new(found.tool().name(), arguments, Some(found.tool()), context),
            true => CallDetails::without_step(arguments, context),
        };
        Self(Arc::new(Parts { found, details }))
    }

    /// Everything that is known of the call: its origin, risk, session, number.
    pub fn view(&self) -> CallView<'_> {
        CallView::new(self.name(), Some(&self.0.found), &self.0.details)
    }

    /// The tool's id.
    pub fn name(&self) -> &str {
        self.tool().name()
    }

    /// The arguments as JSON text, as rewritten by earlier hooks, with escapes normalised. Includes secret
    /// arguments.
    pub fn arguments(&self) -> &str {
        self.0.details.arguments.as_str()
    }

    /// The arguments as they were written, which run.
    pub(crate) fn written(&self) -> &str {
        self.0.details.arguments.written()
    }

    /// Notes what the call touches.
    pub(crate) fn set_access(&self, access: &Access) {
        self.0.details.arguments.set_access(access);
    }

    /// Deserializes the arguments.
    ///
    /// # Errors
    /// The arguments do not match `T`. A hook that returns this error with `?` fails.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        Arguments::new(self.arguments()).parse()
    }

    /// The call's id, as its caller gave it.
    pub fn call_id(&self) -> Option<&str> {
        self.0.details.context.call_id()
    }

    /// The definition of the tool, as clients see it.
    pub fn definition(&self) -> &ToolDefinition {
        self.tool().definition()
    }

    /// The context of the call: the pool's state, values that hooks provided so far, the deadline.
    pub fn context(&self) -> &ToolContext {
        &self.0.details.context
    }

    pub(crate) fn tool(&self) -> &Tool {
        self.0.found.tool()
    }

    pub(crate) fn pooled_tool(&self) -> &PooledTool {
        &self.0.found
    }

    /// The text that shows the call to a person, if the tool has its own.
    pub(crate) fn own_text(&self) -> Option<String> {
        self.tool().own_text(self.arguments(), self.context())
    }

    /// The call with other arguments.
    pub(crate) fn rewritten(&self, arguments: &str) -> Self {
        let mut call = self.clone();
        call.details_mut().arguments = CallText::new(arguments);
        call
    }

    /// The call as one that reads this file alone.
    pub(crate) fn reading(&self, path: &Path, is_resolved: bool) -> Self {
        let key = format!("file:{}", path.display());
        let access = match is_resolved {
            true => Access::none().read_resolved(key),
            false => self.tool().in_its_directory(|| Access::none().read(key)),
        };
        let mut call = self.clone();
        call.details_mut().arguments.replace_access(access);
        call
    }

    /// The corrections of what the model wrote, which the arguments have already.
    pub fn repairs(&self) -> &[Repair] {
        &self.0.details.repairs
    }

    /// The risk, as the model judges it. Always [`Risk::Unknown`] without
    /// [`meta_parameters`](crate::pool::ToolPoolBuilder::meta_parameters).
    pub fn risk(&self) -> Risk {
        self.0.details.risk
    }

    /// The purpose of the call in the words of the model, if it gave one.
    pub fn summary(&self) -> Option<&str> {
        self.0.details.summary.as_deref()
    }

    /// The call with its meta parameters.
    pub(crate) fn with_meta(mut self, meta: MetaArguments) -> Self {
        let details = self.details_mut();
        (details.risk, details.summary) = (meta.risk, meta.summary);
        self
    }

    /// The call with more corrections, which its arguments have already.
    pub(crate) fn repaired(mut self, repairs: Vec<Repair>) -> Self {
        if !repairs.is_empty() {
            self.details_mut().repairs.extend(repairs);
        }
        self
    }

    /// The step that the call is, if it is one.
    pub(crate) fn step(&self) -> Option<&Arc<StepId>> {
        self.0.details.step.as_ref()
    }

    pub(crate) fn context_mut(&mut self) -> &mut ToolContext {
        &mut self.details_mut().context
    }

    /// Takes the identity of the same call in an earlier round.
    pub(crate) fn continue_from(&mut self, earlier: &Self) {
        let (number, step) = (earlier.0.details.number, earlier.0.details.step.clone());
        let details = self.details_mut();
        (details.number, details.step) = (number, step);
    }

    fn details_mut(&mut self) -> &mut CallDetails {
        &mut Arc::make_mut(&mut self.0).details
    }
}

/// Omits the arguments, which may be secret.
impl fmt::Debug for HookCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCall")
            .field("name", &self.name())
            .field("call_id", &self.call_id())
            .finish_non_exhaustive()
    }
}
