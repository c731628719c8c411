//! The text form of a result: MCP's `CallToolResult`, written without a detour.

use super::Observation;
use crate::content::{ContentBlock, TextContent};

/// What stands around a text block's text, and a little more than most results need.
const FRAME: usize = 64;

impl Observation {
    /// MCP's `CallToolResult` as JSON text.
    pub(crate) fn to_json(&self) -> String {
        let mut json = Vec::with_capacity(FRAME + self.estimated_length());
        json.extend_from_slice(br#"{"content":["#);
        self.write_content(&mut json);
        json.push(b']');
        if let Some(structured) = self.structured_json() {
            json.extend_from_slice(br#","structuredContent":"#);
            json.extend_from_slice(structured.as_bytes());
        }
        if self.is_error {
            json.extend_from_slice(br#","isError":true"#);
        }
        if let Some(meta) = self.meta() {
            json.extend_from_slice(br#","_meta":"#);
            push_json(&mut json, meta);
        }
        json.push(b'}');
        String::from_utf8(json).expect("serde_json writes UTF-8")
    }

    fn estimated_length(&self) -> usize {
        let text: usize = self.content.iter().map(text_length).sum();
        // The mirrored text is the value again, its quotes escaped.
        text + self.structured_json().map_or(0, |json| json.len() * 5 / 2)
    }

    fn write_content(&self, json: &mut Vec<u8>) {
        if let (true, Some(structured)) = (self.content.is_empty(), self.structured_json()) {
            push_text_block(json, structured);
        }
        for (index, block) in self.content.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            match block {
                ContentBlock::Text(TextContent { text, extra: None }) => {
                    push_text_block(json, text);
                }
                other => push_json(json, other),
            }
        }
    }
}

fn text_length(block: &ContentBlock) -> usize {
    block.as_text().map_or(256, str::len)
}

fn push_text_block(json: &mut Vec<u8>, text: &str) {
    json.extend_from_slice(br#"{"type":"text","text":"#);
    push_json(json, text);
    json.push(b'}');
}

/// Appends a value's JSON in place; these types always serialise.
fn push_json<T: serde::Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("content has string keys and no failing fields");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(observation: &Observation) -> Value {
        serde_json::from_str(&observation.to_json()).expect("JSON")
    }

    #[test]
    fn text_is_escaped() {
        let value = parsed(&Observation::text("a \"b\"\n\u{1}"));
        assert_eq!(value, json!({"content": [{"type": "text", "text": "a \"b\"\n\u{1}"}]}));
    }

    #[test]
    fn a_structured_value_is_mirrored_as_text() {
        let value = parsed(&Observation::structured(&json!({"a": "x"})).unwrap());
        assert_eq!(value["structuredContent"], json!({"a": "x"}));
        assert_eq!(value["content"][0]["text"], r#"{"a":"x"}"#);
    }

    #[test]
    fn content_of_its_own_replaces_the_mirror() {
        let observation = Observation::structured(&json!({"a": 1})).unwrap();
        let value = parsed(&observation.with_content(ContentBlock::text("one")));
        assert_eq!(value["content"], json!([{"type": "text", "text": "one"}]));
    }

    #[test]
    fn errors_and_metadata_are_written() {
        let value = parsed(&Observation::error("no").with_meta("k", "v"));
        assert_eq!(value["isError"], true);
        assert_eq!(value["_meta"], json!({"k": "v"}));
    }
}
