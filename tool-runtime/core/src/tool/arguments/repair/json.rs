//! Repairs text that is nearly JSON.

use super::{Repair, RepairKind};
use serde_json::Value;

/// Parses the text of arguments, with the repairs that it needs.
pub(super) fn parse(text: &str, repairs: &mut Vec<Repair>) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let escaped = escape_controls(text);
    let source = escaped.as_deref().unwrap_or(text);
    let mut values = serde_json::Deserializer::from_str(source).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = &source[values.byte_offset()..];
    let mut add = |kind| repairs.push(Repair { at: String::new(), kind });
    if escaped.is_some() {
        add(RepairKind::ControlCharacters);
    }
    if !rest.trim().is_empty() {
        // A second value could be a second call.
        if !value.is_object() || rest.contains('{') {
            return None;
        }
        add(RepairKind::TrailingText);
    }
    Some(value)
}

/// Escapes control characters in strings. `None` if the text has none.
fn escape_controls(text: &str) -> Option<String> {
    let (mut escaped, mut is_string, mut is_escape, mut is_changed) =
        (String::with_capacity(text.len()), false, false, false);
    for character in text.chars() {
        if is_string && character.is_ascii_control() && !is_escape {
            is_changed = true;
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            continue;
        }
        is_string ^= character == '"' && !is_escape;
        is_escape = is_string && character == '\\' && !is_escape;
        escaped.push(character);
    }
    is_changed.then_some(escaped)
}
