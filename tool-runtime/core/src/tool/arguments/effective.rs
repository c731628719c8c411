//! The arguments as the tool gets them: by their advertised names, with defaults filled in at every depth.
//!
//! serde does not tell which other names a type takes. So a name or a string that the schema does not list, and that the
//! tool may take nevertheless, may stand for one that it lists: what is read of it is in doubt.

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
    /// Absent by the name that the schema lists, and given by another, perhaps.
    Doubtful,
}

/// The parts of arguments that may stand for others. Parts are known by their addresses, which stay the same.
#[derive(Debug, Default)]
struct Doubts {
    /// Names that an object lacks, in the arguments themselves, and that one it has may stand for.
    names: HashSet<String>,
    /// Names that objects inside the arguments lack, and that one they have may stand for.
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
        let Some(tool) = tool else {
            return Self { members: Some(written), ..Self::default() };
        };
        let (mut members, mut repeated) = (Map::new(), HashSet::new());
        for (given, value) in written {
            let name = tool.argument_name(&given).to_owned();
            if members.insert(name.clone(), value).is_some() {
                repeated.insert(name);
            }
        }
        let mut doubts = Doubts::default();
        let schema = Applicable::of_object(&tool.definition().input_schema);
        doubts.names = doubts.complete(&mut members, &schema);
        Self { members: Some(members), repeated, doubts }
    }

    /// An argument by its advertised name.
    pub fn get(&self, name: &str) -> EffectiveArgument<'_> {
        let Some(members) = &self.members else { return EffectiveArgument::Uncertain };
        match members.get(name) {
            _ if self.repeated.contains(name) => EffectiveArgument::Uncertain,
            None if self.doubts.names.contains(name) => EffectiveArgument::Doubtful,
            None | Some(Value::Null) => EffectiveArgument::Absent,
            Some(value) => EffectiveArgument::Given(value),
        }
    }

    /// Whether a string in an argument may be another name of a listed one.
    pub fn is_doubtful(&self, text: &Value) -> bool {
        self.doubts.strings.contains(&address(text))
    }

    /// Whether an object in an argument may have the member, which it lacks, by another name.
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
        let absent = schema.properties().filter(|(name, _)| !members.contains_key(*name));
        let lacking = absent.filter(|_| has_unlisted).map(|(name, _)| name.clone()).collect();
        // From here on no member is added, so that addresses stay.
        for (name, member) in members {
            self.complete_part(member, &schema.property(name), schema.default(name));
        }
        lacking
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
                let lacking = self.complete(members, schema);
                if !lacking.is_empty() {
                    self.objects.insert(address, lacking);
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

fn address(part: &Value) -> usize {
    std::ptr::from_ref(part).addr()
}
