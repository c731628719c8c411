//! Sets `additionalProperties: false` on the objects inside arguments whose types ignore unknown keys.
//!
//! schemars only closes types with `deny_unknown_fields`. Decoding rejects every key that serde ignores, so each
//! object whose type ignores keys is closed, unless its schema has its own rule. The type of a value that serde buffers
//! cannot be probed; its schema lists the fields, and each call checks only the unlisted keys. Untagged types
//! stay open: their schema does not identify the variant.

use crate::schema::check::fields_at;
use crate::schema::derived::of_type;
use crate::schema::segment::Segment;
use crate::tool::arguments::parameter::Parameter;
use crate::tool::arguments::probe::{self, Decode, Use};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Limit on the parts of a type; larger types stay open.
const MAX_STEPS: usize = 10_000;

/// Keywords that apply other schemas to the same object.
const APPLICATORS: &[&str] = &["allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"];

/// Keywords that define which other keys are allowed.
const KEY_RULES: &[&str] = &["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Closes the objects that the types of a tool's parameters close, in the schema of all arguments. Returns whether serde buffers any of
/// it, so that decoding does not find the keys that it ignores there.
pub(super) fn close(schema: &mut Map<String, Value>, parameters: &[Parameter]) -> bool {
    let mut root = Value::Object(std::mem::take(schema));
    let (closed, is_buffered) = closed_by(&root, parameters);
    apply(&closed, &mut root);
    if let Value::Object(root) = root {
        *schema = root;
    }
    is_buffered
}

/// The pointers to the objects that the parameters' types close, and whether serde buffers any of them.
fn closed_by(root: &Value, parameters: &[Parameter]) -> (Vec<String>, bool) {
    let properties = root["properties"].as_object().into_iter().flatten();
    let mut survey = Survey::new(root);
    for (name, property) in properties.filter(|(_, property)| !is_scalar(property)) {
        let own = parameters.iter().find(|p| !p.is_flattened && p.name == name);
        let flattened = || parameters.iter().find(|p| p.is_flattened);
        let parameter = own.or_else(flattened).filter(|p| !p.allows_unknown_fields);
        survey.decode = parameter.map(|parameter| parameter.decode);
        match own {
            Some(_) => survey.visit(&pointer("/properties", name), property),
            None => survey.visit_below("/properties", name, property, Segment::Key(name.clone())),
        }
    }
    let is_buffered = survey.is_buffered;
    (survey.closed_pointers(), is_buffered)
}

/// Closes the objects that the type of all arguments closes.
pub(super) fn close_whole(schema: &mut Value, decode: Decode) {
    let mut survey = Survey::new(schema);
    survey.decode = Some(decode);
    survey.visit("", schema);
    let closed = survey.closed_pointers();
    apply(&closed, schema);
}

fn apply(closed: &[String], schema: &mut Value) {
    for pointer in closed {
        if let Some(Value::Object(map)) = schema.pointer_mut(pointer) {
            map.insert("additionalProperties".to_owned(), false.into());
        }
    }
}

pub(super) fn is_scalar(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind != "object" && kind != "array")
}

/// Whether the schema of `T` allows each key that `T` ignores in this text.
#[cold]
pub(crate) fn allows_ignored<T: DeserializeOwned + JsonSchema>(text: &str) -> bool {
    allows_all(SchemaGenerator::subschema_for::<T>, probe::decode::<T>, text)
}

fn allows_all(
    make: fn(&mut SchemaGenerator) -> schemars::Schema,
    decode: Decode,
    text: &str,
) -> bool {
    let schema = of_type(make);
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    let ignored = probe::ignored_keys(decode, &value);
    ignored.is_some_and(|ignored| ignored.iter().all(|path| fields_at(&schema, path).is_allowed))
}

/// A walk through a schema together with the type it was generated from.
struct Survey<'s> {
    root: &'s Value,
    /// The probed type; without one everything stays open.
    decode: Option<Decode>,
    route: Vec<Segment>,
    /// The definitions on the way; a recursive one is entered twice.
    entered: Vec<&'s str>,
    /// The objects, by their pointers, and whether they are closed on every path to them.
    closed: BTreeMap<String, bool>,
    /// Whether serde buffers one of them.
    is_buffered: bool,
    /// Whether the schema is an untagged variant.
    is_untagged: bool,
    /// Whether another schema declares fields of the same object.
    is_shared: bool,
    steps_left: usize,
}

