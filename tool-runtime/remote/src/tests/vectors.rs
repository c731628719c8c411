//! The schemas and vectors in `docs`, on which authors of other programs rely, against the code. With `BLESS=1` the results in
//! the files are written anew.

mod decisions;
mod digests;
mod fields;
mod messages;

use serde_json::Value;
use std::path::PathBuf;

/// The variants of an enum by their names. A new variant does not compile until it is named here, and is missed in the files
/// from then on.
trait Variants {
    const ALL: &'static [&'static str];

    fn variant(&self) -> &'static str;
}

macro_rules! variants {
    ($($type:ty { $($name:ident),* $(,)? })*) => {$(
        impl Variants for $type {
            const ALL: &'static [&'static str] = &[$(stringify!($name)),*];

            fn variant(&self) -> &'static str {
                match self { $(Self::$name { .. } => stringify!($name)),* }
            }
        }
    )*};
}
use variants;

/// Fails if one of the variants is missing.
fn assert_complete<V: Variants>(given: impl IntoIterator<Item = V>) {
    let given: Vec<&str> = given.into_iter().map(|it| it.variant()).collect();
    for name in V::ALL {
        assert!(given.contains(name), "no vector has {}::{name}", std::any::type_name::<V>());
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).join(name)
}

fn load(name: &str) -> Value {
    let text = std::fs::read_to_string(path(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Compares a file with what the code gives. Objects and arrays are written on several lines down to a depth.
fn check(name: &str, expected: &Value, depth: usize) {
    if std::env::var_os("BLESS").is_some() && load(name) != *expected {
        let mut text = String::new();
        lay_out(expected, depth, 0, &mut text);
        std::fs::write(path(name), text + "\n").unwrap();
    }
    let is_same = load(name) == *expected;
    assert!(
        is_same,
        "docs/{name} differs from the code; `BLESS=1` writes it anew, and `git diff` shows how"
    );
}

fn lay_out(value: &Value, depth: usize, indent: usize, text: &mut String) {
    let (open, close, items): (_, _, Vec<(String, &Value)>) = match value {
        Value::Object(members) if depth > 0 && !members.is_empty() => {
            let member = |(key, value)| (format!("{}: ", Value::from(key as &str)), value);
            ('{', '}', members.iter().map(|(key, value)| member((key.as_str(), value))).collect())
        }
        Value::Array(items) if depth > 0 && !items.is_empty() => {
            ('[', ']', items.iter().map(|value| (String::new(), value)).collect())
        }
        value => return text.push_str(&value.to_string()),
    };
    text.push(open);
    for (index, (key, value)) in items.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        text.push_str(&format!("{comma}\n{}{key}", "  ".repeat(indent + 1)));
        lay_out(value, depth - 1, indent + 1, text);
    }
    text.push_str(&format!("\n{}{close}", "  ".repeat(indent)));
}
