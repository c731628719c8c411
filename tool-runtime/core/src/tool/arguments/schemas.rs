//! Schemas of arguments and outputs, from the table of parameters and from types.

mod closed;

pub(crate) use closed::allows_ignored;

use crate::schema::derived::{input_generator, output_generator};
use crate::schema::{check, engine, normal};
use crate::tool::arguments::parameter::Parameter;
use crate::tool::arguments::probe::Decode;
use crate::vocabulary::error::reported;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schema of a tool without arguments.
pub(crate) fn no_arguments() -> Map<String, Value> {
    object(Map::new(), Vec::new(), Map::new())
}

fn advertise(schema: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Schema::from(schema);
    normal::without_widths(&mut schema);
    match schema.to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The schema of a table of arguments as the walker reads it: without defaults and examples.
pub(crate) fn input(parameters: &[Parameter]) -> Map<String, Value> {
    Fields::default().schema(parameters).schema
}

/// The schema of a table of arguments as the walker reads it, and whether decoding accepts unknown keys in values that
/// serde buffers.
pub(crate) fn input_and_misses(parameters: &[Parameter]) -> (Map<String, Value>, bool) {
    let input = Fields::default().schema(parameters);
    (input.schema, input.is_buffered)
}

/// The schema of a table of arguments as clients see it, and its problems. Defaults and
/// examples are evaluated here and nowhere else.
pub(crate) fn advertised_input(parameters: &[Parameter]) -> (Map<String, Value>, Vec<String>) {
    let fields = Fields { has_values: true, ..Fields::default() };
    let Input { mut schema, mut problems, .. } = fields.schema(parameters);
    problems.extend(wrong_values(&schema));
    let mut properties = schema["properties"].as_object().into_iter().flatten();
    if problems.is_empty() && properties.any(|(_, property)| !closed::is_scalar(property)) {
        problems.extend(check::own_problem(&schema));
    }
    hide_secrets(&mut schema, parameters);
    (advertise(schema), problems)
}

/// A default or an example of a secret is secret, too.
fn hide_secrets(schema: &mut Map<String, Value>, parameters: &[Parameter]) {
    for parameter in parameters.iter().filter(|parameter| parameter.is_secret) {
        let property = schema.get_mut("properties").and_then(|all| all.get_mut(parameter.name));
        if let Some(Value::Object(property)) = property {
            property.shift_remove("default");
            property.shift_remove("examples");
        }
    }
}

/// The schema of a type that holds all arguments, which rejects unknown ones.
pub(crate) fn input_of<T: JsonSchema>() -> Value {
    engine::enable();
    let mut generator = input_generator();
    let mut schema = T::json_schema(&mut generator);
    normal::input(&mut schema);
    normal::without_widths(&mut schema);
    let definitions = normal::definitions(generator.take_definitions(true), normal::input);
    let mut schema = schema.to_value();
    if let Value::Object(map) = &mut schema {
        if !definitions.is_empty() {
            map.insert("$defs".to_owned(), definitions.into());
        }
        reject_unknown(map);
    }
    schema
}

/// The schema of a type that holds all arguments and decodes them: unknown keys are rejected at every depth.
pub(crate) fn closed_input_of<T: JsonSchema>(decode: Decode) -> Value {
    let mut schema = input_of::<T>();
    closed::close_whole(&mut schema, decode);
    schema
}

/// The schema of an output, and whether it asserts more than the type does. `None` for a type without a schema, and for a
/// scalar, which is text.
pub(crate) fn output(
    make: fn(&mut SchemaGenerator) -> Option<Schema>,
) -> Option<(Map<String, Value>, bool)> {
    let mut generator = output_generator();
    let mut schema = make(&mut generator)?;
    let definitions = generator.take_definitions(true);
    // Later the widths of numbers are gone, by which the bounds of a type are told from those of an attribute.
    let root = json!({ "$defs": &definitions });
    let is_bounded = check::asserts_more_than_written(&root, schema.as_value());
    normal::output(&mut schema);
    let definitions = normal::definitions(definitions, normal::output);
    let Value::Object(mut map) = schema.to_value() else {
        return None;
    };
    if !definitions.is_empty() {
        map.insert("$defs".to_owned(), definitions.into());
    }
    normal::holds_more_than_scalars(&map).then_some((map, is_bounded))
}

/// Whether the schema is stricter than decoding: then it is checked
/// also when decoding succeeds. Constraints of `#[arg]` do not count, decoders check them; a
/// flattened type that ignores unknown fields does, because arguments are rejected by name.
pub(crate) fn has_unenforced(parameters: &[Parameter]) -> bool {
    let mut generator = input_generator();
    let schemas: Vec<Value> = parameters
        .iter()
        .map(|parameter| parameter.type_schema(&mut generator).to_value())
        .collect();
    let root = json!({ "$defs": generator.take_definitions(true) });
    let leaks = parameters.iter().zip(&schemas).any(|(parameter, schema)| {
        parameter.is_flattened && schema.get("additionalProperties") != Some(&Value::Bool(false))
    });
    leaks || schemas.iter().any(|schema| check::asserts_more_than_types(&root, schema))
}

fn object(
    properties: Map<String, Value>,
    required: Vec<Value>,
    definitions: Map<String, Value>,
) -> Map<String, Value> {
    let mut schema = Map::with_capacity(4 + usize::from(!definitions.is_empty()));
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// The schema of an arguments object.
struct Input {
    schema: Map<String, Value>,
    problems: Vec<String>,
    /// Whether serde buffers a part that is closed.
    is_buffered: bool,
}

/// The properties of an arguments object while it is put together.
#[derive(Default)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<Value>,
    problems: Vec<String>,
    /// Whether defaults and examples are evaluated.
    has_values: bool,
}

impl Fields {
    fn schema(mut self, parameters: &[Parameter]) -> Input {
        let mut generator = input_generator();
        self.properties = Map::with_capacity(parameters.len());
        self.required = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            self.add(parameter, &mut generator);
        }
        let definitions = normal::definitions(generator.take_definitions(true), normal::input);
        let mut schema = object(self.properties, self.required, definitions);
        let is_buffered = closed::close(&mut schema, parameters);
        Input { schema, problems: self.problems, is_buffered }
    }

    fn add(&mut self, parameter: &Parameter, generator: &mut SchemaGenerator) {
        let mut schema = parameter.type_schema(generator);
        normal::input(&mut schema);
        if parameter.is_flattened {
            self.merge(parameter, schema);
            return;
        }
        if parameter.is_optional() {
            normal::without_null(&mut schema);
        } else {
            self.required.push(parameter.name.into());
        }
        describe(&mut schema, parameter);
        self.evaluate("limits", parameter, parameter.refine, &mut schema);
        if self.has_values {
            self.evaluate("default or example", parameter, parameter.values, &mut schema);
        }
        self.problems.extend(invalid_header(parameter, &schema));
        self.insert(parameter.name, schema.to_value());
    }

    /// Runs the user's expressions. A panic becomes a problem of the parameter.
    fn evaluate(
        &mut self,
        what: &str,
        parameter: &Parameter,
        write: fn(&mut Schema),
        schema: &mut Schema,
    ) {
        if let Err(panic) = reported(|| write(schema)) {
            self.problems.push(format!(
                "the {what} of its argument `{}` panicked: {panic}; write a value that can be computed when the pool is built",
                parameter.name
            ));
        }
    }

    /// A flattened parameter contributes its own properties. Those of an optional one may be absent.
    fn merge(&mut self, parameter: &Parameter, mut schema: Schema) {
        if parameter.is_optional() {
            normal::without_null(&mut schema);
        }
        let mut schema = schema.to_value();
        let properties = schema.get_mut("properties").map(Value::take);
        let (Some(Value::Object(properties)), None) = (properties, more_than_fields(&schema))
        else {
            self.problems.push(format!(
                "its flattened parameter `{}` is not a struct of plain named fields; flatten one that is, or remove `flatten`",
                parameter.name
            ));
            return;
        };
        for (name, property) in properties {
            self.insert(&name, property);
        }
        let required = schema.get_mut("required").map(Value::take);
        if let (Some(Value::Array(required)), false) = (required, parameter.is_optional()) {
            self.required.extend(required);
        }
    }

    fn insert(&mut self, name: &str, schema: Value) {
        if self.properties.insert(name.to_owned(), schema).is_some() {
            self.problems.push(format!("it has two arguments named `{name}`; rename one of them"));
        }
    }
}

