//! Missing properties, and the number of properties.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::place::Place;
use crate::schema::check::text::limit;
use crate::schema::check::{describe, received, wording};

/// The issue about a wrong number of properties.
pub(super) fn count(
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
    at: &Place<'_>,
) -> Option<Issue> {
    let count = object.len() as u64;
    let fewest = limit(schema, "minProperties").filter(|fewest| count < *fewest);
    let most = limit(schema, "maxProperties").filter(|most| count > *most);
    let (rule, words, limit) = match (fewest, most) {
        (Some(fewest), _) => ("minProperties", "at least", fewest),
        (None, Some(most)) => ("maxProperties", "at most", most),
        (None, None) => return None,
    };
    let limit = wording::counted(limit, at.noun());
    let got = received::got_count(object.len(), at);
    Some(Issue::new(at.path(), rule, format!("{} must have {words} {limit}{got}", at.subject())))
}

/// The issue that a property is missing: "missing required argument `query` (string): the text to look for".
pub(super) fn missing(root: &Value, name: &str, schema: Option<&Value>, at: &Place<'_>) -> Issue {
    let kind = schema.and_then(|schema| describe::brief(root, schema));
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let about = schema.and_then(|schema| describe::first_line(root, schema));
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    let (noun, shown, owner) = (at.noun(), wording::name(name), at.owner());
    let message = format!("missing required {noun} {shown}{owner}{kind}{about}");
    Issue::new(at.property(name, false).path(), "required", message)
}
