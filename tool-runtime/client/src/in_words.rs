//! Values of a server in words, for errors.

use serde_json::{Map, Value};

/// Limit on the characters of a quoted string.
const MAX_TEXT: usize = 100;
/// Limit on the named members of an object.
const MAX_NAMES: usize = 8;

/// What a value is, as a noun: `the number 9`, `an object with the members `a`, `b``.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string \"{}\"", short(text)),
        Value::Array(items) => match items.len() {
            0 => "an empty array".to_owned(),
            1 => "an array of one item".to_owned(),
            count => format!("an array of {count} items"),
        },
        Value::Object(members) => object(members),
    }
}

fn object(members: &Map<String, Value>) -> String {
    let names: Vec<String> =
        members.keys().take(MAX_NAMES).map(|name| format!("`{}`", short(name))).collect();
    let more = if members.len() > MAX_NAMES { ", .." } else { "" };
    match names.len() {
        0 => "an empty object".to_owned(),
        1 => format!("an object with the member {}", names[0]),
        _ => format!("an object with the members {}{more}", names.join(", ")),
    }
}

/// The beginning of a string.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_value_has_words() {
        for (value, words) in [
            (json!(null), "null"),
            (json!(true), "true"),
            (json!(9), "the number 9"),
            (json!("a"), "the string \"a\""),
            (json!([]), "an empty array"),
            (json!([1]), "an array of one item"),
            (json!([1, 2]), "an array of 2 items"),
            (json!({}), "an empty object"),
            (json!({ "a": 1 }), "an object with the member `a`"),
            (json!({ "a": 1, "b": 2 }), "an object with the members `a`, `b`"),
        ] {
            assert_eq!(in_words(&value), words);
        }
        let long = in_words(&json!("x".repeat(5000)));
        assert!(long.len() < 200 && long.ends_with("…\""), "{long}");
        let many: Map<_, _> = (0..50).map(|n| (n.to_string(), json!(n))).collect();
        assert!(in_words(&many.into()).ends_with("`7`, .."));
    }
}