/// Only plain values can be sent in a header.
fn invalid_header(parameter: &Parameter, schema: &Schema) -> Option<String> {
    parameter.header?;
    let kind = schema.get("type").and_then(Value::as_str);
    if matches!(kind, Some("string" | "integer" | "boolean")) {
        return None;
    }
    Some(format!(
        "its argument `{}` is not a string, integer or truth value, so it has no place in a header; remove `header`",
        parameter.name
    ))
}

/// The first keyword of a struct's schema that does not follow from its fields.
fn more_than_fields(schema: &Value) -> Option<&String> {
    const FIELDS: [&str; 6] =
        ["type", "properties", "required", "title", "description", "additionalProperties"];
    let open = schema.get("additionalProperties").is_some_and(|more| more != false);
    let mut keywords = schema.as_object()?.keys();
    keywords.find(|key| !FIELDS.contains(&key.as_str()) || (open && *key == "additionalProperties"))
}

fn describe(schema: &mut Schema, parameter: &Parameter) {
    let description = parameter.description.trim();
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
    if let Some(header) = parameter.header {
        schema.insert("x-mcp-header".to_owned(), header.into());
    }
    if parameter.is_secret {
        schema.insert("writeOnly".to_owned(), true.into());
    }
}

/// Defaults, examples and bounds that are known only at run time: constants instead of literals.
fn wrong_values(schema: &Map<String, Value>) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut problems = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        // Most properties are a type and a description: these three are looked up in one pass.
        let has = property.as_object().map(Keywords::from_property).unwrap_or_default();
        if has.bounds {
            problems.extend(empty_bounds(name, property));
        }
        if has.pattern {
            problems.extend(bad_pattern(name, property));
        }
        if !has.values {
            continue;
        }
        let only_this = json!({
            "type": "object",
            "properties": { name: property },
            "$defs": schema.get("$defs").unwrap_or(&Value::Null),
        });
        for (kind, value) in values(property) {
            let issues = check::check(&only_this, &json!({ name: value }));
            problems.extend(issues.iter().map(|issue| format!("its {kind} for `{name}` violates its own schema: {issue}; change the {kind} or the constraint")));
        }
    }
    problems
}

