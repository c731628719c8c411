//! Converts a type's schema to MCP's restricted schema of elicitation, and checks the reply.

use crate::schema;
use crate::tool::arguments::schemas;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A form: the schema for the client, and the schema of its answer.
pub(super) struct FormSchema {
    /// The schema that the answer is checked against.
    schema: Value,
    /// The only field of a form for a value that is not a struct.
    only: Option<String>,
}

/// Properties of a field in MCP's forms, for all types.
const KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "minLength",
    "maxLength",
    "format",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "enum",
    "enumNames",
    "oneOf",
    "items",
];

/// The formats in MCP's forms; others are checked here only.
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

impl FormSchema {
    /// The form of a type: a field for each of a struct's, or one field of the given name.
    pub(super) fn for_form<T: JsonSchema>(name: &str) -> Self {
        let mut schema = schemas::input_of::<T>();
        allow_unknown_fields(&mut schema);
        if schema.get("type").is_some_and(|kind| kind == "object") {
            return Self { schema, only: None };
        }
        let schema = json!({
            "type": "object",
            "properties": { name: schema },
            "required": [name],
        });
        Self { schema, only: Some(name.to_owned()) }
    }

    /// The form that a hand-written schema describes.
    pub(super) fn from_schema(schema: Value) -> Self {
        schema::engine::enable();
        Self { schema, only: None }
    }

    /// The schema for the client.
    ///
    /// # Errors
    /// The form has a field that clients cannot show.
    pub(super) fn request_schema(&self) -> Result<Value, String> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties else {
            return Err("a form needs `properties`; ask for a struct with named fields".to_owned());
        };
        let mut fields = Map::new();
        for (name, property) in properties {
            fields.insert(name.clone(), field(name, property)?);
        }
        let mut form = Map::new();
        form.insert("type".to_owned(), "object".into());
        form.insert("properties".to_owned(), fields.into());
        if let Some(required) = self.schema.get("required") {
            form.insert("required".to_owned(), required.clone());
        }
        Ok(form.into())
    }

    /// The answer as a value of the type.
    ///
    /// # Errors
    /// The reason, for the operator and the client's author.
    pub(super) fn read<T: DeserializeOwned>(&self, content: Value) -> Result<T, String> {
        let mut content = self.check(content)?;
        let value = match &self.only {
            Some(name) => content.get_mut(name).map(Value::take).unwrap_or_default(),
            None => content,
        };
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    fn check(&self, content: Value) -> Result<Value, String> {
        let issues = schema::check::check(&self.schema, &content);
        if issues.is_empty() {
            return Ok(content);
        }
        let issues: Vec<String> = issues.iter().map(ToString::to_string).collect();
        Err(issues.join("; "))
    }
}

/// Allows additional fields in answers, as MCP does.
fn allow_unknown_fields(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        keywords.remove("additionalProperties");
        keywords.remove("unevaluatedProperties");
    }
}

/// One field in MCP's form.
fn field(name: &str, schema: &Value) -> Result<Value, String> {
    let mut field = Map::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        if KEYWORDS.contains(&keyword.as_str()) {
            field.insert(keyword.clone(), value.clone());
        }
    }
    if field.get("format").is_some_and(|format| !FORMATS.iter().any(|known| format == known)) {
        field.shift_remove("format");
    }
    if let Some(choices) = field.get("oneOf").and_then(with_titles) {
        field.insert("type".to_owned(), "string".into());
        field.insert("oneOf".to_owned(), choices);
    }
    let is_shown = match field.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "number" | "boolean") => true,
        Some("array") => match field.get("items").and_then(selectable) {
            Some(items) => field.insert("items".to_owned(), items).is_some(),
            None => false,
        },
        _ => false,
    };
    if is_shown {
        return Ok(field.into());
    }
    Err(format!(
        "field `{name}` must be a string, number, boolean, enum or list of enums; forms are flat"
    ))
}

/// Choices with their titles. The description of an enum's variant is its title.
fn with_titles(choices: &Value) -> Option<Value> {
    let entries = choices.as_array()?.iter().map(choices_of);
    let choices = entries.collect::<Option<Vec<_>>>()?;
    Some(choices.into_iter().flatten().collect())
}

