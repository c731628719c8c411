//! Structured values for people: aligned `key: value`.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Characters of a list on one line.
const MAX_LINE: usize = 60;

/// A value as lines.
pub(super) fn lines(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.trim_end().to_owned()
}

fn write(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(members) => write_members(members, indent, text),
        Value::Array(items) => write_items(items, indent, text),
        scalar => {
            let _ = writeln!(text, "{:indent$}{}", "", plain(scalar, indent));
        }
    }
}

fn write_members(members: &Map<String, Value>, indent: usize, text: &mut String) {
    let inline = |value: &Value| on_one_line(value, indent);
    let short = members.iter().filter(|(_, value)| inline(value).is_some());
    let width = short.map(|(key, _)| key.chars().count()).max().unwrap_or_default();
    for (key, value) in members {
        let _ = write!(text, "{:indent$}{key}:", "");
        match inline(value) {
            Some(value) => {
                let space = (width + 1).saturating_sub(key.chars().count());
                let _ = writeln!(text, "{:space$}{value}", "");
            }
            None => {
                text.push('\n');
                write(value, indent + 2, text);
            }
        }
    }
}

fn write_items(items: &[Value], indent: usize, text: &mut String) {
    for item in items {
        let start = text.len();
        write(item, indent + 2, text);
        // The first line of the item follows the dash.
        text.replace_range(start + indent..start + indent + 1, "-");
    }
}

/// A scalar, or a short list of them. `None`: the value has lines of its own.
fn on_one_line(value: &Value, indent: usize) -> Option<String> {
    match value {
        Value::Object(members) => members.is_empty().then(|| "{}".to_owned()),
        Value::Array(items) if items.is_empty() => Some("[]".to_owned()),
        Value::Array(items) => {
            let is_short = |item: &Value| !item.is_object() && !item.is_array() && !is_long(item);
            let line = || items.iter().map(|item| plain(item, 0)).collect::<Vec<_>>().join(", ");
            items.iter().all(is_short).then(line).filter(|line| line.chars().count() <= MAX_LINE)
        }
        scalar if is_long(scalar) => None,
        scalar => Some(plain(scalar, indent)),
    }
}

/// Whether a string has several lines.
fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains('\n'))
}

fn plain(value: &Value, indent: usize) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.trim_end().replace('\n', &format!("\n{:indent$}", "")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::lines;
    use serde_json::json;

    #[test]
    fn values_are_aligned_and_lists_of_objects_have_dashes() {
        let value = json!({
            "total": 2,
            "query": "rust",
            "tags": ["a", "b"],
            "none": null,
            "notes": [{ "title": "One", "id": 1 }, { "title": "Two", "id": 2 }],
            "text": "first\nsecond\n"
        });
        let expected = "\
total: 2
query: rust
tags:  a, b
none:  -
notes:
  - title: One
    id:    1
  - title: Two
    id:    2
text:
  first
  second";
        assert_eq!(lines(&value), expected);
        assert_eq!(lines(&json!([])), "");
        assert_eq!(lines(&json!([[1], "x"])), "- - 1\n- x");
    }
}
