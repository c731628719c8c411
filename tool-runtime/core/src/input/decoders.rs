//! What the types of arguments take beyond their schema: aliases, defaults that only serde knows. An issue that a type's
//! own decoding contradicts is not a mistake.

use crate::arguments::probe::{self, Decode, Step, Use, at};
use crate::issue::Issue;
use crate::parameter::Parameter;
use crate::schema::check;
use serde_json::Value;
use std::cell::Cell;

/// Rules that decoding enforces as well as a schema does.
const DECODED: &[&str] = &["type", "enum", "const", "anyOf", "oneOf"];

/// The types that decode a tool's arguments.
#[derive(Clone, Copy)]
pub(super) enum Decoders {
    /// Nothing is known of them.
    None,
    /// One type for all arguments.
    Whole(Decode),
    /// One for each parameter.
    Each(&'static [Parameter]),
}

/// As many bytes are decoded to judge the issues of one call; those that are left count as mistakes.
const MAX_BYTES: usize = 64 << 20;

impl Decoders {
    /// What is wrong with the arguments, in the order of the schema, without what the types take that decode them. Of
    /// rules that decoding enforces as well, the types are asked only if they have `refused` the value.
    pub(super) fn mistakes(
        self,
        schema: &Value,
        (mut value, bytes): (Value, usize),
        refused: bool,
    ) -> Vec<Issue> {
        let mut issues = check::check(schema, &value);
        if issues.is_empty() || matches!(self, Self::None) {
            return issues;
        }
        let bytes_left = Cell::new(MAX_BYTES);
        let judge = Judge { decoders: self, schema, value: &value, refused, bytes, bytes_left };
        let aliases: Vec<Alias> = issues.iter().filter_map(|issue| judge.alias(issue)).collect();
        let bytes_left = judge.bytes_left;
        if !aliases.is_empty() {
            aliases.iter().for_each(|alias| alias.rename_in(&mut value));
            issues = check::check(schema, &value);
        }
        let judge = Judge { decoders: self, schema, value: &value, refused, bytes, bytes_left };
        issues.into_iter().filter_map(|issue| judge.judged(issue)).collect()
    }

    /// The type that decodes the parameter at `index`, where its value stands, and the value.
    pub(super) fn decoded(
        self,
        mut arguments: Value,
        index: usize,
    ) -> Option<(Decode, Vec<Step>, Value)> {
        let parameters = match self {
            Self::None => return None,
            Self::Whole(decode) => return Some((decode, Vec::new(), arguments)),
            Self::Each(parameters) => parameters,
        };
        let parameter = parameters.get(index)?;
        let map = arguments.as_object_mut()?;
        if parameter.is_flattened {
            map.retain(|key, _| parameters.iter().all(|other| other.name != key));
            return Some((parameter.decode, Vec::new(), arguments));
        }
        let value = map.get_mut(parameter.name)?.take();
        Some((parameter.decode, vec![Step::Key(parameter.name.to_owned())], value))
    }

    /// The type that decodes the value at `path`, and the way from there.
    fn part(self, path: &[Step]) -> Option<(Decode, &[Step])> {
        match self {
            Self::None => None,
            Self::Whole(decode) => Some((decode, path)),
            Self::Each(parameters) => {
                let (Step::Key(first), rest) = path.split_first()? else {
                    return None;
                };
                let own = parameters.iter().find(|p| !p.is_flattened && p.name == first);
                match own {
                    Some(parameter) => Some((parameter.decode, rest)),
                    None => Some((parameters.iter().find(|p| p.is_flattened)?.decode, path)),
                }
            }
        }
    }
}

/// Judges the issues of one call.
struct Judge<'a> {
    decoders: Decoders,
    schema: &'a Value,
    value: &'a Value,
    refused: bool,
    bytes: usize,
    bytes_left: Cell<usize>,
}

/// A field under another name, which serde takes and the schema does not know.
struct Alias {
    object: Vec<Step>,
    given: String,
    name: String,
}

impl Alias {
    fn rename_in(&self, value: &mut Value) {
        let object = self.object.iter().try_fold(value, |value, step| match step {
            Step::Key(name) => value.get_mut(name),
            Step::Item { index, .. } => value.get_mut(index),
        });
        if let Some(fields) = object.and_then(Value::as_object_mut)
            && let Some(field) = fields.shift_remove(&self.given)
        {
            fields.insert(self.name.clone(), field);
        }
    }
}

