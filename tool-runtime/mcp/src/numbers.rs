//! Integers of more than 64 bits, which `serde_json::Value` turns into floats.

use serde_json::Value;
use serde_json::value::RawValue;

/// Digits of the shortest number that may have more than 64 bits.
const MIN_DIGITS: usize = 19;

/// Whether JSON text has an integer of more than 64 bits. Digits in strings do not count.
pub fn has_long_integer(text: &str) -> bool {
    long_integer(text).is_some()
}

/// The first integer of more than 64 bits in JSON text.
pub fn long_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        match bytes[index] {
            b'"' => index = end_of_string(bytes, index),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, index);
                if is_long(&text[index..end]) {
                    return Some(&text[index..end]);
                }
                index = end;
            }
            _ => index += 1,
        }
    }
    None
}

/// The exact text of a value whose integers a `Value` has changed, if `text` is its source.
pub fn exact(changed: &Value, text: &str) -> Option<Box<RawValue>> {
    if text.len() < MIN_DIGITS || !has_long_integer(text) {
        return None;
    }
    let value: Value = text.parse().ok()?;
    (value == *changed).then(|| RawValue::from_string(text.to_owned()).ok())?
}

/// A number with more than 64 bits where the schema has an integer: the `Value` has lost its digits.
/// Checks `properties` and `items` only.
pub fn lost_integer(value: &Value, schema: &Value) -> Option<f64> {
    match value {
        Value::Number(number) if schema["type"] == "integer" => {
            number.as_f64().filter(|float| number.is_f64() && float.abs() >= 2_f64.powi(63))
        }
        Value::Array(items) => items.iter().find_map(|item| lost_integer(item, &schema["items"])),
        Value::Object(members) => members
            .iter()
            .find_map(|(key, member)| lost_integer(member, &schema["properties"][key])),
        _ => None,
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while index < bytes.len() && bytes[index] != b'"' {
        index += if bytes[index] == b'\\' { 2 } else { 1 };
    }
    index + 1
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    start + bytes[start..].iter().take_while(|byte| is_part(byte)).count()
}

fn is_long(number: &str) -> bool {
    let is_integer = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    is_integer
        && number.len() >= MIN_DIGITS
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_integer_that_lost_digits_is_found_by_its_schema() {
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "x": {"type": "number"}, "l": {"items": {"type": "integer"}},
        }});
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for lost in [r#"{"n":100000000000000000000}"#, r#"{"l":[1,-100000000000000000000]}"#] {
            assert!(lost_integer(&value(lost), &schema).is_some(), "{lost}");
        }
        for kept in [r#"{"n":18446744073709551615}"#, r#"{"x":6e23}"#, r#"{"n":1.0}"#] {
            assert_eq!(lost_integer(&value(kept), &schema), None, "{kept}");
        }
    }

    #[test]
    fn only_integers_of_more_than_64_bits_are_long() {
        for long in ["18446744073709551616", r#"{"a":[-9223372036854775809]}"#] {
            assert!(has_long_integer(long), "{long}");
        }
        for short in [
            "18446744073709551615",
            "[-9223372036854775808]",
            "0.1234567890123456789012",
            "1e30",
            r#"{"12345678901234567890123":"a\"12345678901234567890123"}"#,
            r#""unclosed \"#,
            "",
        ] {
            assert!(!has_long_integer(short), "{short}");
        }
    }

    #[test]
    fn a_text_is_used_only_for_an_equal_value() {
        let text = r#"{"k":170141183460469231731687303715884105727}"#;
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(exact(&value, text).expect("the same").get(), text);
        assert!(exact(&json!({ "k": 1 }), text).is_none());
        assert!(exact(&json!({ "k": 1 }), r#"{"k":1}"#).is_none());
    }
}
