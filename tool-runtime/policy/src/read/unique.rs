//! Values without duplicate keys. Parsers differ in which of two equal keys they take.

use super::place::Place;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The value of a JSON text. `None` if the text is not JSON or an object in it has a key twice.
pub(crate) fn unique_value(text: &str) -> Option<Value> {
    let mut duplicates = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let value = read(&mut json, &mut duplicates).ok()?;
    json.end().ok()?;
    duplicates.is_empty().then_some(value)
}

/// Deserializes a value, and notes the places of keys that appear again.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    duplicates: &mut Vec<Place>,
) -> Result<Value, D::Error> {
    Unique { keys: None, duplicates }.deserialize(deserializer)
}

/// The keys and indices from the root, as a list on the stack: most values have no mistakes.
struct Above<'a> {
    before: Option<&'a Above<'a>>,
    step: StepRef<'a>,
}

enum StepRef<'a> {
    Key(&'a str),
    Index(usize),
}

struct Unique<'a> {
    keys: Option<&'a Above<'a>>,
    duplicates: &'a mut Vec<Place>,
}

impl Unique<'_> {
    fn place(above: Option<&Above<'_>>) -> Place {
        let Some(Above { before, step }) = above else { return Place::default() };
        match step {
            StepRef::Key(key) => Self::place(*before).key(key),
            StepRef::Index(index) => Self::place(*before).index(*index),
        }
    }
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

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let here = Above { before: self.keys, step: StepRef::Index(list.len()) };
            let seed = Unique { keys: Some(&here), duplicates: &mut *self.duplicates };
            match items.next_element_seed(seed)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let here = Above { before: self.keys, step: StepRef::Key(&key) };
            let seed = Unique { keys: Some(&here), duplicates: &mut *self.duplicates };
            let value = entries.next_value_seed(seed)?;
            if object.contains_key(&key) {
                self.duplicates.push(Self::place(self.keys).repeated(&key, 1));
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }
}
