//! Stage two: checks the scopes of the caller.

use crate::error::{CallError, ErrorClass};
use crate::principal::Principal;
use crate::tool::Tool;

/// # Errors
/// [`ErrorClass::Denied`] if the caller lacks scopes of the tool.
pub(super) fn check_scopes(tool: &Tool, principal: &Principal) -> Result<(), CallError> {
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
