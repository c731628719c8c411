//! The members of arguments, as they were written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// The members of an object in their order, also those that are repeated. Values stay raw JSON.
pub struct RawMembers<'a>(pub Vec<(String, &'a RawValue)>);

impl<'a> RawMembers<'a> {
    /// The members of an object; `None` for text that is not one.
    pub fn from_text(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Appends a member to the text of an object that is not closed.
pub fn push_member(text: &mut String, name: &str, value: &str) {
    if text.len() > 1 {
        text.push(',');
    }
    text.push_str(&Value::from(name).to_string());
    text.push(':');
    text.push_str(value);
}

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = RawMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(RawMembers(members))
    }
}
