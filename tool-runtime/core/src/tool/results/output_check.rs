//! Checks the results of a tool against the output schema that it advertises.

use crate::schema::check;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::Issue;
use crate::vocabulary::error::{CallError, ErrorClass};
use serde_json::Value;

/// The ways in which the result of a function can violate its output schema. A schema that is derived from a type only
/// floats can violate, since serde_json writes those that are not finite as `null`, unless it has bounds, lengths or
/// patterns. Decided once per tool, since most results cannot violate theirs.
#[derive(Debug, Default)]
pub(crate) enum OutputShape {
    /// No schema, although the value may be structured: a scalar, shown as text.
    Text,
    #[default]
    Value,
    /// Some values are floats.
    Floats(OutputModel),
    /// The schema asserts more than the type.
    Bounded(OutputModel),
}

impl OutputShape {
    pub(crate) fn from_definition(definition: &ToolDefinition) -> Self {
        let Some(schema) = &definition.output_schema else { return Self::Text };
        let make = match definition.output_is_bounded {
            true => Self::Bounded,
            false if schema.values().any(has_floats) => Self::Floats,
            false => return Self::Value,
        };
        OutputModel::new(definition).map_or(Self::Text, make)
    }

    /// Checks a result that can violate its schema.
    ///
    /// # Errors
    /// The result violates its schema.
    pub(crate) fn check(&self, observation: &Observation) -> Result<(), CallError> {
        match self {
            Self::Text | Self::Value => Ok(()),
            Self::Floats(model) => model.check_floats(observation),
            Self::Bounded(model) => {
                model.check_floats(observation)?;
                model.check(observation)
            }
        }
    }
}

fn has_floats(schema: &Value) -> bool {
    match schema {
        Value::String(word) => word == "number",
        Value::Array(list) => list.iter().any(has_floats),
        Value::Object(map) => map.values().any(has_floats),
        _ => false,
    }
}

/// The output schema that the successes of a tool must satisfy.
#[derive(Debug)]
pub(crate) struct OutputModel {
    tool: String,
    schema: Value,
}

impl OutputModel {
    /// `None` for a tool without an output schema.
    pub(crate) fn new(definition: &ToolDefinition) -> Option<Self> {
        let schema = definition.output_schema.clone()?;
        Some(Self { tool: definition.name.clone(), schema: Value::Object(schema) })
    }

    /// Checks that a success has a structured value and that the value satisfies the schema.
    /// Results that are errors need none.
    ///
    /// # Errors
    /// [`ErrorClass::Internal`], since the model cannot correct it; the operator's
    /// detail lists the violations.
    pub(crate) fn check(&self, observation: &Observation) -> Result<(), CallError> {
        if observation.is_error() {
            return Ok(());
        }
        let Some(json) = observation.structured_json() else {
            return Err(self.violation("it has no structured value"));
        };
        // A raw value comes from any serializer, and may be nested too deeply to parse.
        let value: Value = serde_json::from_str(json).map_err(|error| {
            self.violation(&format!("its structured value cannot be read: {error}"))
        })?;
        match check::check_result(&self.schema, &value).as_slice() {
            [] => Ok(()),
            issues => Err(self.violation(&list_issues(issues))),
        }
    }

    /// Rejects a float that is not finite where the schema does not allow the `null` that was
    /// written for it.
    ///
    /// # Errors
    /// [`ErrorClass::Internal`], with the paths of such floats.
    fn check_floats(&self, observation: &Observation) -> Result<(), CallError> {
        let Some(json) = observation.structured_json().filter(|json| json.contains("null")) else {
            return Ok(());
        };
        let Ok(value) = serde_json::from_str(json) else { return Ok(()) };
        let issues = check::check_result(&self.schema, &value);
        let nulls = issues.iter().filter(|issue| issue.message().contains("got null"));
        let paths: Vec<String> = nulls.map(|issue| format!("`{}`", issue.path())).collect();
        if paths.is_empty() { Ok(()) } else { Err(not_finite(&paths.join(", "))) }
    }

    #[cold]
    fn violation(&self, detail: &str) -> CallError {
        let text = format!(
            "`{}` ran, but its result does not fit its own output schema, which has been logged; the call may have had its effect, so do not just repeat it",
            self.tool
        );
        let detail = format!("the result does not fit the output schema: {detail}");
        CallError::new(ErrorClass::Internal, text).with_detail(detail)
    }
}

#[cold]
fn not_finite(at: &str) -> CallError {
    let text = format!(
        "the result has NaN or infinity at {at}, which JSON cannot represent; the call may have had its effect, so do not just repeat it"
    );
    let detail = format!(
        "the output schema requires a number at {at}, and JSON has no NaN or infinity; return a finite number, or `Option<f64>` to allow `null`"
    );
    CallError::new(ErrorClass::Internal, text).with_detail(detail)
}

