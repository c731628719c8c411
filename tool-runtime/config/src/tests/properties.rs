//! Property tests of expansion and of reading arbitrary documents.

use super::support::loader;
use crate::expand::{ExpandError, Reference, expand};
use crate::read;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// The variables of all tests.
fn look_up(name: &str) -> Option<&'static str> {
    match name {
        "A" => Some("1"),
        "B" => Some(""),
        "R" => Some("${"),
        _ => None,
    }
}

/// Reference implementation of the rules; `None` for a string that cannot be expanded.
fn oracle(text: &str) -> Option<String> {
    let Some(start) = text.find("${") else { return Some(text.to_owned()) };
    if text[..start].ends_with('$') {
        let (head, tail) = (&text[..start - 1], &text[start + 2..]);
        return Some(format!("{head}${{{}", oracle(tail)?));
    }
    let (body, tail) = text[start + 2..].split_once('}')?;
    let (name, default) = body.split_once(":-").map_or((body, None), |(n, d)| (n, Some(d)));
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
    if body.contains("${") || name.is_empty() || !is_name {
        return None;
    }
    let value = match (look_up(name), default) {
        (Some(""), Some(default)) | (None, Some(default)) => default,
        (Some(value), _) if !value.contains("${") => value,
        _ => return None,
    };
    Some(format!("{}{value}{}", &text[..start], oracle(tail)?))
}

fn piece() -> impl Strategy<Value = &'static str> {
    select(
        [
            "$", "{", "}", "${", "${A}", "${B}", "${C}", "${R}", ":-", "A", "ü", "${B:-x}", "$${",
            "?",
        ]
        .as_slice(),
    )
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn expansion_follows_the_rules(pieces in vec(piece(), 0..10)) {
        let text = pieces.concat();
        let expanded = expand(&text, |reference: &Reference<'_>| {
            look_up(reference.name).map(str::to_owned)
        });
        prop_assert_eq!(expanded.ok(), oracle(&text), "{}", text);
    }

    #[test]
    fn text_without_references_is_unchanged(text in "[^$]*") {
        prop_assert_eq!(expand(&text, |_| None), Ok(text.clone()));
    }

    #[test]
    fn expansion_never_panics(text in "\\PC*") {
        let found = expand(&text, |_| None::<String>);
        if let Err(mistakes) = found {
            prop_assert!(!mistakes.is_empty());
            prop_assert!(mistakes.iter().all(|mistake| *mistake != ExpandError::Recursive("")));
        }
    }

    #[test]
    fn parsing_text_never_panics(text in "[\\[\\]{}\",:/*a\\\\ \n0]{0,40}") {
        let json = loader().json(text.clone()).load();
        let plain: Result<Value, _> = serde_json::from_str(&text);
        // JSON without comments has the same meaning as JSON with comments.
        if plain.is_ok() && let Err(error) = json {
            prop_assert!(!error.to_string().contains("this is not JSON"), "{error}");
        }
    }

    #[test]
    fn reading_a_value_never_panics(value in document()) {
        for value in [value.clone(), json!({ "mcpServers": value.clone() }), json!({ "mcpServers": { "s": value } })] {
            match loader().value(value).load() {
                Ok(config) => prop_assert!(config.validate().is_ok(), "{config:?}"),
                Err(error) => prop_assert!(!error.problems.is_empty()),
            }
        }
    }

    #[test]
    fn a_value_and_its_text_give_the_same_configuration(value in document()) {
        let servers = json!({ "mcpServers": { "s": value } });
        let text = loader().json(servers.to_string()).load();
        prop_assert_eq!(loader().value(servers).load(), text);
    }
}

#[cfg(feature = "toml")]
proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn toml_and_json_give_the_same_configuration(value in document()) {
        let servers = json!({ "mcpServers": { "s": without_nulls(value) } });
        // Values that TOML cannot represent are skipped.
        if let Some(table) = table(&servers) {
            let toml = loader().toml(table).load();
            prop_assert_eq!(loader().value(servers).load(), toml);
        }
    }
}

#[cfg(feature = "toml")]
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            items.into_iter().filter(|item| !item.is_null()).map(without_nulls).collect()
        }
        Value::Object(object) => object
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        other => other,
    }
}

/// Formats an object as TOML: one line for each key, nested objects as inline tables.
#[cfg(feature = "toml")]
fn table(value: &Value) -> Option<String> {
    let object = value.as_object()?;
    let lines: Option<Vec<String>> = object
        .iter()
        .map(|(key, value)| Some(format!("{} = {}\n", quoted(key), inline(value)?)))
        .collect();
    Some(lines?.concat())
}

#[cfg(feature = "toml")]
fn inline(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(inline).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(object) => {
            let entry = |(key, value): (&String, &Value)| {
                Some(format!("{} = {}", quoted(key), inline(value)?))
            };
            let entries: Option<Vec<String>> = object.iter().map(entry).collect();
            format!("{{ {} }}", entries?.join(", "))
        }
    })
}

#[cfg(feature = "toml")]
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Objects with all spellings of the known keys, and some unknown keys.
fn document() -> impl Strategy<Value = Value> {
    let keys: Vec<String> = read::known_keys()
        .map(str::to_owned)
        .chain(["comand", "httpUrl", "mcpServers", "servers", "", "a.b", "ü"].map(str::to_owned))
        .collect();
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(vec![json!(0), json!(-1), json!(30), json!(60000), json!(1.5), json!(i64::MAX)]),
        select(vec![
            "",
            "x",
            "${TOKEN}",
            "${NOWHERE}",
            "https://example.com",
            "30s",
            "stdio",
            "http",
            "oauth",
            "~/x",
            "*"
        ])
        .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => btree_map(select(keys.clone()), inner, 0..5)
                .prop_map(|object| Value::Object(object.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
