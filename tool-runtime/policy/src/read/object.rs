//! Reads objects strictly: every mistake is noted, and unknown keys are mistakes.

use super::path::DocumentPath;
use super::problem::Fault;
use serde_json::{Map, Value};
use tool_runtime_core::seam::nearest;

/// Mistakes and their paths.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(pub(crate) Vec<(DocumentPath, Fault)>);

impl Mistakes {
    pub(crate) fn add(
        &mut self,
        path: &DocumentPath,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.0.push((path.clone(), Fault::new(text, help)));
    }

    /// A valid value, or a note.
    pub(crate) fn valid<T>(&mut self, path: &DocumentPath, value: Result<T, Fault>) -> Option<T> {
        value.map_err(|fault| self.0.push((path.clone(), fault))).ok()
    }
}

/// A value with its path.
#[derive(Clone)]
pub(crate) struct At<'v> {
    pub(crate) path: DocumentPath,
    pub(crate) value: &'v Value,
}

/// An object whose keys are taken one after the other.
pub(crate) struct Object<'v> {
    pub(crate) path: DocumentPath,
    members: &'v Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'v> At<'v> {
    /// The value as an object.
    pub(crate) fn object(&self, mistakes: &mut Mistakes) -> Option<Object<'v>> {
        match self.value {
            Value::Object(members) => {
                Some(Object { path: self.path.clone(), members, known: Vec::new() })
            }
            other => {
                let text = format!("this is {}", kind(other));
                mistakes.add(&self.path, text, "write an object with keys");
                None
            }
        }
    }

    /// The value as an object with at least one key: a condition about none would hold for all.
    pub(crate) fn filled_object(&self, mistakes: &mut Mistakes) -> Option<Object<'v>> {
        let object = self.object(mistakes)?;
        if object.members.is_empty() {
            mistakes.add(&self.path, "the object is empty", "write a key, or remove this one");
            return None;
        }
        Some(object)
    }

    /// The items of a list.
    pub(crate) fn items(&self, mistakes: &mut Mistakes) -> Vec<At<'v>> {
        let Value::Array(items) = self.value else {
            let text = format!("this is {}", kind(self.value));
            mistakes.add(&self.path, text, "write a list");
            return Vec::new();
        };
        let item = |(index, value)| At { path: self.path.index(index), value };
        items.iter().enumerate().map(item).collect()
    }

    /// The value itself, or the items of a list of at least one.
    pub(crate) fn one_or_more(&self, mistakes: &mut Mistakes) -> Vec<At<'v>> {
        match self.value {
            Value::Array(items) if items.is_empty() => {
                mistakes.add(&self.path, "the list is empty", "write an item, or remove the key");
                Vec::new()
            }
            Value::Array(_) => self.items(mistakes),
            _ => vec![self.clone()],
        }
    }
}

impl<'v> Object<'v> {
    /// The member of this name.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<At<'v>> {
        self.known.push(name);
        let value = self.members.get(name)?;
        Some(At { path: self.path.key(name), value })
    }

    /// All members, for objects whose keys are names.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'v str, At<'v>)> + '_ {
        let at = |(name, value): (&'v String, &'v Value)| {
            (name.as_str(), At { path: self.path.key(name), value })
        };
        self.members.iter().map(at)
    }

    /// Notes the keys that were not taken.
    pub(crate) fn finish(self, mistakes: &mut Mistakes) {
        for name in self.members.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let help = self.instead(name);
            mistakes.add(&self.path.key(name), format!("unknown key `{name}`"), help);
        }
    }

    fn instead(&self, name: &str) -> String {
        let mut instead = INSTEAD.iter();
        if let Some((_, own)) =
            instead.find(|(other, own)| *other == name && self.known.contains(own))
        {
            return format!("write `{own}`");
        }
        match nearest(name, self.known.iter().copied(), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of `{}`", self.known.join("`, `")),
        }
    }
}

/// Keys of other policy languages and of earlier versions, and those of this one.
const INSTEAD: &[(&str, &str)] = &[
    ("agent_id", "principal"),
    ("agent_id", "principals"),
    ("agent_ids", "principals"),
    ("approval_config", "approval"),
    ("calls", "max"),
    ("default_action", "default"),
    ("max_calls", "max"),
    ("max_duration_ms", "longer_than"),
    ("min_duration_ms", "longer_than"),
    ("per_what", "per"),
    ("regex", "pattern"),
    ("shell", "command"),
    ("target", "tools"),
    ("targets", "tools"),
    ("timeout_ms", "time_limit"),
    ("tool_id", "tool"),
    ("tool_id", "tools"),
    ("tool_ids", "tools"),
    ("url", "host"),
];

/// The kind of a value, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
