//! JSON objects as entries in their order, with each value as the text that it has in the file.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// The entries of an object, in their order.
pub(super) struct Entries<'t>(pub(super) Vec<(String, &'t RawValue)>);

impl<'t> Entries<'t> {
    pub(super) fn parse(text: &'t str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The text of a value.
    pub(super) fn raw(&self, key: &str) -> Option<&'t str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// A value that is of a type.
    pub(super) fn value<T: Deserialize<'t>>(&self, key: &str) -> Option<T> {
        self.raw(key).and_then(|text| serde_json::from_str(text).ok())
    }
}

impl<'de: 't, 't> Deserialize<'de> for Entries<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadEntries)
    }
}

struct ReadEntries;

impl<'de> Visitor<'de> for ReadEntries {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(String, &RawValue)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if entries.iter().any(|(name, _)| *name == key) {
                return Err(serde::de::Error::custom(format_args!(
                    "the key `{key}` is there twice"
                )));
            }
            entries.push((key, value));
        }
        Ok(Entries(entries))
    }
}

/// Where a part of a string is in it.
pub(super) fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}
