//! Restrictions: the scopes that the caller needs, and the arguments that a scope of the pool lets through.

use crate::govern::hook::HookCall;
use crate::tool::tool::Tool;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::principal::Principal;

/// # Errors
/// [`ErrorClass::Denied`] if the caller lacks scopes of the tool.
pub(in crate::dispatch) fn check_scopes(
    tool: &Tool,
    principal: &Principal,
) -> Result<(), CallError> {
    if !tool.has_scopes() {
        return Ok(());
    }
    let missing: Vec<&str> = principal.missing_scopes(tool.definition()).collect();
    let text = match missing.as_slice() {
        [] => return Ok(()),
        [one] => format!("the scope `{one}`"),
        many => format!("the scopes `{}`", many.join("`, `")),
    };
    let text = format!("`{}` needs {text}, which the caller lacks", tool.name());
    Err(CallError::new(ErrorClass::Denied, text)
        .with_detail(format!("the principal is `{}`", principal.id())))
}

/// Checks the arguments by the rule of a restriction.
///
/// # Errors
/// [`ErrorClass::Denied`] if the restriction does not let them through.
pub(in crate::dispatch) fn check_rule(call: &HookCall) -> Result<(), CallError> {
    call.pooled_tool().rule().map_or(Ok(()), |rule| rule.check(call.written()))
}