impl<'s> Survey<'s> {
    fn new(root: &'s Value) -> Self {
        Self {
            root,
            decode: None,
            route: Vec::new(),
            entered: Vec::new(),
            closed: BTreeMap::new(),
            is_buffered: false,
            is_untagged: false,
            is_shared: false,
            steps_left: MAX_STEPS,
        }
    }

    fn visit(&mut self, pointer: &str, schema: &'s Value) {
        let (Value::Object(map), Some(left)) = (schema, self.steps_left.checked_sub(1)) else {
            return;
        };
        self.steps_left = left;
        self.judge(pointer, map);
        self.visit_definition(map);
        self.visit_parts(pointer, map);
        if !map.contains_key("properties") {
            for keyword in ["anyOf", "oneOf"] {
                let is_untagged = self.is_untagged || keyword == "anyOf";
                let outer = std::mem::replace(&mut self.is_untagged, is_untagged);
                let branches = map.get(keyword).and_then(Value::as_array).into_iter().flatten();
                for (index, branch) in branches.enumerate() {
                    self.visit(&format!("{pointer}/{keyword}/{index}"), branch);
                }
                self.is_untagged = outer;
            }
        }
    }

    /// Tests whether the type ignores unknown keys of an object whose schema has no rule for them.
    fn judge(&mut self, pointer: &str, map: &Map<String, Value>) {
        let is_silent = map.contains_key("properties")
            && !APPLICATORS.iter().chain(KEY_RULES).any(|keyword| map.contains_key(*keyword));
        if is_silent {
            let is_closed = self.closes(map);
            let closed = self.closed.entry(pointer.to_owned()).or_insert(true);
            *closed &= is_closed;
        }
    }

    fn closes(&mut self, map: &Map<String, Value>) -> bool {
        let reaction = self.decode.map(|decode| probe::use_of_unknown(decode, &self.route));
        match reaction {
            Some(Use::Ignored) => true,
            // A variant that declares only its tag may hold anything.
            Some(Use::Buffered) if !self.is_untagged && !self.is_shared && !is_tag_alone(map) => {
                self.is_buffered = true;
                true
            }
            _ => false,
        }
    }

    fn visit_definition(&mut self, map: &'s Map<String, Value>) {
        let reference = map.get("$ref").and_then(Value::as_str);
        let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) else {
            return;
        };
        let times = self.entered.iter().filter(|entered| **entered == pointer).count();
        if let (Some(target), 0..2) = (self.root.pointer(pointer), times) {
            self.entered.push(pointer);
            let is_shared = self.is_shared || map.contains_key("properties");
            let outer = std::mem::replace(&mut self.is_shared, is_shared);
            self.visit(pointer, target);
            self.is_shared = outer;
            self.entered.pop();
        }
    }

    fn visit_parts(&mut self, at: &str, map: &'s Map<String, Value>) {
        let properties = map.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties {
            self.visit_below(
                &format!("{at}/properties"),
                name,
                property,
                Segment::Key(name.clone()),
            );
        }
        if let Some(others) = map.get("additionalProperties") {
            self.visit_below(at, "additionalProperties", others, Segment::Key("0".to_owned()));
        }
        if let Some(items) = map.get("items").filter(|_| !map.contains_key("prefixItems")) {
            self.visit_below(at, "items", items, Segment::any_item());
        }
    }

    fn visit_below(&mut self, at: &str, token: &str, schema: &'s Value, step: Segment) {
        self.route.push(step);
        let outer = std::mem::take(&mut self.is_shared);
        self.visit(&pointer(at, token), schema);
        self.is_shared = outer;
        self.route.pop();
    }

    /// The pointers to closed objects; none if the schema was too large to be walked to its end.
    fn closed_pointers(self) -> Vec<String> {
        let found = self.closed.into_iter().filter(|_| self.steps_left > 0);
        found.filter(|(_, closed)| *closed).map(|(pointer, _)| pointer).collect()
    }
}

/// Whether an object declares only the tag of an enum's variant.
fn is_tag_alone(map: &Map<String, Value>) -> bool {
    let mut properties = map.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.all(|(_, property)| property.get("const").is_some())
}

/// A JSON pointer one step further.
fn pointer(at: &str, token: &str) -> String {
    format!("{at}/{}", token.replace('~', "~0").replace('/', "~1"))
}
