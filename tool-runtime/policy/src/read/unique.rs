//! Values without duplicate keys.

use super::place::Place;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use tool_runtime_core::seam::{PathStep, read_unique};

/// The most keys that are compared with each other.
const MAX_COMPARED: usize = 16;

/// The members of a JSON object. `None` if the text is not an object, or an object in it has a key twice.
pub(crate) fn unique_members(text: &str) -> Option<Vec<(Cow<'_, str>, Value)>> {
    let mut is_unique = true;
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(Unique(&mut is_unique)).ok()?;
    json.end().ok()?;
    (is_unique && has_unique_keys(&members)).then_some(members)
}

fn has_unique_keys(members: &[(Cow<'_, str>, Value)]) -> bool {
    if members.len() <= MAX_COMPARED {
        let is_new =
            |index: usize| members[..index].iter().all(|(key, _)| *key != members[index].0);
        return (0..members.len()).all(is_new);
    }
    let mut keys = HashSet::new();
    members.iter().all(|(key, _)| keys.insert(key))
}

/// Reads members, and notes whether keys within their values are unique.
struct Unique<'a>(&'a mut bool);

/// Not copied if it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Vec<(Cow<'de, str>, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = entries.next_key()? {
            members.push((key, entries.next_value_seed(Unique(&mut *self.0))?));
        }
        Ok(members)
    }
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        read_unique(deserializer, &mut |_, _| *self.0 = false)
    }
}

/// Deserializes a value, and collects the places of keys that appear again.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    duplicates: &mut Vec<Place>,
) -> Result<Value, D::Error> {
    read_unique(deserializer, &mut |path, key| {
        let object = path.iter().fold(Place::default(), |place, step| match step {
            PathStep::Key(key) => place.key(key),
            PathStep::Index(index) => place.index(*index),
        });
        duplicates.push(object.repeated(key, 1));
    })
}
