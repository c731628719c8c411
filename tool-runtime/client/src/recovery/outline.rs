//! Finds the id of an unreadable message.

use rmcp::model::RequestId;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Limit on the characters of an error of an unknown shape.
const MAX_ERROR: usize = 300;

/// What can be made out of a message.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The request that it answers, if it is an answer.
    pub(super) answers: Option<RequestId>,
    /// The error that it tells of.
    pub(super) error: Option<String>,
    /// Whether it is meant as a message.
    pub(super) is_message: bool,
    asks: bool,
}

impl Outline {
    /// By how a text begins and how it ends.
    pub(super) fn of(head: &[u8], tail: &[u8]) -> Self {
        let mut outline = Self::default();
        let head = String::from_utf8_lossy(head);
        // It breaks off somewhere, or is broken: what was seen until then counts.
        drop(outline.deserialize(&mut serde_json::Deserializer::from_str(&head)));
        if outline.answers.is_none() && outline.is_message {
            outline.answers = id_at_end(&String::from_utf8_lossy(tail));
        }
        if outline.asks || !outline.is_message {
            outline.answers = None;
        }
        outline
    }
}

/// Official SDKs write the id last.
fn id_at_end(text: &str) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    struct End {
        id: RequestId,
    }
    let at = text.rfind("\"id\"")?;
    let end: End = serde_json::from_str(&format!("{{{}", &text[at..])).ok()?;
    Some(end.id)
}

impl<'de> DeserializeSeed<'de> for &mut Outline {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Outline {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.is_message |= matches!(&*key, "jsonrpc" | "result" | "error");
            match &*key {
                "id" => {
                    let id: Value = map.next_value()?;
                    self.answers = Some(serde_json::from_value(id).map_err(A::Error::custom)?);
                }
                "error" => self.error = Some(told(&map.next_value()?)),
                "method" => {
                    self.asks = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn told(error: &Value) -> String {
    let text = match error {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().take(MAX_ERROR).collect()
}