/// The choices of one entry: schemars lists the variants without a description in a single `enum`.
fn choices_of(entry: &Value) -> Option<Vec<Value>> {
    if let Some(names) = entry.get("enum") {
        let choice =
            |name: &Value| name.is_string().then(|| json!({ "const": name, "title": name }));
        return names.as_array()?.iter().map(choice).collect();
    }
    let value = entry.get("const").filter(|value| value.is_string())?;
    let title = entry.get("title").or(entry.get("description")).unwrap_or(value);
    Some(vec![json!({ "const": value, "title": title })])
}

/// The schema of a field with several choices.
fn selectable(items: &Value) -> Option<Value> {
    if let Some(names) = items.get("enum") {
        return Some(json!({ "type": "string", "enum": names }));
    }
    let choices = items.get("oneOf").or(items.get("anyOf")).and_then(with_titles)?;
    Some(json!({ "anyOf": choices }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(JsonSchema, Deserialize, Debug, PartialEq)]
    struct Booking {
        /// The guest's name.
        #[schemars(length(min = 1))]
        name: String,
        seats: Option<u8>,
        #[serde(default)]
        meal: Meal,
        extras: Vec<Extra>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Debug, Default, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Meal {
        /// Without meat.
        #[default]
        Green,
        /// With meat.
        Red,
    }

    #[derive(JsonSchema, Deserialize, Debug, PartialEq)]
    enum Extra {
        Wine,
        Cake,
    }

    #[test]
    fn a_struct_becomes_a_flat_form() {
        let form = FormSchema::for_form::<Booking>("booking").request_schema().expect("a form");
        let fields = &form["properties"];
        assert_eq!(fields["name"]["type"], "string");
        assert_eq!(fields["name"]["description"], "The guest's name.");
        assert_eq!(fields["seats"]["type"], "integer");
        assert_eq!(
            fields["meal"]["oneOf"],
            json!([
                { "const": "green", "title": "Without meat." },
                { "const": "red", "title": "With meat." },
            ])
        );
        assert_eq!(fields["meal"]["default"], "green");
        assert_eq!(
            fields["extras"]["items"],
            json!({ "type": "string", "enum": ["Wine", "Cake"] })
        );
        assert_eq!(form["required"], json!(["name", "extras"]));
        assert_eq!(form.get("additionalProperties"), None);
    }

    #[test]
    fn an_enum_may_describe_some_of_its_variants() {
        #[derive(JsonSchema, Deserialize, Debug, PartialEq)]
        enum Size {
            Small,
            Medium,
            /// Larger than usual.
            Large,
        }
        let choices = json!([
            { "const": "Small", "title": "Small" },
            { "const": "Medium", "title": "Medium" },
            { "const": "Large", "title": "Larger than usual." },
        ]);
        let form = FormSchema::for_form::<Size>("size");
        assert_eq!(form.request_schema().expect("a form")["properties"]["size"]["oneOf"], choices);
        assert_eq!(form.read(json!({ "size": "Medium" })), Ok(Size::Medium));
        let several = FormSchema::for_form::<Vec<Size>>("sizes").request_schema().expect("a form");
        assert_eq!(several["properties"]["sizes"]["items"], json!({ "anyOf": choices }));
    }

    #[test]
    fn a_scalar_becomes_one_field() {
        let form = FormSchema::for_form::<bool>("sure");
        let requested = form.request_schema().expect("a form");
        assert_eq!(requested["properties"], json!({ "sure": { "type": "boolean" } }));
        assert_eq!(form.read::<bool>(json!({ "sure": true })), Ok(true));
    }

    #[test]
    fn an_answer_is_checked_and_decoded() {
        let form = FormSchema::for_form::<Booking>("booking");
        let answer = json!({ "name": "Ada", "extras": ["Cake"] });
        let booking: Booking = form.read(answer).expect("a booking");
        assert_eq!(booking.meal, Meal::Green);
        let answer = json!({ "name": "Ada", "extras": [], "smokes": false });
        assert!(form.read::<Booking>(answer).is_ok(), "what was not asked is ignored");
        let wrong = form.read::<Booking>(json!({ "name": "", "extras": ["Tea"] })).unwrap_err();
        assert!(wrong.contains("name") && wrong.contains("extras"), "{wrong}");
    }

    #[test]
    fn rejects_forms_that_no_client_can_show() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Deep {
            inner: Booking,
        }
        let problem = FormSchema::for_form::<Deep>("deep").request_schema().unwrap_err();
        assert_eq!(
            problem,
            "field `inner` must be a string, number, boolean, enum or list of enums; forms are flat"
        );
        assert!(FormSchema::from_schema(json!({})).request_schema().is_err());
    }
}
