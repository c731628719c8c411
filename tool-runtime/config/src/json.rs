//! Parses JSON with comments. Duplicate keys are errors.

use super::findings::{Findings, Location};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Parses a text. Comments and trailing commas are skipped.
pub(super) fn parse(text: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
    let text = plain(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let parsed = unique(&mut deserializer, location, findings);
    match parsed.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => Some(value),
        Err(error) => {
            // The error of the parser contains a position, but not the text.
            let help = match text.trim_start().starts_with(['{', '[']) || location.is_text() {
                true => "correct it there",
                false => "correct it there, or name the file `.toml` or `.yaml` if it is that",
            };
            findings.problem(location, format!("this is not JSON: {error}"), help);
            None
        }
    }
}

/// Deserializes a value, with a finding for each duplicate key.
pub(super) fn unique<'de, D: Deserializer<'de>>(
    deserializer: D,
    location: &Location,
    findings: &mut Findings,
) -> Result<Value, D::Error> {
    Unique { location, findings }.deserialize(deserializer)
}

/// Deserializes a value and checks its keys.
struct Unique<'a> {
    location: &'a Location,
    findings: &'a mut Findings,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let location = self.location.index(list.len());
            let seed = Unique { location: &location, findings: &mut *self.findings };
            match items.next_element_seed(seed)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let location = self.location.key(&key);
            let seed = Unique { location: &location, findings: &mut *self.findings };
            let value = entries.next_value_seed(seed)?;
            if object.contains_key(&key) {
                let text = "this key appears twice in one object";
                self.findings.problem(&location, text, "remove or rename one of the two");
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }
}

/// The text with comments and trailing commas blanked out, so that positions stay.
fn plain(text: &str) -> Cow<'_, str> {
    let mut bytes = text.as_bytes().to_vec();
    let mut comma = None;
    let mut index = 0;
    while index < bytes.len() {
        match (bytes[index], bytes.get(index + 1)) {
            (b'"', _) => {
                (index, comma) = (end_of_string(&bytes, index), None);
                continue;
            }
            (b'/', Some(b'/' | b'*')) => {
                let end = end_of_comment(&bytes, index);
                blank(&mut bytes[index..end]);
                index = end;
                continue;
            }
            (b',', _) => comma = Some(index),
            (b']' | b'}', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        index += 1;
    }
    // Only whole characters were blanked out.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while index < bytes.len() {
        match bytes[index] {
            b'"' => return index + 1,
            b'\\' => index += 2,
            _ => index += 1,
        }
    }
    bytes.len()
}

fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let inside = &bytes[start + 2..];
    let length = if bytes[start + 1] == b'/' {
        inside.iter().position(|byte| *byte == b'\n')
    } else {
        inside.windows(2).position(|pair| pair == b"*/").map(|end| end + 2)
    };
    length.map_or(bytes.len(), |length| start + 2 + length)
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn comments_and_trailing_commas_are_blanked_and_positions_kept() {
        for (text, expected) in [
            (r#"{"a": 1, // x"}"#, r#"{"a": 1,       "#),
            ("{\"a\": [1, /* ü\n*/ ]}", "{\"a\": [1       \n   ]}"),
            (r#"{"a": "//,]", }"#, r#"{"a": "//,]"  }"#),
            (r#"["\"//", 1]"#, r#"["\"//", 1]"#),
            ("[1,,]", "[1, ]"),
            ("[,]", "[ ]"),
            ("/", "/"),
            ("\"", "\""),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
