//! The arguments as the tool gets them: by their advertised names, with defaults filled in at every depth.
//!
//! serde does not tell which other names a type takes. So a name or a string that the schema does not list, and that the
//! tool may take nevertheless, may stand for one that it lists: what is read of it is in doubt. So is a name beside one that
//! differs only in case: servers in Go, whose JSON decoder ignores case, take the last of them.

use super::Arguments;
use crate::schema::Applicable;
use crate::tool::tool::Tool;
use crate::vocabulary::unique_keys::unique_value;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The arguments of a call as its tool gets them.
#[derive(Debug, Default)]
pub struct EffectiveArguments {
    /// By advertised name. `None`: not an object, or one with a key twice.
    members: Option<Map<String, Value>>,
    /// Names that were given twice, once by an alias.
    repeated: HashSet<String>,
    doubts: Doubts,
}

/// An argument as the tool gets it.
#[derive(Clone, Copy, Debug)]
pub enum EffectiveArgument<'a> {
    /// Its value, which may be a default.
    Given(&'a Value),
    /// Absent or null, without a default.
    Absent,
    /// Given by two names, or the arguments are not an object with unique keys.
    Uncertain,
    /// Given by another name than that which the schema lists, perhaps.
    Doubtful,
}

/// The parts of arguments that may stand for others. Parts are known by their addresses, which stay the same.
#[derive(Debug, Default)]
struct Doubts {
    /// Names of the arguments that another name may stand for.
    names: HashSet<String>,
    /// Names in objects inside the arguments that another one may stand for.
    objects: HashMap<usize, HashSet<String>>,
    /// Strings that may be another name of a listed one.
    strings: HashSet<usize>,
}

impl EffectiveArguments {
    /// The arguments in a JSON text. Without a tool they are as written.
    pub fn new(text: &str, tool: Option<&Tool>) -> Self {
        let Some(Value::Object(written)) = unique_value(Arguments::new(text).as_str()) else {
            return Self::default();
        };
        let (mut members, mut repeated) = (Map::new(), HashSet::new());
        for (given, value) in written {
            let name = tool.map_or(&*given, |tool| tool.argument_name(&given)).to_owned();
            if members.insert(name.clone(), value).is_some() {
                repeated.insert(name);
            }
        }
        let (mut doubts, unknown) = (Doubts::default(), Map::new());
        let schema = tool.map_or(&unknown, |tool| &tool.definition().input_schema);
        doubts.names = doubts.complete(&mut members, &Applicable::of_object(schema));
        Self { members: Some(members), repeated, doubts }
    }

    /// An argument by its advertised name.
    pub fn get(&self, name: &str) -> EffectiveArgument<'_> {
        let Some(members) = &self.members else { return EffectiveArgument::Uncertain };
        match members.get(name) {
            _ if self.repeated.contains(name) => EffectiveArgument::Uncertain,
            _ if self.doubts.names.contains(name) => EffectiveArgument::Doubtful,
            None | Some(Value::Null) => EffectiveArgument::Absent,
            Some(value) => EffectiveArgument::Given(value),
        }
    }

    /// Whether a string in an argument may be another name of a listed one.
    pub fn is_doubtful(&self, text: &Value) -> bool {
        self.doubts.strings.contains(&address(text))
    }

    /// Whether an object in an argument may have the member by another name.
    pub fn may_have(&self, object: &Value, member: &str) -> bool {
        let names = self.doubts.objects.get(&address(object));
        names.is_some_and(|names| names.contains(member))
    }
}

impl Doubts {
    /// Fills in the defaults of an object and of all parts. Returns the names that others may stand for.
    fn complete(
        &mut self,
        members: &mut Map<String, Value>,
        schema: &Applicable<'_>,
    ) -> HashSet<String> {
        let has_unlisted = members.keys().any(|name| !schema.takes_name(name));
        if !has_unlisted {
            for (name, default) in schema.defaults() {
                if !members.contains_key(name) {
                    members.insert(name.to_owned(), default.clone());
                }
            }
        }
        let is_listed = |name: &str| schema.properties().any(|(listed, _)| listed == name);
        let mut doubtful = in_other_case(members, is_listed);
        let absent = schema.properties().filter(|(name, _)| !members.contains_key(*name));
        doubtful.extend(absent.filter(|_| has_unlisted).map(|(name, _)| name.clone()));
        // From here on no member is added, so that addresses stay.
        for (name, member) in members {
            self.complete_part(member, &schema.property(name), schema.default(name));
        }
        doubtful
    }

    fn complete_part(
        &mut self,
        part: &mut Value,
        schema: &Applicable<'_>,
        default: Option<&Value>,
    ) {
        if let (Value::Null, Some(default)) = (&*part, default)
            && !schema.allows_null()
        {
            part.clone_from(default);
        }
        let address = address(part);
        match part {
            Value::Object(members) => {
                let doubtful = self.complete(members, schema);
                if !doubtful.is_empty() {
                    self.objects.insert(address, doubtful);
                }
            }
            Value::Array(items) => {
                let schema = schema.items();
                items.iter_mut().for_each(|item| self.complete_part(item, &schema, None));
            }
            Value::String(text) if !schema.takes_text(text) => {
                self.strings.insert(address);
            }
            _ => {}
        }
    }
}

/// The names beside one that differs only in case and is not listed.
fn in_other_case(
    members: &Map<String, Value>,
    is_listed: impl Fn(&str) -> bool,
) -> HashSet<String> {
    if members.len() < 2 {
        return HashSet::new();
    }
    let names: Vec<(&String, String)> =
        members.keys().map(|name| (name, name.to_uppercase().to_lowercase())).collect();
    let mut counts: HashMap<&str, Vec<&String>> = HashMap::new();
    names.iter().for_each(|(name, folded)| counts.entry(folded).or_default().push(name));
    let has_twin = |same: &[&String], name: &String| {
        same.iter().any(|other| *other != name && !is_listed(other))
    };
    let groups = counts.into_values().filter(|same| same.len() > 1);
    groups
        .flat_map(|same| {
            let doubtful = same.iter().filter(|name| has_twin(&same, name));
            doubtful.map(|name| (*name).clone()).collect::<Vec<_>>()
        })
        .collect()
}

fn address(part: &Value) -> usize {
    std::ptr::from_ref(part).addr()
}
