//! Values without duplicate keys. Parsers differ in which of two equal keys they take.

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub enum PathStep<'a> {
    /// To a member of an object.
    Key(&'a str),
    /// To an item of a list.
    Index(usize),
}

/// Deserializes a value. Of members with equal keys it contains the first; each other one is passed to
/// `duplicate`: the path of its object from the root, and its key.
///
/// # Errors
/// Those of the deserializer.
pub fn read_unique<'de, D: Deserializer<'de>>(
    deserializer: D,
    duplicate: &mut dyn FnMut(&[PathStep<'_>], &str),
) -> Result<Value, D::Error> {
    Unique { path: None, duplicate }.deserialize(deserializer)
}

/// The value of a JSON text. `None` if it is not JSON, or has a key twice.
pub(crate) fn unique_value(text: &str) -> Option<Value> {
    let (mut json, mut is_unique) = (serde_json::Deserializer::from_str(text), true);
    let value = read_unique(&mut json, &mut |_, _| is_unique = false).ok()?;
    json.end().ok()?;
    is_unique.then_some(value)
}

/// The path from the root, as a list on the stack: most values have no duplicates.
struct Path<'a> {
    before: Option<&'a Path<'a>>,
    step: PathStep<'a>,
}

fn steps<'a>(path: Option<&Path<'a>>) -> Vec<PathStep<'a>> {
    let parts = std::iter::successors(path, |path| path.before);
    let mut steps: Vec<_> = parts.map(|path| path.step).collect();
    steps.reverse();
    steps
}

struct Unique<'a> {
    path: Option<&'a Path<'a>>,
    duplicate: &'a mut dyn FnMut(&[PathStep<'_>], &str),
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
            let path = Path { before: self.path, step: PathStep::Index(list.len()) };
            let seed = Unique { path: Some(&path), duplicate: &mut *self.duplicate };
            match items.next_element_seed(seed)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = Path { before: self.path, step: PathStep::Key(&key) };
            let seed = Unique { path: Some(&path), duplicate: &mut *self.duplicate };
            let value = entries.next_value_seed(seed)?;
            if object.contains_key(&key) {
                (self.duplicate)(&steps(self.path), &key);
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn duplicate_keys_are_reported_with_the_path_of_their_object() {
        let text = r#"{"a": 1, "list": [{}, {"b": 1, "b": {"c": 2, "c": 3}}], "a": 2}"#;
        let mut found = Vec::new();
        let mut duplicate =
            |path: &[PathStep<'_>], key: &str| found.push(format!("{path:?} {key}"));
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = read_unique(&mut deserializer, &mut duplicate).unwrap();
        assert_eq!(value, json!({ "a": 1, "list": [{}, { "b": 1 }] }));
        assert_eq!(
            found,
            [r#"[Key("list"), Index(1), Key("b")] c"#, r#"[Key("list"), Index(1)] b"#, "[] a",]
        );
    }
}
