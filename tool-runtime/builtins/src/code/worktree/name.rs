//! Names of worktrees, which name a directory and a branch.

use tool_runtime::ToolError;

/// The longest name.
const MAX_LENGTH: usize = 64;

/// Checks a name. What passes is a valid branch for git, the name of one directory on every system, and not an
/// option.
///
/// # Errors
/// The rule that the name breaks.
pub(super) fn check(name: &str) -> Result<(), ToolError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let reason = match name {
        "" => "is empty",
        _ if name.len() > MAX_LENGTH => "is longer than 64 characters",
        _ if !name.chars().all(is_plain) => {
            "has characters other than letters, digits, `-`, `_` and `.`"
        }
        _ if name.starts_with(['-', '.']) => "begins with `-` or `.`",
        _ if name.ends_with('.') || name.contains("..") => "has a `.` at its end, or two in a row",
        _ if name.to_ascii_lowercase().ends_with(".lock") => "ends with `.lock`",
        _ if name.eq_ignore_ascii_case("head") => "is reserved by git",
        _ => return Ok(()),
    };
    Err(ToolError::user(format!("the name {name:?} {reason}; write a name such as `fix-parser`")))
}
