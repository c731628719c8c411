//! Variable syntax of other programs, which is not supported here.

/// The unsupported variable syntax in a string, if any, as the beginning of a sentence.
pub(super) fn syntax(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    // After the name of an option, as in `--root=$HOME/x`.
    let value = text.split_once('=').map_or("", |(_, value)| value);
    if [text, value].into_iter().any(is_of_shells) {
        Some("`$` and a name are")
    } else if [text, value].into_iter().any(is_of_windows) {
        Some("`%` around a name is")
    } else if text.replace("${", "").contains("{file:") {
        Some("`{file:..}` is")
    } else {
        None
    }
}

/// `$NAME`, alone or at the beginning of a path.
fn is_of_shells(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('$') else { return false };
    let end = rest.find(|c: char| !is_plain(c)).unwrap_or(rest.len());
    end > 0 && (end == rest.len() || rest[end..].starts_with(['/', '\\']))
}

/// `%NAME%` at the beginning.
fn is_of_windows(text: &str) -> bool {
    let name = text.strip_prefix('%').and_then(|rest| rest.split_once('%')).map(|(name, _)| name);
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    name.is_some_and(|name| begins(name) && name.chars().all(|c| is_plain(c) || "()".contains(c)))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
