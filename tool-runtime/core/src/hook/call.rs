//! The call that a hook sees.

use crate::arguments::{Arguments, DecodeError};
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::error::CallError;
use crate::matching::CallRule;
use crate::repair::Repair;
use crate::tool::Tool;
use compact_str::CompactString;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The call that a hook receives, with the changes of the hooks before it. Cheap to clone.
///
/// ```
/// use tool_runtime::{Before, Hook, HookCall};
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
    tool: Tool,
    /// Stored inline if short, which most arguments are.
    arguments: CompactString,
    context: ToolContext,
    repairs: Vec<Repair>,
    rule: Option<Arc<dyn CallRule>>,
}

impl HookCall {
    /// A call before any hook; empty text means no arguments.
    pub(crate) fn new(tool: Tool, arguments: &str, context: ToolContext) -> Self {
        Self(Arc::new(Parts {
            tool,
            arguments: normalize(arguments),
            context,
            repairs: Vec::new(),
            rule: None,
        }))
    }

    /// Sets the rule about the arguments that a restriction makes.
    pub(crate) fn ruled(mut self, rule: Option<&Arc<dyn CallRule>>) -> Self {
        if let Some(rule) = rule {
            Arc::make_mut(&mut self.0).rule = Some(Arc::clone(rule));
        }
        self
    }

    /// Checks the arguments by the rule of a restriction.
    pub(super) fn check_rule(&self) -> Result<(), CallError> {
        self.0.rule.as_ref().map_or(Ok(()), |rule| rule.check(&self.0.arguments))
    }

    /// The tool's id.
    pub fn name(&self) -> &str {
        self.0.tool.name()
    }

    /// The arguments as JSON text, as rewritten by earlier hooks, with escapes normalised. Includes secret
    /// arguments.
    pub fn arguments(&self) -> &str {
        &self.0.arguments
    }

    /// Deserializes the arguments.
    ///
    /// # Errors
    /// The arguments do not match `T`. A hook that returns this error with `?` fails.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        Arguments::new(&self.0.arguments).parse()
    }

    /// The call's id, as its caller gave it.
    pub fn call_id(&self) -> Option<&str> {
        self.0.context.call_id()
    }

    /// The definition of the tool, as clients see it.
    pub fn definition(&self) -> &ToolDefinition {
        self.0.tool.definition()
    }

    /// The context of the call: the pool's state, values that hooks provided so far, the deadline.
    pub fn context(&self) -> &ToolContext {
        &self.0.context
    }

    pub(crate) fn tool(&self) -> &Tool {
        &self.0.tool
    }

    /// The text that shows the call to a person.
    pub(super) fn visualize(&self) -> String {
        self.0.tool.visualize(&self.0.arguments)
    }

    pub(crate) fn rewritten(&self, arguments: &str) -> Self {
        let call = Self::new(self.0.tool.clone(), arguments, self.0.context.clone());
        call.ruled(self.0.rule.as_ref())
    }

    /// The corrections of what the model wrote, which the arguments have already.
    pub fn repairs(&self) -> &[Repair] {
        &self.0.repairs
    }

    pub(crate) fn repaired(mut self, repairs: &[Repair]) -> Self {
        if !repairs.is_empty() {
            Arc::make_mut(&mut self.0).repairs = repairs.to_vec();
        }
        self
    }

    pub(super) fn context_mut(&mut self) -> &mut ToolContext {
        &mut Arc::make_mut(&mut self.0).context
    }
}

/// Removes needless escapes, so that a hook that searches the text finds a word in any spelling.
fn normalize(arguments: &str) -> CompactString {
    let text = Arguments::new(arguments).as_str();
    if text.contains('\\')
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        return value.to_string().into();
    }
    text.into()
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
