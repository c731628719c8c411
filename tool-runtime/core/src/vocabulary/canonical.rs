//! Canonical JSON by RFC 8785: one text for equal values.

use serde_json::{Number, Value};

/// Writes JSON by RFC 8785: members sorted by UTF-16 code units, numbers as ECMAScript writes them.
///
/// Integers beyond 2^53 keep their digits, unlike in the RFC, so that values that differ have strings that
/// differ.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => write_number(number, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, text);
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by(|(one, _), (other, _)| {
                one.encode_utf16().cmp(other.encode_utf16())
            });
            text.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                separate(index, text);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn separate(index: usize, text: &mut String) {
    if index > 0 {
        text.push(',');
    }
}

fn write_number(number: &Number, text: &mut String) {
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            text.push_str(ryu_js::Buffer::new().format_finite(float));
        }
        _ => text.push_str(&number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_members_does_not_matter() {
        let one = canonical(&json!({ "a": [{ "x": 1, "y": 2 }], "b": null }));
        assert_eq!(one, canonical(&json!({ "b": null, "a": [{ "y": 2, "x": 1 }] })));
    }

    /// The example of RFC 8785, section 3.2.2, and its example of sorting, section 3.2.3.
    #[test]
    fn the_examples_of_the_rfc_have_their_texts() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,\
            0.002,1e-27],\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(canonical(&value), expected);
        let keys = ["\u{20ac}", "\r", "\u{fb33}", "1", "\u{1f600}", "\u{80}", "\u{f6}"];
        let object: Value = keys.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
        let sorted = ["\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"];
        let expected: Vec<String> =
            sorted.iter().map(|key| format!("{}:null", json!(key))).collect();
        assert_eq!(canonical(&object), format!("{{{}}}", expected.join(",")));
    }

    #[test]
    fn equal_numbers_have_one_text_and_large_integers_keep_their_digits() {
        assert_eq!(canonical(&json!([1.0, -0.0, 1e21, 5e-324])), "[1,0,1e+21,5e-324]");
        assert_eq!(canonical(&json!(9_007_199_254_740_993_u64)), "9007199254740993");
        assert_ne!(canonical(&json!(true)), canonical(&json!(1)));
    }
}
