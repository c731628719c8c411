//! Parses JSON with comments. Duplicate keys are errors.

use super::findings::{Findings, Location};
use serde::Deserializer;
use serde_json::Value;
use std::borrow::Cow;
use tool_runtime_core::seam::{PathStep, read_unique};

/// Parses a string. Comments and trailing commas are skipped.
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
    read_unique(deserializer, &mut |path, key| {
        let object = path.iter().fold(location.clone(), |location, step| match step {
            PathStep::Key(key) => location.key(key),
            PathStep::Index(index) => location.index(*index),
        });
        let text = "this key appears twice in one object";
        findings.problem(&object.key(key), text, "remove or rename one of the two");
    })
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
