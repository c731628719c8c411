//! Finds out how a type decodes JSON by decoding probes: schemas contain neither aliases nor which parts serde buffers.
//!
//! A probe is JSON text along a path to one part of the value, and ends in a byte that is not JSON. A type that reaches
//! this byte has accepted everything before it.

use super::tracked::{Flags, Tracked};
use crate::schema::segment::Segment;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write;

/// A key that is not a field of any type.
const UNKNOWN: &str = "\u{1}";

/// A byte that neither begins nor follows a JSON value.
const STOP: char = '!';

/// Limit on the bytes decoded to find the keys that a type ignores.
const MAX_BYTES: usize = 64 << 20;

/// Decodes text as some type.
pub(crate) type Decode = fn(&str) -> Outcome;

/// The outcome of decoding a string.
pub(crate) struct Outcome {
    end: End,
    ignored: bool,
    buffered: bool,
}

#[derive(PartialEq)]
enum End {
    Decoded,
    /// The type rejected a value or a key.
    Rejected,
    /// The type reached the end of valid JSON.
    Stopped,
}

/// The reaction of a type to a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The key or its value is decoded or rejected.
    Noticed,
    /// The value is skipped.
    Ignored,
    /// The value is buffered, so the reaction is unknown.
    Buffered,
}

/// Decodes a string as a `T`.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Outcome {
    let flags = Flags::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let end = match T::deserialize(Tracked::new(&mut json, &flags)) {
        Ok(_) => End::Decoded,
        Err(error) if error.is_data() => End::Rejected,
        Err(_) => End::Stopped,
    };
    Outcome { end, ignored: flags.ignored.get(), buffered: flags.buffered.get() }
}

/// The reaction of the type to `key` in the object at `path`.
pub(crate) fn use_of(decode: Decode, path: &[Segment], key: &str) -> Use {
    let outcome = decode(&format!("{}{{{}:{STOP}", text_to(path), quote(key)));
    match outcome {
        Outcome { ignored: true, .. } => Use::Ignored,
        Outcome { buffered: true, .. } => Use::Buffered,
        _ => Use::Noticed,
    }
}

/// The reaction of the type to an unknown key in the object at `path`.
pub(crate) fn use_of_unknown(decode: Decode, path: &[Segment]) -> Use {
    use_of(decode, path, UNKNOWN)
}

/// Whether `key` with this value is an alias of the field `name` in the object at `path`: the field is then rejected as
/// given twice.
pub(crate) fn is_alias(
    decode: Decode,
    path: &[Segment],
    key: &str,
    value: &Value,
    name: &str,
) -> bool {
    let (start, key, name) = (text_to(path), quote(key), quote(name));
    let alone = decode(&format!("{start}{{{key}:{value}{STOP}")).end;
    let twice = decode(&format!("{start}{{{key}:{value},{name}:{STOP}")).end;
    (alone, twice) == (End::Stopped, End::Rejected)
}

/// The paths of all keys in `value` that the type ignores. `None` if the search takes too long.
pub(crate) fn ignored_keys(decode: Decode, value: &Value) -> Option<Vec<Vec<Segment>>> {
    let mut search = Search { decode, path: Vec::new(), found: Vec::new(), bytes_left: MAX_BYTES };
    search.visit(value)?;
    Some(search.found)
}

/// A search for keys that a type ignores.
struct Search {
    decode: Decode,
    path: Vec<Segment>,
    found: Vec<Vec<Segment>>,
    bytes_left: usize,
}

impl Search {
    fn visit(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Object(object) => {
                object.iter().try_for_each(|(key, value)| self.visit_key(key, value))
            }
            Value::Array(items) => (0..items.len())
                .try_for_each(|index| self.visit_below(Segment::item(items, index), &items[index])),
            _ => Some(()),
        }
    }

    fn visit_key(&mut self, key: &str, value: &Value) -> Option<()> {
        let bytes = self.path.iter().map(Segment::bytes).sum::<usize>() + key.len();
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        let step = Segment::Key(key.to_owned());
        if use_of(self.decode, &self.path, key) == Use::Ignored {
            self.found.push([self.path.as_slice(), &[step]].concat());
            return Some(());
        }
        self.visit_below(step, value)
    }

    fn visit_below(&mut self, step: Segment, value: &Value) -> Option<()> {
        self.path.push(step);
        let outcome = self.visit(value);
        self.path.pop();
        outcome
    }
}

