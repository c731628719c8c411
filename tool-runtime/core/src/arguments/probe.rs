//! Asks a type what it makes of JSON that is crafted for one question: schemas know neither aliases nor what serde
//! buffers.
//!
//! A question leads along a route to one part of the value and ends in a byte that is not JSON. A type that gets as far
//! as that byte has accepted everything before it, whatever else it would have required.

mod buffered;

use super::watch::{Notes, Watch};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write;

pub(crate) use buffered::{gives as gives_buffered, ignores as ignores_buffered};

/// A key that no type has.
const UNKNOWN: &str = "\u{1}";

/// Not the beginning of any JSON value, and nothing that follows one.
const STOP: char = '!';

/// As many bytes are decoded to find the keys that a type ignores.
const MAX_BYTES: usize = 64 << 20;

/// serde knows no longer ones.
const LONGEST_TUPLE: usize = 16;

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, and the text of those before it where the list may be a tuple.
    Item { index: usize, before: String },
}

impl Step {
    /// The item of `items` at `index`.
    pub(crate) fn item(items: &[Value], index: usize) -> Self {
        let before = items.iter().take(index).filter(|_| index < LONGEST_TUPLE);
        Self::Item { index, before: before.map(|item| format!("{item},")).collect() }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Key(name) => name.len(),
            Self::Item { before, .. } => before.len(),
        }
    }

    /// The item as if it were the first.
    pub(crate) fn alone(index: usize) -> Self {
        Self::Item { index, before: String::new() }
    }
}

/// Decodes text as some type.
pub(crate) type Decode = fn(&str) -> Trial;

/// The outcome of decoding a text.
pub(crate) struct Trial {
    end: End,
    ignored: bool,
    buffered: bool,
}

/// How decoding ended.
#[derive(PartialEq)]
enum End {
    Decoded,
    /// The type refused a value or a key, for this reason.
    Refused(String),
    /// The text is not JSON from some point on, which the type got to.
    Stopped,
}

/// The reaction of a type to a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It decodes the value.
    Read,
    /// It passes over the value.
    Ignored,
    /// It is an error.
    Refused,
    /// Its values are buffered, so that nobody can tell.
    Unclear,
}

/// Decodes a text as a `T`.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Trial {
    let notes = Notes::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let result = T::deserialize(Watch::new(&mut json, &notes));
    Trial {
        end: result.map_or_else(End::of, |_| End::Decoded),
        ignored: notes.ignored.get(),
        buffered: notes.buffered.get(),
    }
}

impl End {
    fn of(error: serde_json::Error) -> Self {
        match error.classify() {
            serde_json::error::Category::Data => Self::Refused(super::without_position(&error)),
            _ => Self::Stopped,
        }
    }
}

/// The reaction of the type to `key` in the object at the end of `route`.
pub(crate) fn use_of(decode: Decode, route: &[Step], key: &str) -> Use {
    let trial = decode(&format!("{}{{{}:{STOP}", along(route), quoted(key)));
    match trial.end {
        _ if trial.ignored => Use::Ignored,
        _ if trial.buffered => Use::Unclear,
        End::Refused(_) => Use::Refused,
        End::Decoded | End::Stopped => Use::Read,
    }
}

/// The reaction of the type to a key that no type has, in the object at the end of `route`.
pub(crate) fn use_of_unknown(decode: Decode, route: &[Step]) -> Use {
    use_of(decode, route, UNKNOWN)
}

/// Whether the type takes `value` at the end of `route`, or why it refuses it. `None` if nobody can tell.
pub(crate) fn takes(decode: Decode, route: &[Step], value: &Value) -> Option<Result<(), String>> {
    let trial = match route {
        [] => decode(&value.to_string()),
        _ => decode(&format!("{}{value}{STOP}", along(route))),
    };
    match trial.end {
        End::Refused(why) => Some(Err(why)),
        End::Decoded => Some(Ok(())),
        End::Stopped if trial.buffered || trial.ignored => None,
        End::Stopped => Some(Ok(())),
    }
}

/// Whether `key` with this value gives the field `name`, as an alias does, in the object at the end of `route`: the
/// field is then refused as given twice.
pub(crate) fn gives(
    decode: Decode,
    route: &[Step],
    (key, value): (&str, &Value),
    name: &str,
) -> bool {
    let way = along(route);
    let (key, name) = (quoted(key), quoted(name));
    let alone = decode(&format!("{way}{{{key}:{value}{STOP}")).end;
    let twice = decode(&format!("{way}{{{key}:{value},{name}:{STOP}")).end;
    matches!((alone, twice), (End::Stopped, End::Refused(_)))
}

/// The part of a value at the end of `route`.
pub(crate) fn at<'v>(value: &'v Value, route: &[Step]) -> Option<&'v Value> {
    route.iter().try_fold(value, |value, step| match step {
        Step::Key(name) => value.get(name),
        Step::Item { index, .. } => value.get(index),
    })
}

