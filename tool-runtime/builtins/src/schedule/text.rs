//! The text of results and errors.

use tool_runtime::__seam;

/// The characters of an outcome that are stored.
pub(super) const MAX_OUTCOME: usize = 2000;

/// A question that names the nearest of some names.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = __seam::nearest(name, names, 1);
    near.first().map(|near| format!("did you mean `{near}`?"))
}

/// Whether a name of the model is short and has no control characters.
pub(super) fn is_name(name: &str, limit: usize) -> bool {
    !name.trim().is_empty() && name.chars().count() <= limit && !name.chars().any(char::is_control)
}