/// Starts with the path: not every message names it.
fn list_issues(issues: &[Issue]) -> String {
    let line = |issue: &Issue| match issue.path() {
        "" => issue.to_string(),
        path => format!("at {path}: {issue}"),
    };
    issues.iter().map(line).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::results::observation::{IntoObservation as _, Json};
    use serde_json::json;

    fn model() -> OutputModel {
        let mut definition = ToolDefinition::new("login", "Log in.");
        let schema = json!({
            "type": "object",
            "properties": {
                "sum": { "type": "integer" },
                "token": { "type": "string", "maxLength": 3, "writeOnly": true },
            },
            "required": ["sum"],
            "additionalProperties": false,
        });
        definition.output_schema = schema.as_object().cloned();
        OutputModel::new(&definition).expect("a schema")
    }

    fn structured(value: Value) -> Observation {
        Observation::json(&value).expect("a value")
    }

    fn detail(observation: &Observation) -> String {
        let error = model().check(observation).expect_err("a misfit");
        assert_eq!(error.class(), ErrorClass::Internal);
        error.detail().expect("a detail").replace("the result does not fit the output schema: ", "")
    }

    #[test]
    fn the_output_of_a_tool_without_a_schema_is_not_checked() {
        assert!(OutputModel::new(&ToolDefinition::new("a", "A.")).is_none());
    }

    #[test]
    fn a_matching_value_passes() {
        assert!(model().check(&structured(json!({ "sum": 3, "token": "abc" }))).is_ok());
    }

    #[test]
    fn an_error_needs_no_value() {
        assert!(model().check(&Observation::error("no")).is_ok());
        assert!(model().check(&structured(json!([])).with_error(true)).is_ok());
    }

    #[test]
    fn a_success_without_a_value_violates_the_schema() {
        assert_eq!(detail(&Observation::text("3")), "it has no structured value");
    }

    #[test]
    fn the_operator_gets_every_issue_with_its_path() {
        assert_eq!(
            detail(&structured(json!({ "sum": "x", "other": 1 }))),
            "at sum: `sum` must be an integer, got the string \"x\"; at other: unknown field `other`; the fields are `sum`, `token`"
        );
        assert_eq!(
            detail(&structured(json!({}))),
            "at sum: missing required field `sum` (integer)"
        );
        assert_eq!(detail(&structured(json!([1]))), "the result must be an object, got an array");
    }

    #[test]
    fn issues_hide_secrets_and_values() {
        let observation = structured(json!({ "sum": "hunter1", "token": "hunter2" }));
        let error = model().check(&observation).expect_err("a misfit");
        assert!(!error.detail().expect("a detail").contains("hunter2"));
        assert!(!error.message().contains("hunter"));
    }

    #[test]
    fn an_integer_may_have_128_bits() {
        let sum = Observation::json(&std::collections::BTreeMap::from([("sum", i128::MAX)]));
        assert!(model().check(&sum.expect("a value")).is_ok());
        assert!(model().check(&structured(json!({ "sum": 1e10 }))).is_err());
    }

    #[test]
    fn output_schemas_may_have_any_type() {
        let mut definition = ToolDefinition::new("count", "Count.");
        definition.output_schema = json!({ "type": "integer" }).as_object().cloned();
        let model = OutputModel::new(&definition).expect("a schema");
        assert!(model.check(&structured(json!(3))).is_ok());
        assert!(model.check(&structured(json!("3"))).is_err());
        assert!(model.check(&structured(Value::Null)).is_err());
    }

    /// The shape of a tool that returns `Json<T>`.
    fn shape<T: serde::Serialize + schemars::JsonSchema>() -> OutputShape {
        let mut definition = ToolDefinition::new("a", "A.");
        definition.set_output(Json::<T>::output_schema);
        OutputShape::from_definition(&definition)
    }

    #[test]
    fn results_are_checked_where_the_schema_asserts_more_than_the_type() {
        #[derive(serde::Serialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct Plain {
            small: u8,
            large: Option<u64>,
            list: Vec<i16>,
            pair: (bool, String),
            named: std::collections::BTreeMap<u32, Plain>,
            kind: Kind,
        }
        #[derive(serde::Serialize, schemars::JsonSchema)]
        #[allow(dead_code)]
        enum Kind {
            /// One.
            One,
            Two,
        }
        #[derive(serde::Serialize, schemars::JsonSchema)]
        struct Bounded {
            #[schemars(range(min = 0))]
            count: i64,
        }
        #[derive(serde::Serialize, schemars::JsonSchema)]
        struct Named {
            #[schemars(regex(pattern = "^[a-z]+$"))]
            name: String,
        }
        assert!(matches!(shape::<Plain>(), OutputShape::Value));
        assert!(matches!(shape::<Vec<f64>>(), OutputShape::Floats(_)));
        assert!(matches!(shape::<Vec<Bounded>>(), OutputShape::Bounded(_)));
        assert!(matches!(shape::<Named>(), OutputShape::Bounded(_)));
        let check = |count| {
            shape::<Bounded>().check(&Observation::json(&Bounded { count }).expect("a value"))
        };
        assert!(check(0).is_ok());
        let error = check(-1).expect_err("a misfit").detail().expect("a detail").to_owned();
        assert!(error.contains("`count` must be at least 0, got -1"), "{error}");
    }
}
