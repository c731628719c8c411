//! Helpers for the text of messages.

use crate::schema::check::kind::Kind;
use crate::schema::check::location::Location;
use crate::schema::nearest::nearest;
use serde_json::Value;

/// Limit on the shown characters of a value or a name.
pub(super) const MAX_TEXT: usize = 60;

/// Limit on the listed names; others are counted.
const MAX_NAMES: usize = 20;

/// The head of a long text, marked as such.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A truncated text as a JSON string: escaped, so that it cannot be mistaken for the text of the
/// message.
pub(super) fn quoted(text: &str) -> String {
    Value::from(cut(text, MAX_TEXT)).to_string()
}

/// A property's name in a sentence.
pub(super) fn name(name: &str) -> String {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '/' | ':' | '@');
    if !name.is_empty() && name.chars().count() <= MAX_TEXT && name.chars().all(plain) {
        format!("`{name}`")
    } else {
        quoted(name)
    }
}

/// Whether a property's name can follow a dot in a path.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && name.chars().count() <= MAX_TEXT
}

/// Adds a property to a path: `.name` or `["odd name"]`.
pub(super) fn add_name(path: &mut String, name: &str) {
    if !is_identifier(name) {
        path.push_str(&format!("[{}]", quoted(name)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A value that a schema allows: no secret, so arrays and objects are shown as well.
pub(super) fn allowed(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        _ => cut(&value.to_string(), MAX_TEXT),
    }
}

/// "1 item", "2 items".
pub(super) fn pluralize(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// "a", "a or b", "a, b or c".
pub(super) fn either(things: &[String]) -> String {
    join_words(things, "or")
}

/// "a", "a and b", "a, b and c".
pub(super) fn both(things: &[String]) -> String {
    join_words(things, "and")
}

/// Joins strings with commas, and `word` before the last one.
fn join_words(things: &[String], word: &str) -> String {
    match things {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// "a, b, c", the first of them if they are many.
pub(super) fn list_of(things: &[String]) -> String {
    let mut list = things.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if things.len() > MAX_NAMES {
        list.push_str(&format!(", … and {} more", things.len() - MAX_NAMES));
    }
    list
}

/// "; did you mean `query`?", or nothing if no candidate is close.
pub(super) fn did_you_mean<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    show: fn(&str) -> String,
) -> String {
    match nearest(text, candidates, 1).first() {
        Some(candidate) => format!("; did you mean {}?", show(candidate)),
        None => String::new(),
    }
}

/// A value in a sentence. The contents of arrays and objects are never shown: it is long, and parts of it may be secret.
fn render(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => Kind::of(value).with_article().to_owned(),
        _ => cut(&value.to_string(), MAX_TEXT),
    }
}

/// ", got 80", or nothing if the value is secret.
pub(super) fn got(value: &Value, at: &Location<'_>) -> String {
    if at.is_secret() { String::new() } else { format!(", got {}", render(value)) }
}

/// The suffix ", got the string \"x\"".
pub(super) fn got_kind(value: &Value, at: &Location<'_>) -> String {
    let kind = Kind::of(value);
    match kind {
        _ if at.is_secret() => String::new(),
        Kind::String | Kind::Boolean => format!(", got the {} {}", kind.name(), render(value)),
        _ => got(value, at),
    }
}

/// ", got 3", for a wrong number of items or properties, or nothing if they are secret.
pub(super) fn got_count(count: usize, at: &Location<'_>) -> String {
    if at.is_secret() { String::new() } else { format!(", got {count}") }
}
