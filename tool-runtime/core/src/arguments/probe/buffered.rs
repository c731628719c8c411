//! The same questions about parts that serde buffers, of which a text that ends too early tells nothing: a whole value is
//! decoded with changes.

use super::{Decode, End, Step, at, quoted};
use serde_json::Value;

/// Whether the type ignores `key` in the object at the end of `route`, where serde buffers. The whole `value` is decoded
/// with changes: nothing done to an ignored key changes the outcome, and giving one of its `fields` twice does.
pub(crate) fn ignores(
    decode: Decode,
    value: &Value,
    route: &[Step],
    key: &str,
    fields: &[&str],
) -> bool {
    let plain = decode(&value.to_string()).end;
    let reacts = |first: &str, without: &str| {
        let text = rewritten(value, route, first, without);
        text.is_some_and(|text| decode(&text).end != plain)
    };
    let (name, given) = (quoted(key), at(value, route).and_then(|object| object.get(key)));
    let twice = given.map(|given| format!("{name}:{given},")).unwrap_or_default();
    let is_read =
        reacts(&twice, "") || JUNK.iter().any(|junk| reacts(&format!("{name}:{junk},"), key));
    !is_read && fields.iter().any(|field| reacts(&given_twice(field, JUNK[0]), ""))
}

/// Whether `key` gives the field `name`, as an alias does, in the object at the end of `route`, where serde buffers.
pub(crate) fn gives(decode: Decode, value: &Value, route: &[Step], key: &str, name: &str) -> bool {
    let Some(given) = at(value, route).and_then(|object| object.get(key)) else {
        return false;
    };
    let refused =
        |first: &str| match rewritten(value, route, first, "").map(|text| decode(&text).end) {
            Some(End::Refused(why)) => Some(why),
            _ => None,
        };
    let twice = refused(&given_twice(key, &given.to_string()));
    twice.is_some()
        && twice != refused("")
        && twice == refused(&format!("{}:{given},", quoted(name)))
}

/// Values of which no type that is not open takes all.
const JUNK: [&str; 4] = ["\"\\u0001\"", "-1.5", "[[]]", "{\"\\u0001\":null}"];

fn given_twice(key: &str, value: &str) -> String {
    let key = quoted(key);
    format!("{key}:{value},{key}:{value},")
}

/// The text of `value` in which the object at the end of `route` begins with `first` and lacks a key.
fn rewritten(value: &Value, route: &[Step], first: &str, without: &str) -> Option<String> {
    let Some((step, rest)) = route.split_first() else {
        let fields = value.as_object()?.iter().filter(|(key, _)| *key != without);
        let fields = fields.map(|(key, value)| format!("{}:{value},", quoted(key)));
        let fields = fields.fold(first.to_owned(), |text, field| text + &field);
        return Some(format!("{{{}}}", fields.trim_end_matches(',')));
    };
    match (step, value) {
        (Step::Key(name), Value::Object(fields)) => {
            let changed = rewritten(fields.get(name)?, rest, first, without)?;
            let field = |(key, value): (&String, &Value)| match key == name {
                true => format!("{}:{changed}", quoted(key)),
                false => format!("{}:{value}", quoted(key)),
            };
            Some(format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(",")))
        }
        (Step::Item { index, .. }, Value::Array(items)) => {
            let changed = rewritten(items.get(*index)?, rest, first, without)?;
            let item = |(at, item): (usize, &Value)| match at == *index {
                true => changed.clone(),
                false => item.to_string(),
            };
            Some(format!("[{}]", items.iter().enumerate().map(item).collect::<Vec<_>>().join(",")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::probe::decode;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Tagged {
        Page {
            #[serde(alias = "name")]
            title: String,
            #[serde(alias = "info")]
            extra: Option<Value>,
        },
        Any(Value),
    }

    #[test]
    fn a_field_that_changes_nothing_is_ignored() {
        let ignored = |value: Value, key: &str| {
            ignores(decode::<Tagged>, &value, &[], key, &["title", "extra"])
        };
        assert!(ignored(json!({ "kind": "Page", "title": "x", "z": 1 }), "z"));
        assert!(ignored(json!({ "z": 1, "kind": "Page", "titel": "x" }), "titel"));
        assert!(!ignored(json!({ "kind": "Page", "name": "x" }), "name"));
        assert!(!ignored(json!({ "kind": "Page", "title": "x", "info": 1 }), "info"));
        assert!(!ignored(json!({ "kind": "Any", "z": 1 }), "z"));
    }

    #[test]
    fn a_field_that_cannot_be_given_beside_its_alias_is_given_by_it() {
        let value = json!([{ "kind": "Page", "name": "x", "z": 1 }]);
        let route = [Step::alone(0)];
        let given = |key, name| gives(decode::<Vec<Tagged>>, &value, &route, key, name);
        assert!(given("name", "title"));
        assert!(!given("name", "extra"));
        assert!(!given("z", "title"));
    }
}
