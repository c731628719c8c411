//! Finds the fields that a schema declares at a path, for unknown keys that decoding reports.

use serde_json::{Map, Value};

use crate::schema::check::{parts, wording};
use crate::schema::segment::Segment;
use crate::vocabulary::error::Issue;

/// The fields that the schema declares for one object.
#[derive(Debug, Default)]
pub(crate) struct Fields<'s> {
    /// The declared names.
    pub(crate) names: Vec<&'s str>,
    /// Whether the schema allows the key, by its name or because it allows others.
    pub(crate) is_allowed: bool,
}

/// The fields of the object that holds the last key of `path`.
pub(crate) fn fields_at<'s>(root: &'s Value, path: &[Segment]) -> Fields<'s> {
    let Some((Segment::Key(key), way)) = path.split_last() else {
        return Fields::default();
    };
    let mut fields = Fields::default();
    for part in parts_at(root, way) {
        let declared = part.get("properties").and_then(Value::as_object).into_iter().flatten();
        fields.names.extend(declared.map(|(name, _)| name.as_str()));
        let mut others = ["additionalProperties", "unevaluatedProperties"].into_iter();
        fields.is_allowed |= others.any(|keyword| part.get(keyword).is_some_and(|o| o != false));
    }
    fields.is_allowed |= fields.names.contains(&key.as_str());
    fields
}

/// Whether the value at the end of `path` may contain a secret.
pub(crate) fn holds_secrets(root: &Value, path: &[Segment]) -> bool {
    const SECRET: &str = r#""writeOnly":true"#;
    let is_secret = |schema: &Map<String, Value>| {
        serde_json::to_string(schema).is_ok_and(|text| {
            // A definition that is referred to may be secret, too.
            text.contains(SECRET) || text.contains("\"$ref\"") && root.to_string().contains(SECRET)
        })
    };
    parts_at(root, path).into_iter().any(is_secret)
}

/// The schemas that may apply to the value at the end of `path`.
fn parts_at<'s>(root: &'s Value, path: &[Segment]) -> Vec<&'s Map<String, Value>> {
    let mut schemas = vec![root];
    for step in path {
        schemas =
            schemas.into_iter().flat_map(|schema| applicable_below(root, schema, step)).collect();
    }
    schemas.into_iter().flat_map(|schema| parts::possible(root, schema)).collect()
}

/// The issue for the last key of `path`, which is not a field of the object that contains it.
pub(crate) fn unknown_field(root: &Value, path: &[Segment]) -> Option<Issue> {
    let (Segment::Key(key), way) = path.split_last()? else {
        return None;
    };
    let names = fields_at(root, path).names;
    let (owner, name) = (path_text(way), wording::name(key));
    let hint = wording::did_you_mean(key, names.iter().copied(), wording::name);
    let listed =
        wording::list_of(&names.iter().map(|name| wording::name(name)).collect::<Vec<_>>());
    let known = match listed.is_empty() {
        true => String::new(),
        false => format!("{} the fields are {listed}", if hint.is_empty() { ";" } else { "" }),
    };
    let message = format!("unknown field {name} of `{owner}`{hint}{known}");
    Some(Issue::new(path_text(path), "additionalProperties", message))
}

/// Formats a path as in issues.
fn path_text(path: &[Segment]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Segment::Item { index, .. } => text.push_str(&format!("[{index}]")),
            Segment::Key(name) => wording::add_name(&mut text, name),
        }
    }
    text
}

/// The schemas that may apply to a part of a value.
fn applicable_below<'s>(root: &'s Value, schema: &'s Value, step: &Segment) -> Vec<&'s Value> {
    let mut found = Vec::new();
    for part in parts::possible(root, schema) {
        match step {
            Segment::Key(key) => {
                let own = part.get("properties").and_then(|properties| properties.get(key));
                found.extend(own.or_else(|| part.get("additionalProperties")));
            }
            Segment::Item { index, .. } => {
                let own = parts::list_of(part, "prefixItems").nth(*index);
                found.extend(own.or_else(|| part.get("items")));
            }
        }
    }
    found
}
