//! The members of an object by known keys.

use super::keys::{Keys, Treatment, snake_case};
use crate::findings::{Findings, Location};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tool_runtime_core::seam::nearest;

/// A member of an object, with its location.
#[derive(Clone)]
pub(super) struct Member<'a> {
    pub(super) location: Location,
    pub(super) value: &'a Value,
    /// The name of its key, in snake case.
    pub(super) key: &'static str,
}

impl Member<'_> {
    /// Whether the value has no effect.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::Bool(asked) => !asked,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
            Value::Number(_) => false,
        }
    }
}

/// The members of an object by known keys.
pub(super) struct Entry<'a> {
    location: Location,
    members: BTreeMap<&'static str, Member<'a>>,
    /// The location of a key, by the first of its names.
    locations: BTreeMap<&'static str, Location>,
}

impl<'a> Entry<'a> {
    /// Sorts members by the treatment of their keys. Null counts as absent; camel case and snake case are the same.
    pub(super) fn read(
        location: &Location,
        object: &'a Map<String, Value>,
        keys: Keys,
        findings: &mut Findings,
    ) -> Self {
        let mut members: BTreeMap<&'static str, Member<'a>> = BTreeMap::new();
        for (written, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let here = location.key(written);
            let Some((key, treatment)) = look_up(keys, written) else {
                unknown(written, &here, keys, findings);
                continue;
            };
            let found = Member { location: here, value, key };
            match treatment {
                Treatment::Read => {
                    if let Some(twice) = members.get(key) {
                        let text = format!("it duplicates `{}`", twice.location.last());
                        findings.problem(&found.location, text, "keep one of the two");
                        continue;
                    }
                    members.insert(key, found);
                }
                Treatment::Ignored(instead) => {
                    findings.warn(&found.location, "it is not acted on", *instead);
                }
                Treatment::Unsupported(_) if found.is_empty() => {}
                Treatment::Unsupported(instead) => {
                    findings.problem(&found.location, "it is not supported", *instead);
                }
            }
        }
        Self { location: location.clone(), members, locations: BTreeMap::new() }
    }

    /// The value of the first of these synonymous keys.
    pub(super) fn one_of(
        &mut self,
        keys: &[&'static str],
        findings: &mut Findings,
    ) -> Option<Member<'a>> {
        let mut found = keys.iter().filter_map(|key| self.members.remove(key));
        let first = found.next()?;
        for other in found {
            let text = format!("it duplicates `{}`", first.location.last());
            findings.problem(&other.location, text, "keep one of the two");
        }
        self.locations.insert(keys[0], first.location.clone());
        Some(first)
    }

    /// Reports problems of one key at another location.
    pub(super) fn report_at(&mut self, key: &'static str, location: &Location) {
        self.locations.entry(key).or_insert_with(|| location.clone());
    }

    /// Sets a key, unless it has an effective value.
    pub(super) fn put(&mut self, key: &'static str, member: Member<'a>, findings: &mut Findings) {
        if self.members.get(key).is_some_and(|known| !known.is_empty()) {
            let text = format!("it duplicates `{key}`");
            findings.problem(&member.location, text, "keep one of the two");
        } else {
            self.members.insert(key, member);
        }
    }

    /// The value of a key, if it has the right form; otherwise it is left for another reader.
    pub(super) fn take_if(
        &mut self,
        key: &'static str,
        is_form: impl Fn(&Value) -> bool,
    ) -> Option<Member<'a>> {
        self.members.get(key).filter(|member| is_form(member.value))?;
        self.members.remove(key)
    }

    pub(super) fn has(&self, keys: &[&'static str]) -> bool {
        keys.iter().any(|key| self.members.contains_key(key))
    }

    /// Unread members.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Member<'a>> {
        self.members.values()
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// The location of a key as its author spelled it.
    pub(super) fn location_of(&self, key: &str) -> Location {
        self.locations.get(key).cloned().unwrap_or_else(|| self.location.key(key))
    }
}

fn look_up(keys: Keys, written: &str) -> Option<(&'static str, &'static Treatment)> {
    let snake = snake_case(written);
    keys.iter().find(|(key, _)| *key == snake).map(|(key, treatment)| (*key, treatment))
}

fn unknown(written: &str, here: &Location, keys: Keys, findings: &mut Findings) {
    let read = keys
        .iter()
        .filter(|(_, treatment)| matches!(treatment, Treatment::Read))
        .map(|(key, _)| *key);
    let help = match nearest(written, read, 1).first() {
        Some(near) => format!("did you mean `{}`?", spelled_like(written, near)),
        None => "remove it; the documentation of `McpConfig` lists the keys".to_owned(),
    };
    findings.problem(here, "no such key is known", help);
}

/// A name in snake case, or in camel case where the written name is not snake case.
fn spelled_like(written: &str, key: &str) -> String {
    if written.contains('_') || !written.contains(|c: char| c.is_ascii_uppercase()) {
        return key.to_owned();
    }
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        camel + &head.to_ascii_uppercase() + tail
    })
}

#[cfg(test)]
mod tests {
    use super::spelled_like;
    use crate::read::keys::snake_case;

    #[test]
    fn camel_case_and_snake_case_are_equal() {
        for (written, snake) in [
            ("includeTools", "include_tools"),
            ("include_tools", "include_tools"),
            ("httpUrl", "http_url"),
            ("CLIENT_ID", "client_id"),
            ("oauth2Url", "oauth2_url"),
            ("", ""),
        ] {
            assert_eq!(snake_case(written), snake);
        }
    }

    #[test]
    fn a_suggestion_uses_the_case_of_the_configuration() {
        assert_eq!(spelled_like("includTools", "include_tools"), "includeTools");
        assert_eq!(spelled_like("includ_tools", "include_tools"), "include_tools");
        assert_eq!(spelled_like("comand", "command"), "command");
    }
}