/// Keywords of a property that are checked at run time.
#[derive(Default)]
struct Keywords {
    bounds: bool,
    pattern: bool,
    values: bool,
}

impl Keywords {
    fn from_property(property: &Map<String, Value>) -> Self {
        let mut found = Self::default();
        for keyword in property.keys() {
            match keyword.as_str() {
                "default" | "examples" => found.values = true,
                "pattern" => found.pattern = true,
                other => found.bounds |= BOUNDS.contains(&other),
            }
        }
        found
    }
}

/// Keywords that bound a value.
const BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// The default and the examples of a property.
fn values(property: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let default = property.get("default").filter(|default| !default.is_null());
    let examples = property.get("examples").and_then(Value::as_array).into_iter().flatten();
    default
        .map(|value| ("default", value))
        .into_iter()
        .chain(examples.map(|value| ("example", value)))
}

/// The macro has parsed the pattern, but only this code can compile it.
fn bad_pattern(name: &str, property: &Value) -> Option<String> {
    let pattern = property.get("pattern")?.as_str()?;
    let error = match engine::linked() {
        Some(engine) => engine.compile(pattern).err()?,
        None => "nothing in this binary compiles patterns".to_owned(),
    };
    Some(format!("the pattern of its argument `{name}` is not usable: {error}; write another"))
}

fn empty_bounds(name: &str, property: &Value) -> Option<String> {
    if BOUNDS[..4].iter().any(|keyword| property.get(keyword).is_some_and(Value::is_null)) {
        return Some(format!(
            "a bound of its argument `{name}` is not a finite number; write one, or leave that end open"
        ));
    }
    property.as_object().is_some_and(check::excludes_all).then(|| {
        format!(
            "no value of its argument `{name}` is between its bounds; write the smaller end first"
        )
    })
}

/// Rejects unknown arguments, even if the type allows other fields.
fn reject_unknown(schema: &mut Map<String, Value>) {
    let says = |keyword: &str| schema.contains_key(keyword);
    if says("additionalProperties") || says("unevaluatedProperties") {
        return;
    }
    let is_combined = ["oneOf", "anyOf", "allOf", "$ref"].into_iter().any(says);
    let keyword = if is_combined { "unevaluatedProperties" } else { "additionalProperties" };
    schema.insert(keyword.to_owned(), false.into());
}
