//! Checks the results of a tool against the output schema that it advertises.

use crate::definition::ToolDefinition;
use crate::error::{CallError, ErrorClass};
use crate::issue::Issue;
use crate::observation::Observation;
use crate::schema::check;
use serde_json::Value;

/// The ways in which a result of generated code can violate its output schema. The schema is derived from the type, so
/// only floats can violate it: serde_json writes those that are not finite as `null`.
#[derive(Debug, Default)]
pub(crate) enum OutputShape {
    /// No schema, although the value may be structured: a scalar, shown as text.
    Text,
    #[default]
    Value,
    /// Some values are floats.
    Floats(OutputModel),
}

impl OutputShape {
    pub(crate) fn of(definition: &ToolDefinition) -> Self {
        match &definition.output_schema {
            None => Self::Text,
            Some(schema) if schema.values().any(has_floats) => {
                OutputModel::new(definition).map_or(Self::Text, Self::Floats)
            }
            Some(_) => Self::Value,
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
            return Err(self.broken("it has no structured value"));
        };
        // A raw value comes from any serializer, and may be nested too deeply to parse.
        let value: Value = serde_json::from_str(json).map_err(|error| {
            self.broken(&format!("its structured value cannot be read: {error}"))
        })?;
        match check::check_result(&self.schema, &value).as_slice() {
            [] => Ok(()),
            issues => Err(self.broken(&list_issues(issues))),
        }
    }

    /// Rejects a float that is not finite where the schema does not allow the `null` that was
    /// written for it.
    ///
    /// # Errors
    /// [`ErrorClass::Internal`], with the places of such floats.
    pub(crate) fn check_floats(&self, observation: &Observation) -> Result<(), CallError> {
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
    fn broken(&self, detail: &str) -> CallError {
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

/// Starts with the place: not every message names it.
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
}