/// The JSON text that leads to `path`.
fn text_to(path: &[Segment]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Segment::Key(key) => drop(write!(text, "{{{}:", quote(key))),
            Segment::Item { before, .. } => drop(write!(text, "[{before}")),
        }
    }
    text
}

fn quote(key: &str) -> String {
    Value::from(key).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;
    use std::collections::HashMap;

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Book {
        #[serde(alias = "name")]
        title: String,
        pages: Vec<Page>,
        by_number: HashMap<u8, Page>,
        form: Form,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Page {
        text: String,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    enum Form {
        Bound { weight: f32 },
        Loose(Page),
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Strict {
        #[serde(alias = "ay")]
        a: i64,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    #[allow(dead_code)]
    enum Untagged {
        Page(Page),
    }

    #[derive(Deserialize)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Tagged {
        Page(Page),
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Flattened {
        a: i64,
        #[serde(flatten)]
        page: Page,
    }

    fn path(steps: &[&str]) -> Vec<Segment> {
        let step = |step: &&str| match step.parse() {
            Ok(index) => Segment::Item { index, before: String::new() },
            Err(_) => Segment::Key(step.trim_start_matches('#').to_owned()),
        };
        steps.iter().map(step).collect()
    }

    #[test]
    fn a_derived_type_ignores_unknown_keys_at_every_depth() {
        for steps in
            [&[][..], &["pages", "0"], &["by_number", "#7"], &["form", "Bound"], &["form", "Loose"]]
        {
            assert_eq!(use_of_unknown(decode::<Book>, &path(steps)), Use::Ignored, "{steps:?}");
        }
        assert_eq!(use_of_unknown(decode::<Option<Box<Book>>>, &[]), Use::Ignored);
    }

    #[test]
    fn buffered_values_are_distinguished_from_read_keys() {
        assert_eq!(use_of_unknown(decode::<Untagged>, &[]), Use::Buffered);
        assert_eq!(use_of_unknown(decode::<Tagged>, &[]), Use::Buffered);
        assert_eq!(use_of_unknown(decode::<Flattened>, &[]), Use::Buffered);
        assert_eq!(use_of_unknown(decode::<HashMap<String, i64>>, &[]), Use::Noticed);
        assert_eq!(use_of_unknown(decode::<Value>, &[]), Use::Buffered);
        assert_eq!(use_of_unknown(decode::<Strict>, &[]), Use::Noticed);
        assert_eq!(use_of(decode::<Untagged>, &[], "text"), Use::Buffered);
    }

    #[test]
    fn an_alias_is_read_as_its_field() {
        assert_eq!(use_of(decode::<Book>, &[], "name"), Use::Noticed);
        assert_eq!(use_of(decode::<Book>, &[], "nam"), Use::Ignored);
        assert_eq!(use_of(decode::<Strict>, &[], "ay"), Use::Noticed);
        assert_eq!(use_of(decode::<Strict>, &[], "be"), Use::Noticed);
        assert!(is_alias(decode::<Book>, &[], "name", &json!("x"), "title"));
        assert!(!is_alias(decode::<Book>, &[], "name", &json!("x"), "pages"));
    }

    #[test]
    fn an_item_of_a_tuple_is_checked_by_its_type() {
        let value = json!([{ "a": 1 }, { "text": "x" }]);
        let second = Segment::item(value.as_array().expect("a list"), 1);
        assert_eq!(use_of(decode::<(Strict, Page)>, &[second], "text"), Use::Noticed);
        assert_eq!(ignored_keys(decode::<(Strict, Page)>, &value), Some(Vec::new()));
    }

    #[test]
    fn every_ignored_key_is_found() {
        let value = json!({ "x": 1, "pages": [{ "text": "a" }, { "text": "b", "y": 2 }] });
        let found = ignored_keys(decode::<Book>, &value).expect("few bytes");
        assert_eq!(found[0], path(&["x"]));
        assert_eq!(found[1].last(), Some(&Segment::Key("y".into())));
        assert_eq!(found.len(), 2);
    }
}
