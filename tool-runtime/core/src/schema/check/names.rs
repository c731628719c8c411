//! Keywords about the names of properties.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::object::Rules;
use crate::schema::check::place::Place;
use crate::schema::check::text::limit;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, received, wording};

/// Checks the number and the names of an object's properties, and that those that need each other come together.
pub(super) fn check<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    rules: &Rules<'s>,
    object: &Map<String, Value>,
    at: &Place<'_>,
    found: &mut Findings<'_>,
) {
    found.add_all(number(schema, object, at));
    if let Some(schema) = schema.get("propertyNames") {
        for name in object.keys() {
            found.add_all(wrong_name(walker, schema, name, at));
        }
    }
    if let Some(Value::Object(needs)) = schema.get("dependentRequired") {
        for (name, others) in needs.iter().filter(|(name, _)| rules.is_given(name, object)) {
            let others = others.as_array().into_iter().flatten().filter_map(Value::as_str);
            for other in others.filter(|other| !rules.is_given(other, object)) {
                let schema = rules.declaration(other);
                found.add(missing_beside(walker.root(), name, other, schema, at));
            }
        }
    }
}

/// The issue, if there are too few or too many properties.
fn number(
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

/// The issue, if a name is not one that a property may have.
fn wrong_name<'s>(
    walker: &Walker<'s>,
    schema: &'s Value,
    name: &str,
    at: &Place<'_>,
) -> Option<Issue> {
    let value = Value::from(name);
    let issues = walker.probe(schema, &value, &at.name(name)).into_issues(None);
    issues.first().map(|issue| Issue::new(at.path(), "propertyNames", issue.message()))
}

/// The issue that a property is missing: "missing required argument `query` (string): the text to look for".
pub(super) fn missing(root: &Value, name: &str, schema: Option<&Value>, at: &Place<'_>) -> Issue {
    let kind = kind(root, schema);
    let about = about(root, schema);
    let message = format!(
        "missing required {} {}{}{kind}{about}",
        at.noun(),
        wording::name(name),
        at.owner()
    );
    Issue::new(at.property(name, false).path(), "required", message)
}

/// The issue that a property is missing which must come with `name`.
fn missing_beside(
    root: &Value,
    name: &str,
    other: &str,
    schema: Option<&Value>,
    at: &Place<'_>,
) -> Issue {
    let (noun, owner) = (at.noun(), at.owner());
    let (kind, about) = (kind(root, schema), about(root, schema));
    let (name, shown) = (wording::name(name), wording::name(other));
    let message = format!(
        "missing {noun} {shown}{owner}{kind}, which is required when {name} is given{about}"
    );
    Issue::new(at.property(other, false).path(), "dependentRequired", message)
}

/// " (string)", or nothing if the schema allows anything.
fn kind(root: &Value, schema: Option<&Value>) -> String {
    let kind = schema.and_then(|schema| describe::brief(root, schema));
    kind.map(|kind| format!(" ({kind})")).unwrap_or_default()
}

/// ": the text to look for", or nothing if the schema does not say.
fn about(root: &Value, schema: Option<&Value>) -> String {
    let about = schema.and_then(|schema| describe::first_line(root, schema));
    about.map(|about| format!(": {about}")).unwrap_or_default()
}
