//! The keywords about the properties of objects.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::names::{self, Known};
use crate::schema::check::parts;
use crate::schema::check::walk::Walker;
use crate::schema::engine::Pattern;

/// The rules of one schema for the properties of an object.
struct Rules<'s> {
    declared: Option<&'s Map<String, Value>>,
    required: HashSet<&'s str>,
    patterns: Vec<(Pattern, &'s Value)>,
    others: Option<&'s Value>,
}

impl<'s> Rules<'s> {
    /// The rules in a schema.
    fn of(walker: &Walker<'s>, schema: &'s Map<String, Value>) -> Self {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        Self {
            declared: schema.get("properties").and_then(Value::as_object),
            required: parts::list_of(schema, "required").filter_map(Value::as_str).collect(),
            patterns: patterns
                .into_iter()
                .flatten()
                .filter_map(|(name, schema)| Some((walker.regex(name)?, schema)))
                .collect(),
            others: schema.get("additionalProperties"),
        }
    }

    /// The schema of a property.
    fn declaration(&self, name: &str) -> Option<&'s Value> {
        self.declared?.get(name)
    }

    /// The properties with separate schemas.
    fn declared_properties(&self) -> Known<'_> {
        Known {
            names: self.declared.into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
            patterns: self.patterns.iter().map(|(pattern, _)| pattern.as_str()).collect(),
        }
    }

    /// The schemas of the patterns that a name matches.
    fn matching(&self, name: &str) -> Vec<&'s Value> {
        let matching = self.patterns.iter().filter(|(pattern, _)| pattern.is_match(name));
        matching.map(|(_, schema)| *schema).collect()
    }

    /// Whether a property counts as absent: null, where it is declared and not required.
    fn counts_as_absent(&self, name: &str, value: &Value) -> bool {
        value.is_null() && !self.required.contains(name) && self.declaration(name).is_some()
    }
}

/// Checks an object against the keywords of a schema: the declared properties in their order, then the others.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    object: &'v Map<String, Value>,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let rules = Rules::of(walker, schema);
    for (name, schema) in rules.declared.into_iter().flatten() {
        match object.get(name) {
            Some(value) if rules.counts_as_absent(name, value) => {}
            Some(value) => {
                let at = at.property(name, walker.is_secret(value));
                check_property(walker, schema, value, &at, found);
            }
            None if rules.required.contains(name.as_str()) => {
                found.add(names::missing(walker.root(), name, Some(schema), at));
            }
            None => {}
        }
    }
    for name in parts::list_of(schema, "required").filter_map(Value::as_str) {
        if rules.declaration(name).is_none() && !object.contains_key(name) {
            found.add(names::missing(walker.root(), name, None, at));
        }
    }
    check_others(walker, &rules, object, at, found);
    found.add_all(names::count(schema, object, at));
}

/// Checks the properties that match patterns or are not declared.
fn check_others<'s, 'v>(
    walker: &Walker<'s>,
    rules: &Rules<'s>,
    object: &'v Map<String, Value>,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    for (name, value) in object {
        if found.is_full() {
            break;
        }
        let matching = rules.matching(name);
        let known = rules.declaration(name).is_some() || !matching.is_empty();
        let at_entry = at.entry(name, walker.is_secret(value));
        for schema in matching.iter().filter(|_| !rules.counts_as_absent(name, value)) {
            check_property(walker, schema, value, &at_entry, found);
        }
        match rules.others.filter(|_| !known) {
            Some(Value::Bool(false)) => {
                let (rule, known) = ("additionalProperties", rules.declared_properties());
                found.add(names::unknown(rule, name, &known, object, at));
            }
            Some(schema) => check_property(walker, schema, value, &at_entry, found),
            None => {}
        }
        if walker.tracks_evaluated() && (known || rules.others.is_some()) {
            found.evaluated.insert(name);
        }
    }
}

/// Checks one property.
pub(super) fn check_property<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Value,
    value: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    found.descend(|found| walker.walk(schema, value, at, found));
}
