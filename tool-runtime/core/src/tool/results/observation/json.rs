//! The JSON of a result: MCP's `CallToolResult`, written directly.

use super::Observation;
use super::blocks::Blocks;
use crate::vocabulary::content::ContentBlock;

/// Bytes reserved for the JSON around the text of a result.
const FRAME: usize = 64;

impl Observation {
    /// MCP's `CallToolResult` as JSON text.
    #[doc(hidden)]
    pub fn to_json(&self) -> String {
        if let Some(text) = self.as_plain_text() {
            let mut json = String::with_capacity(FRAME + text.len());
            json.push_str(r#"{"content":[{"type":"text","text":""#);
            json.push_str(text);
            json.push_str(r#""}]}"#);
            return json;
        }
        let mut json = Vec::with_capacity(FRAME + self.estimated_length());
        json.push(b'{');
        self.write_content(&mut json);
        if self.is_error() {
            json.extend_from_slice(br#","isError":true"#);
        }
        self.write_meta(&mut json);
        json.push(b'}');
        text_of(json)
    }

    /// The members of MCP's `CallToolResult`, with `isError` also where it is false.
    #[doc(hidden)]
    pub fn write_members(&self, json: &mut String) {
        let mut bytes = std::mem::take(json).into_bytes();
        bytes.reserve(FRAME + self.estimated_length());
        self.write_content(&mut bytes);
        let is_error: &[u8] =
            if self.is_error() { br#","isError":true"# } else { br#","isError":false"# };
        bytes.extend_from_slice(is_error);
        self.write_meta(&mut bytes);
        *json = text_of(bytes);
    }

    /// Whether the observation is written directly: its content is only text, or there are members that
    /// rmcp's types cannot hold.
    #[doc(hidden)]
    pub fn is_plain(&self) -> bool {
        !self.is_known()
            || self.content.iter().all(|block| match block {
                ContentBlock::Text(content) => content.extra.is_none(),
                _ => false,
            })
    }

    /// The text of a result that is one text without escapes, as most are.
    fn as_plain_text(&self) -> Option<&str> {
        let has_more = self.structured.is_some() || self.extra.is_some() || self.is_error();
        match &self.content {
            Blocks::One(ContentBlock::Text(block)) if !has_more && block.extra.is_none() => {
                Some(block.text()).filter(|text| !text.bytes().any(must_escape))
            }
            _ => None,
        }
    }

    fn estimated_length(&self) -> usize {
        let text: usize = self.content.iter().map(text_length).sum();
        // The mirrored text repeats the value with escaped quotes.
        text + self.structured_json().map_or(0, |json| json.len() * 5 / 2)
    }

    fn write_content(&self, json: &mut Vec<u8>) {
        json.extend_from_slice(br#""content":["#);
        self.write_blocks(json);
        json.push(b']');
        if let Some(structured) = self.structured_json() {
            json.extend_from_slice(br#","structuredContent":"#);
            json.extend_from_slice(structured.as_bytes());
        }
    }

    fn write_meta(&self, json: &mut Vec<u8>) {
        if let Some(meta) = self.meta() {
            json.extend_from_slice(br#","_meta":"#);
            push_json(json, meta);
        }
        for (key, value) in self.other().into_iter().flatten() {
            json.push(b',');
            push_json(json, key);
            json.push(b':');
            push_json(json, value);
        }
    }

    fn write_blocks(&self, json: &mut Vec<u8>) {
        if let (true, Some(structured)) = (self.content.is_empty(), self.structured_json()) {
            push_text_block(json, structured);
        }
        for (index, block) in self.content.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            match block {
                ContentBlock::Text(content) if content.extra.is_none() => {
                    push_text_block(json, content.text());
                }
                other => push_json(json, other),
            }
        }
    }
}

fn text_of(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("JSON is written from strings")
}

fn text_length(block: &ContentBlock) -> usize {
    block.as_text().map_or(256, str::len)
}

fn push_text_block(json: &mut Vec<u8>, text: &str) {
    json.extend_from_slice(br#"{"type":"text","text":""#);
    push_escaped(json, text);
    json.extend_from_slice(br#""}"#);
}

/// Escapes like serde_json. Byte by byte from the first escape on: in JSON within a string, copies of
/// the parts between two quotes cost more.
fn push_escaped(json: &mut Vec<u8>, text: &str) {
    let first = text.bytes().position(must_escape).unwrap_or(text.len());
    let (plain, rest) = text.as_bytes().split_at(first);
    json.extend_from_slice(plain);
    for &byte in rest {
        match ESCAPES[usize::from(byte)] {
            0 => json.push(byte),
            b'u' => json.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            short => json.extend_from_slice(&[b'\\', short]),
        }
    }
}

fn must_escape(byte: u8) -> bool {
    ESCAPES[usize::from(byte)] != 0
}

/// Characters after the backslash, for bytes that a JSON string must escape.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut control = 0;
    while control < b' ' as usize {
        table[control] = b'u';
        control += 1;
    }
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'\n' as usize] = b'n';
    table[b'\t' as usize] = b't';
    table[b'\r' as usize] = b'r';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table
};

/// Appends rare members; these types always serialize.
fn push_json<T: serde::Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("content has string keys");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(observation: &Observation) -> Value {
        serde_json::from_str(&observation.to_json()).expect("JSON")
    }

    proptest::proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn text_is_escaped_as_serde_json_does(text in proptest::arbitrary::any::<String>()) {
            let mut json = Vec::new();
            push_escaped(&mut json, &text);
            let json = text_of(json);
            proptest::prop_assert_eq!(format!("\"{json}\""), serde_json::to_string(&text).unwrap());
        }
    }

    #[test]
    fn every_control_character_is_escaped_as_serde_json_does() {
        for control in (0..=0x20_u8).chain([0x7f]).map(char::from) {
            let mut json = Vec::new();
            push_escaped(&mut json, &format!("a{control}b"));
            let json = text_of(json);
            assert_eq!(
                format!("\"{json}\""),
                serde_json::to_string(&format!("a{control}b")).unwrap()
            );
        }
    }

    #[test]
    fn text_is_escaped() {
        let value = parsed(&Observation::text("a \"b\"\n\u{1}"));
        assert_eq!(value, json!({"content": [{"type": "text", "text": "a \"b\"\n\u{1}"}]}));
    }

    #[test]
    fn a_structured_value_is_mirrored_as_text() {
        let value = parsed(&Observation::json(&json!({"a": "x"})).unwrap());
        assert_eq!(value["structuredContent"], json!({"a": "x"}));
        assert_eq!(value["content"][0]["text"], r#"{"a":"x"}"#);
    }

    #[test]
    fn other_content_replaces_the_mirror() {
        let observation = Observation::json(&json!({"a": 1})).unwrap();
        let value = parsed(&observation.with_content(ContentBlock::text("one")));
        assert_eq!(value["content"], json!([{"type": "text", "text": "one"}]));
    }

    #[test]
    fn errors_and_metadata_are_written() {
        let value = parsed(&Observation::error("no").with_meta("k", "v"));
        assert_eq!(value["isError"], true);
        assert_eq!(value["_meta"], json!({"k": "v"}));
    }

    fn annotated(text: &str) -> ContentBlock {
        let annotations = json!({"priority": 0.5, "audience": ["user"]});
        let block =
            json!({"type": "text", "text": text, "annotations": annotations, "_meta": {"a": 1}});
        serde_json::from_value(block).expect("a block")
    }

    /// Results with each kind of content and metadata, alone and with text.
    fn results() -> Vec<Observation> {
        vec![
            Observation::default(),
            Observation::text("a").with_content(ContentBlock::text("b")),
            Observation::text("a").with_meta("k", 1),
            Observation::from(annotated("a")),
            Observation::text("a").with_content(annotated("b")).with_meta("k", json!({"a": [1]})),
            Observation::error("no").with_content(annotated("b")).with_meta("k", "v"),
            Observation::json(&json!({"a": "x"})).unwrap().with_meta("k", 1),
            Observation::json(&json!([1])).unwrap().with_content(annotated("one")),
            Observation::text("a").with_content(ContentBlock::image("AA==", "image/png")),
            Observation::from(ContentBlock::link("a:b", "c")).with_meta("k", 1),
        ]
    }

    #[test]
    fn to_json_equals_serialization() {
        for result in results() {
            assert_eq!(parsed(&result), serde_json::to_value(&result).unwrap(), "{result:?}");
        }
    }

    #[test]
    fn members_and_error_flag_are_written() {
        for result in results() {
            let mut members = String::new();
            result.write_members(&mut members);
            let members: Value = serde_json::from_str(&format!("{{{members}}}")).expect("JSON");
            let mut expected = serde_json::to_value(&result).unwrap();
            expected["isError"] = result.is_error().into();
            assert_eq!(members, expected, "{result:?}");
        }
    }

    #[test]
    fn text_with_annotations_is_not_plain_text() {
        assert!(Observation::text("a").with_content(ContentBlock::text("b")).is_plain());
        let others = [annotated("a"), ContentBlock::image("AA==", "image/png")];
        for other in others {
            assert!(!Observation::from(other.clone()).is_plain());
            assert!(!Observation::text("a").with_content(other).is_plain());
        }
    }
}
