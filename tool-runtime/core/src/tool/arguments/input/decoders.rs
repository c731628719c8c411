//! The types that decode a tool's arguments: their aliases, and the keys that they ignore.

use crate::schema::check;
use crate::schema::segment::{Segment, part_at};
use crate::tool::arguments::parameter::Parameter;
use crate::tool::arguments::probe::{self, Decode};
use crate::vocabulary::error::Issue;
use serde_json::Value;
use std::cell::Cell;

/// The types that decode a tool's arguments.
#[derive(Clone, Copy)]
pub(super) enum Decoders {
    /// Unknown types.
    None,
    /// One type for all arguments.
    Whole(Decode),
    /// One for each parameter.
    Each(&'static [Parameter]),
}

/// Limit on the bytes decoded to find the aliases in one call.
const MAX_BYTES: usize = 64 << 20;

impl Decoders {
    /// All mistakes in the arguments, in the order of the schema. Fields under an alias, which the schema does not
    /// contain, are renamed first, except aliases inside parts that serde buffers.
    pub(super) fn mistakes(self, schema: &Value, mut value: Value, bytes: usize) -> Vec<Issue> {
        let issues = check::check(schema, &value);
        if issues.is_empty() {
            return issues;
        }
        let search = AliasSearch {
            decoders: self,
            schema,
            value: &value,
            bytes,
            bytes_left: Cell::new(MAX_BYTES),
        };
        let aliases: Vec<Alias> = issues.iter().filter_map(|issue| search.alias(issue)).collect();
        if aliases.is_empty() {
            return issues;
        }
        aliases.iter().for_each(|alias| alias.rename_in(&mut value));
        check::check(schema, &value)
    }

    /// The type that decodes the parameter at `index`, the path of its value, and the value.
    pub(super) fn part(
        self,
        mut arguments: Value,
        index: usize,
    ) -> Option<(Decode, Vec<Segment>, Value)> {
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
        Some((parameter.decode, vec![Segment::Key(parameter.name.to_owned())], value))
    }

    /// The type that decodes the value at `path`, and the path within that type.
    fn of_part(self, path: &[Segment]) -> Option<(Decode, &[Segment])> {
        match self {
            Self::None => None,
            Self::Whole(decode) => Some((decode, path)),
            Self::Each(parameters) => {
                let Some((Segment::Key(first), rest)) = path.split_first() else {
                    return None;
                };
                let named = parameters.iter().find(|p| !p.is_flattened && p.name == first);
                match named {
                    Some(parameter) => Some((parameter.decode, rest)),
                    None => Some((parameters.iter().find(|p| p.is_flattened)?.decode, path)),
                }
            }
        }
    }
}

/// A search for aliases in the issues of one call.
struct AliasSearch<'a> {
    decoders: Decoders,
    schema: &'a Value,
    value: &'a Value,
    bytes: usize,
    bytes_left: Cell<usize>,
}

/// A field under an alias: serde accepts it, the schema does not contain it.
struct Alias {
    object: Vec<Segment>,
    key: String,
    name: String,
}

impl AliasSearch<'_> {
    /// The alias that caused an issue about an unknown field or a missing one.
    fn alias(&self, issue: &Issue) -> Option<Alias> {
        let path = read_path(issue.path(), self.value)?;
        let Some((Segment::Key(last), object)) = path.split_last() else {
            return None;
        };
        let members = part_at(self.value, object)?.as_object()?;
        let names = check::fields_at(self.schema, &path).names;
        let (key, name) = match issue.rule() {
            "additionalProperties" | "unevaluatedProperties" => {
                let mut missing = names.into_iter().filter(|name| !members.contains_key(*name));
                let value = members.get(last)?;
                (last.as_str(), missing.find(|name| self.is_alias(object, (last, value), name))?)
            }
            "required" => {
                let mut unknown = members.iter().filter(|(key, _)| !names.contains(&key.as_str()));
                let is_alias =
                    |(key, value): &(&String, &Value)| self.is_alias(object, (key, value), last);
                (unknown.find(is_alias)?.0.as_str(), last.as_str())
            }
            _ => return None,
        };
        Some(Alias { object: object.to_vec(), key: key.to_owned(), name: name.to_owned() })
    }

    fn is_alias(&self, object: &[Segment], (key, value): (&str, &Value), name: &str) -> bool {
        let Some(left) = self.bytes_left.get().checked_sub(self.bytes) else {
            return false;
        };
        self.bytes_left.set(left);
        let part = self.decoders.of_part(object);
        part.is_some_and(|(decode, path)| probe::is_alias(decode, path, key, value, name))
    }
}

impl Alias {
    fn rename_in(&self, value: &mut Value) {
        let object = self.object.iter().try_fold(value, |value, step| match step {
            Segment::Key(name) => value.get_mut(name),
            Segment::Item { index, .. } => value.get_mut(index),
        });
        if let Some(fields) = object.and_then(Value::as_object_mut)
            && let Some(field) = fields.shift_remove(&self.key)
        {
            fields.insert(self.name.clone(), field);
        }
    }
}

/// The steps of an issue's path: `filter.tags[2]["odd name"]`. `None` for a path with a name that is cut or hidden.
fn read_path(path: &str, value: &Value) -> Option<Vec<Segment>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let mut parts = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
            let step = match parts.next()?.ok()? {
                Value::String(name) if !name.ends_with('…') => Segment::Key(name),
                Value::Number(index) => {
                    let items = part_at(value, &steps)?.as_array()?;
                    Segment::item(items, usize::try_from(index.as_u64()?).ok()?)
                }
                _ => return None,
            };
            steps.push(step);
            rest = inside[parts.byte_offset()..].strip_prefix(']')?;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Segment::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    Some(steps)
}