/// The ways to all keys in `value` that the type ignores. `None` if they are too many to look for.
pub(crate) fn ignored(decode: Decode, value: &Value) -> Option<Vec<Vec<Step>>> {
    let mut search = Search { decode, route: Vec::new(), found: Vec::new(), bytes_left: MAX_BYTES };
    search.visit(value)?;
    Some(search.found)
}

/// A search for keys that a type ignores.
struct Search {
    decode: Decode,
    route: Vec<Step>,
    found: Vec<Vec<Step>>,
    bytes_left: usize,
}

impl Search {
    fn visit(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    self.visit_key(key, value)?;
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(Step::item(items, index), item)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn visit_key(&mut self, key: &str, value: &Value) -> Option<()> {
        let bytes = self.route.iter().map(Step::bytes).sum::<usize>() + key.len();
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        let step = Step::Key(key.to_owned());
        if use_of(self.decode, &self.route, key) == Use::Ignored {
            self.found.push([self.route.as_slice(), &[step]].concat());
            return Some(());
        }
        self.below(step, value)
    }

    fn below(&mut self, step: Step, value: &Value) -> Option<()> {
        self.route.push(step);
        let outcome = self.visit(value);
        self.route.pop();
        outcome
    }
}

/// The beginning of JSON text that leads along `route`.
fn along(route: &[Step]) -> String {
    let mut text = String::new();
    for step in route {
        match step {
            Step::Key(key) => drop(write!(text, "{{{}:", quoted(key))),
            Step::Item { before, .. } => drop(write!(text, "[{before}")),
        }
    }
    text
}

fn quoted(key: &str) -> String {
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

    fn route(steps: &[&str]) -> Vec<Step> {
        let step = |step: &&str| match step.parse() {
            Ok(index) => Step::alone(index),
            Err(_) => Step::Key(step.trim_start_matches('#').to_owned()),
        };
        steps.iter().map(step).collect()
    }

    #[test]
    fn a_derived_type_ignores_unknown_keys_at_every_depth() {
        for steps in
            [&[][..], &["pages", "0"], &["by_number", "#7"], &["form", "Bound"], &["form", "Loose"]]
        {
            assert_eq!(use_of_unknown(decode::<Book>, &route(steps)), Use::Ignored, "{steps:?}");
        }
        assert_eq!(use_of_unknown(decode::<Option<Box<Book>>>, &[]), Use::Ignored);
    }

    #[test]
    fn nothing_is_known_of_what_serde_buffers_and_of_what_takes_or_refuses_every_key() {
        assert_eq!(use_of_unknown(decode::<Untagged>, &[]), Use::Unclear);
        assert_eq!(use_of_unknown(decode::<Tagged>, &[]), Use::Unclear);
        assert_eq!(use_of_unknown(decode::<Flattened>, &[]), Use::Unclear);
        assert_eq!(use_of_unknown(decode::<HashMap<String, i64>>, &[]), Use::Read);
        assert_eq!(use_of_unknown(decode::<Value>, &[]), Use::Unclear);
        assert_eq!(use_of_unknown(decode::<Strict>, &[]), Use::Refused);
        assert_eq!(use_of(decode::<Untagged>, &[], "text"), Use::Unclear);
    }

    #[test]
    fn an_alias_is_read_and_gives_its_field() {
        assert_eq!(use_of(decode::<Book>, &[], "name"), Use::Read);
        assert_eq!(use_of(decode::<Book>, &[], "nam"), Use::Ignored);
        assert_eq!(use_of(decode::<Strict>, &[], "ay"), Use::Read);
        assert_eq!(use_of(decode::<Strict>, &[], "be"), Use::Refused);
        assert!(gives(decode::<Book>, &[], ("name", &json!("x")), "title"));
        assert!(!gives(decode::<Book>, &[], ("name", &json!("x")), "pages"));
    }

    #[test]
    fn a_part_is_taken_whatever_is_missing_around_it() {
        let page = route(&["pages", "0"]);
        assert_eq!(takes(decode::<Book>, &page, &json!({ "text": "x" })), Some(Ok(())));
        assert!(matches!(takes(decode::<Book>, &page, &json!({})), Some(Err(_))));
        assert_eq!(takes(decode::<Tagged>, &route(&["text"]), &json!(1)), None);
    }

    #[test]
    fn an_item_of_a_tuple_is_asked_as_what_it_is() {
        let value = json!([{ "a": 1 }, { "text": "x" }]);
        let second = Step::item(value.as_array().expect("a list"), 1);
        assert_eq!(use_of(decode::<(Strict, Page)>, &[second], "text"), Use::Read);
        assert_eq!(ignored(decode::<(Strict, Page)>, &value), Some(Vec::new()));
    }

    #[test]
    fn every_ignored_key_is_found() {
        let value = json!({ "x": 1, "pages": [{ "text": "a" }, { "text": "b", "y": 2 }] });
        let found = ignored(decode::<Book>, &value).expect("few bytes");
        assert_eq!(found[0], route(&["x"]));
        assert_eq!(found[1].last(), Some(&Step::Key("y".into())));
        assert_eq!(found.len(), 2);
    }
}