impl Judge<'_> {
    /// The issue, or what it should have been; nothing if it is not a mistake.
    fn judged(&self, issue: Issue) -> Option<Issue> {
        let Some(path) = read_path(issue.path(), self.value) else {
            return Some(issue);
        };
        match issue.rule() {
            "additionalProperties" | "unevaluatedProperties" => self.unless_read(issue, &path),
            // A default that only serde knows.
            "required" => (!self.refused || !self.takes(&path[..path.len() - 1])).then_some(issue),
            // serde may know a default for the last items of a tuple.
            "minItems" if check::is_tuple(self.schema, &path) => {
                (!self.takes(&path)).then_some(issue)
            }
            rule if self.refused && DECODED.contains(&rule) => {
                (!self.takes(&path)).then_some(issue)
            }
            _ => Some(issue),
        }
    }

    /// A field that the schema does not know and the type reads: if anything is wrong, it is the value.
    fn unless_read(&self, issue: Issue, path: &[Step]) -> Option<Issue> {
        let asked = ways(path).find_map(|path| {
            let (decode, route) = self.part(&path)?;
            let (Step::Key(key), way) = route.split_last()? else {
                return None;
            };
            match probe::use_of(decode, way, key) {
                Use::Read => Some(probe::takes(decode, route, at(self.value, &path)?)),
                // Buffered: taken, unless the type is seen to ignore it.
                Use::Unclear if !self.ignores(&path) => Some(None),
                _ => None,
            }
        });
        match asked {
            Some(Some(Err(why))) => {
                // It may quote the value of a field that the schema hides under another name.
                let hides = check::holds_secrets(self.schema, &path[..path.len() - 1]);
                let why = if hides { "its value is not of its type".to_owned() } else { why };
                let message = format!("`{}`: {why}", issue.path());
                Some(Issue::new(issue.path(), "type", message))
            }
            Some(_) => None,
            None => Some(issue),
        }
    }

    /// The alias behind an issue: a field that the schema does not know gives one that it misses.
    fn alias(&self, issue: &Issue) -> Option<Alias> {
        let path = read_path(issue.path(), self.value)?;
        let (Step::Key(last), object) = path.split_last()? else {
            return None;
        };
        let given = at(self.value, object)?.as_object()?;
        let names = check::fields_at(self.schema, &path).names;
        let missing = || names.iter().copied().filter(|name| !given.contains_key(*name));
        let unknown = || given.keys().map(String::as_str).filter(|key| !names.contains(key));
        let gives = |key: &str, name: &str| self.gives(object, (key, &given[key]), name);
        let (key, name) = match issue.rule() {
            "additionalProperties" | "unevaluatedProperties" => {
                (last.as_str(), missing().find(|name| gives(last, name))?)
            }
            "required" => (unknown().find(|key| gives(key, last))?, last.as_str()),
            _ => return None,
        };
        Some(Alias { object: object.to_vec(), given: key.to_owned(), name: name.to_owned() })
    }

    fn gives(&self, object: &[Step], field: (&str, &Value), name: &str) -> bool {
        ways(object).any(|way| {
            self.part(&way).is_some_and(|(decode, route)| probe::gives(decode, route, field, name))
        }) || self.buffered(object).is_some_and(|(decode, value, route)| {
            probe::gives_buffered(decode, &value, route, field.0, name)
        })
    }

    /// Whether the type is seen to ignore the last key of `path`, where serde buffers.
    fn ignores(&self, path: &[Step]) -> bool {
        let Some((Step::Key(key), object)) = path.split_last() else {
            return false;
        };
        let fields = check::plain_names_at(self.schema, object);
        self.buffered(object).is_some_and(|(decode, value, route)| {
            probe::ignores_buffered(decode, &value, route, key, &fields)
        })
    }

    /// The type that decodes the value at `path`, all that it decodes, and the way from there.
    fn buffered<'p>(&self, path: &'p [Step]) -> Option<(Decode, Value, &'p [Step])> {
        let (decode, route) = self.part(path)?;
        let value = at(self.value, &path[..path.len() - route.len()])?.clone();
        Some((decode, value, route))
    }

    /// Whether a part of the value, or something that it is a part of, decodes.
    fn takes(&self, path: &[Step]) -> bool {
        let upwards = (0..=path.len()).rev().map(|length| &path[..length]);
        upwards.flat_map(ways).any(|way| {
            let part = self.part(&way).zip(at(self.value, &way));
            part.is_some_and(|((decode, route), value)| {
                probe::takes(decode, route, value) == Some(Ok(()))
            })
        })
    }

    /// The type to ask about the value at `path`, as long as there is time to ask.
    fn part<'p>(&self, path: &'p [Step]) -> Option<(Decode, &'p [Step])> {
        self.bytes_left.set(self.bytes_left.get().checked_sub(self.bytes)?);
        self.decoders.part(path)
    }
}

/// A path as it is, and with each item as if it were alone: an item before it may be the one that does not decode.
fn ways(path: &[Step]) -> impl Iterator<Item = Vec<Step>> + use<> {
    let alone = |step: &Step| match step {
        Step::Item { index, .. } => Step::alone(*index),
        Step::Key(name) => Step::Key(name.clone()),
    };
    let alone: Vec<Step> = path.iter().map(alone).collect();
    let differs = alone != path;
    std::iter::once(path.to_vec()).chain(differs.then_some(alone))
}

/// The steps of an issue's path: `filter.tags[2]["odd name"]`. `None` for a path whose names are cut or hidden.
fn read_path(path: &str, value: &Value) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('[') {
            let mut parts = serde_json::Deserializer::from_str(behind).into_iter::<Value>();
            let step = match parts.next()?.ok()? {
                Value::String(name) if !name.ends_with('…') => Step::Key(name),
                Value::Number(index) => {
                    let items = at(value, &steps)?.as_array()?;
                    Step::item(items, usize::try_from(index.as_u64()?).ok()?)
                }
                _ => return None,
            };
            steps.push(step);
            rest = behind[parts.byte_offset()..].strip_prefix(']')?;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    Some(steps)
}
