//! One alternative of `anyOf` or `oneOf`, seen through its references.

use serde_json::{Map, Value};

use crate::schema::check::kind::{self, Kind};
use crate::schema::check::literal::same;
use crate::schema::check::{literal, parts};

/// Limit on the nesting of examined alternatives.
const MAX_DEPTH: usize = 4;

/// The one value of type `null`.
static NULL: Value = Value::Null;

/// One of several alternatives, with all schemas that apply together with it.
pub(super) struct Variant<'s> {
    root: &'s Value,
    schema: &'s Value,
    parts: Vec<&'s Map<String, Value>>,
}

impl<'s> Variant<'s> {
    /// The variant that `schema` is.
    pub(super) fn new(root: &'s Value, schema: &'s Value) -> Self {
        Self { root, schema, parts: parts::certain(root, schema) }
    }

    /// The schema as written.
    pub(super) fn schema(&self) -> &'s Value {
        self.schema
    }

    /// The schema and those that hold with it.
    pub(super) fn parts(&self) -> &[&'s Map<String, Value>] {
        &self.parts
    }

    /// The alternatives within.
    pub(super) fn branches(&self) -> impl Iterator<Item = &'s Value> {
        self.parts
            .iter()
            .flat_map(|part| parts::list_of(part, "anyOf").chain(parts::list_of(part, "oneOf")))
    }

    /// The values it allows, if it lists them.
    pub(super) fn literals(&self) -> Option<Vec<&'s Value>> {
        self.literals_within(MAX_DEPTH)
    }

    /// The values it allows, if it or all alternatives within list them.
    fn literals_within(&self, levels: usize) -> Option<Vec<&'s Value>> {
        if let Some(values) = self.parts.iter().find_map(|part| literal::of_schema(part)) {
            return Some(values);
        }
        if self.parts.iter().any(|part| kind::of_schema(part).as_deref() == Some(&[Kind::Null])) {
            return Some(vec![&NULL]);
        }
        let below = levels.checked_sub(1)?;
        let values =
            self.branches().map(|branch| Variant::new(self.root, branch).literals_within(below));
        let values: Vec<_> = values.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
        (!values.is_empty()).then_some(values)
    }

    /// Whether a value of this type could match.
    pub(super) fn admits(&self, kind: Kind) -> bool {
        self.admits_within(kind, MAX_DEPTH)
    }

    /// Whether a value of this type could match; assumed below `levels`.
    fn admits_within(&self, kind: Kind, levels: usize) -> bool {
        let Some(below) = levels.checked_sub(1) else {
            return true;
        };
        let admits = |branch| Variant::new(self.root, branch).admits_within(kind, below);
        self.schema != &Value::Bool(false)
            && self.parts.iter().all(|part| {
                kind::admits(part, kind)
                    && literal::of_schema(part).is_none_or(|values| {
                        values.iter().any(|value| Kind::of(value).may_equal(kind))
                    })
                    && ["anyOf", "oneOf"].iter().all(|keyword| {
                        let mut branches = parts::list_of(part, keyword).peekable();
                        branches.peek().is_none() || branches.any(admits)
                    })
            })
    }

    /// Whether the value cannot match: wrong type, a missing property, or another tag. This avoids walks of nested
    /// alternatives.
    pub(super) fn cannot_match(&self, value: &Value) -> bool {
        let Value::Object(object) = value else {
            return !self.admits(Kind::of(value));
        };
        !self.admits(Kind::Object)
            || self.required().iter().any(|name| match (object.get(*name), self.tag_values(name)) {
                (None, _) => true,
                (Some(value), Some(wanted)) => !wanted.iter().any(|wanted| same(wanted, value)),
                (Some(_), None) => false,
            })
    }

    /// The names of the properties it requires.
    pub(super) fn required(&self) -> Vec<&'s str> {
        let lists = self.parts.iter().flat_map(|part| parts::list_of(part, "required"));
        let mut names = Vec::new();
        for name in lists.filter_map(Value::as_str) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The properties it declares.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten()
    }

    /// The values that the property `name` may have, if it is a tag.
    pub(super) fn tag_values(&self, name: &str) -> Option<Vec<&'s Value>> {
        let (_, schema) = self.properties().find(|(property, _)| *property == name)?;
        Variant::new(self.root, schema).literals()
    }

    /// The names of its tags.
    pub(super) fn tags(&self) -> Vec<&'s str> {
        self.required().into_iter().filter(|name| self.tag_values(name).is_some()).collect()
    }

    /// The name of its only property, if it is required: an externally tagged variant.
    pub(super) fn sole_field(&self) -> Option<&'s str> {
        let mut properties = self.properties();
        match (self.required().as_slice(), properties.next(), properties.next()) {
            ([required], Some((name, _)), None) if required == name => Some(*required),
            _ => None,
        }
    }
}
