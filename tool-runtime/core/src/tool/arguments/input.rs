//! Describes every mistake in a call's arguments after decoding rejected them.

mod decoders;

use crate::schema::check;
use crate::schema::segment::Segment;
use crate::tool::arguments::parameter::{Parameter, SchemaOrigin, Settings};
use crate::tool::arguments::probe::{self, Decode};
use crate::tool::arguments::schemas;
use crate::tool::arguments::{Arguments, DecodeError, DecodeFailure};
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::Issue;
use crate::vocabulary::error::{CallError, ErrorClass};
use decoders::Decoders;
use serde_json::{Map, Value};

/// The error of a flattened type, whose fields are arguments.
fn flattened_text(text: &str) -> String {
    match text.strip_prefix("missing field ") {
        Some(name) => format!("missing required argument {name}"),
        None => check::cut(text, MAX_ERROR_TEXT),
    }
}

/// Limit on the characters of an error of a custom decoder, which may quote a value of any length.
const MAX_ERROR_TEXT: usize = 500;

/// Checks arguments against a tool's schema and explains mistakes to a model.
pub struct InputModel {
    name: String,
    schema: Value,
    parameters: &'static [Parameter],
    decoders: Decoders,
    /// Whether the schema asserts more than decoding enforces.
    is_walked: bool,
    /// Whether decoding does not report unknown fields because serde buffers a part.
    misses_fields: bool,
}

impl InputModel {
    /// An input of a generated action, whose decoder enforces its table.
    pub(crate) fn new(definition: &ToolDefinition, settings: &Settings) -> Self {
        if settings.schema == SchemaOrigin::Table {
            return Self::from_table(&definition.name, settings.parameters);
        }
        // A hand-written action has no table; a given schema may assert more than the table.
        Self { parameters: settings.parameters, ..Self::from_schema(definition) }
    }

    /// Creates a model of a parameter table without a schema.
    pub(crate) fn from_table(name: &str, parameters: &'static [Parameter]) -> Self {
        let (schema, misses_fields) = schemas::input_and_misses(parameters);
        Self {
            name: name.to_owned(),
            schema: Value::Object(schema),
            parameters,
            decoders: Decoders::Each(parameters),
            is_walked: schemas::has_unenforced(parameters),
            misses_fields,
        }
    }

    /// An input whose schema may be stricter than its decoder.
    #[doc(hidden)]
    pub fn from_schema(definition: &ToolDefinition) -> Self {
        Self {
            name: definition.name.clone(),
            schema: Value::Object(definition.input_schema.clone()),
            parameters: &[],
            decoders: Decoders::None,
            is_walked: true,
            misses_fields: false,
        }
    }

    /// An input of a tool whose arguments are decoded as one type, from which the schema is generated.
    pub(crate) fn from_decoder(definition: &ToolDefinition, decode: Decode) -> Self {
        Self { decoders: Decoders::Whole(decode), ..Self::from_schema(definition) }
    }

    /// Checks assertions that decoding does not enforce; does nothing if it enforces all.
    ///
    /// # Errors
    /// All issues in one text.
    pub(crate) fn check(&self, arguments: Arguments<'_>) -> Result<(), CallError> {
        let issues = match (self.is_walked, self.misses_fields) {
            (true, _) => self.issues(arguments)?,
            (false, true) => self.missed_fields(arguments),
            (false, false) => return Ok(()),
        };
        if issues.is_empty() { Ok(()) } else { Err(self.rejection(issues)) }
    }

    /// All mistakes, if some are unknown fields, which decoding does not report. It reports all others.
    fn missed_fields(&self, arguments: Arguments<'_>) -> Vec<Issue> {
        let issues = self.issues(arguments).unwrap_or_default();
        let is_unknown = |issue: &Issue| {
            matches!(issue.rule(), "additionalProperties" | "unevaluatedProperties")
        };
        if issues.iter().any(is_unknown) { issues } else { Vec::new() }
    }

    /// Every mistake, after decoding failed at the first.
    #[cold]
    pub(crate) fn explain(&self, arguments: Arguments<'_>, error: &DecodeError) -> CallError {
        match self.issues(arguments) {
            Err(malformed) => malformed,
            Ok(issues) if !issues.is_empty() => self.rejection(issues),
            Ok(_) => self.explain_failure(arguments, error),
        }
    }

    /// Describes a mistake that the schema does not cover.
    fn explain_failure(&self, arguments: Arguments<'_>, error: &DecodeError) -> CallError {
        if let DecodeFailure::Ignored(index) = error.failure()
            && let Some(issues) =
                self.ignored_issues(arguments, *index).filter(|found| !found.is_empty())
        {
            return self.rejection(issues);
        }
        self.invalid_arguments(&self.failure_text(error))
    }

    /// The fields that a type ignores, if the schema does not allow them.
    fn ignored_issues(&self, arguments: Arguments<'_>, index: usize) -> Option<Vec<Issue>> {
        if self.hides(index) {
            return None;
        }
        let value = self.value(arguments).ok()?;
        let (decode, path, value) = self.decoders.part(value, index)?;
        let paths = probe::ignored_keys(decode, &value)?.into_iter();
        let paths = paths.map(|below| [path.as_slice(), &below].concat());
        let paths = paths.filter(|path| !check::fields_at(&self.schema, path).is_allowed);
        let issues = paths.filter_map(|path| check::unknown_field(&self.schema, &path));
        Some(issues.take(check::MAX_ISSUES).collect())
    }

    /// All mistakes in the arguments.
    ///
    /// # Errors
    /// If they are not valid JSON.
    pub(crate) fn issues(&self, arguments: Arguments<'_>) -> Result<Vec<Issue>, CallError> {
        let value = self.value(arguments)?;
        Ok(self.decoders.mistakes(&self.schema, value, arguments.as_str().len()))
    }

    /// The arguments, under their advertised names.
    fn value(&self, arguments: Arguments<'_>) -> Result<Value, CallError> {
        let mut value: Value = serde_json::from_str(arguments.as_str()).map_err(|error| {
            self.invalid_arguments(&format!("the arguments are not valid JSON: {error}"))
        })?;
        if let Value::Object(map) = &mut value {
            self.rename_aliases(map);
        }
        Ok(value)
    }

    /// Mistakes in a value.
    #[doc(hidden)]
    pub fn issues_of(&self, value: &Value) -> Vec<Issue> {
        check::check(&self.schema, value)
    }

    /// Renames aliases that the schema does not advertise; a schema that the user gave may contain them.
    fn rename_aliases(&self, arguments: &mut Map<String, Value>) {
        for parameter in self.parameters {
            let properties = &self.schema["properties"];
            let hidden = parameter.aliases.iter().filter(|alias| properties.get(**alias).is_none());
            for alias in hidden {
                if let Some(value) = arguments.shift_remove(*alias) {
                    arguments.insert(parameter.name.to_owned(), value);
                }
            }
        }
    }

    #[doc(hidden)]
    pub fn rejection(&self, issues: Vec<Issue>) -> CallError {
        let mut text = match issues.as_slice() {
            [only] => only.to_string(),
            many => many.iter().map(|issue| format!("\n- {issue}")).collect(),
        };
        if issues.len() >= check::MAX_ISSUES {
            text.push_str("\n(there may be more; these are the first)");
        }
        self.invalid_arguments(&text).with_issues(issues)
    }

    fn invalid_arguments(&self, what: &str) -> CallError {
        let separator = if what.starts_with('\n') { "" } else { " " };
        CallError::new(
            ErrorClass::Input,
            format!("invalid arguments for `{}`:{separator}{what}", self.name),
        )
    }

    /// The text of a failure that the schema does not cover: an error of a custom decoder, or a duplicate key.
    fn failure_text(&self, error: &DecodeError) -> String {
        let name = |index: &usize| self.parameters.get(*index).map_or("?", |p| p.name);
        match error.failure() {
            DecodeFailure::Malformed(text) => check::cut(text, MAX_ERROR_TEXT),
            DecodeFailure::Type(_) if self.holds_secrets() => {
                "they are not of their types".to_owned()
            }
            DecodeFailure::Type(text) => check::cut(text, MAX_ERROR_TEXT),
            DecodeFailure::Unknown(name) => {
                format!("unknown argument `{}`", check::cut(name, MAX_ERROR_TEXT))
            }
            DecodeFailure::Repeated(index) => {
                format!("argument `{}` is given twice; give it once", name(index))
            }
            DecodeFailure::Missing(index) => format!("missing required argument `{}`", name(index)),
            DecodeFailure::Constraint(index) => {
                format!("argument `{}` is outside what its schema allows", name(index))
            }
            DecodeFailure::Value(index, _) if self.hides(*index) => {
                format!("argument `{}` is not of its type", name(index))
            }
            DecodeFailure::Number(index, _) => format!(
                "a number in argument `{}` is not an integer of its type; write only digits, without fraction or exponent",
                name(index)
            ),
            DecodeFailure::Ignored(index) if self.is_flattened(*index) => {
                "unknown arguments".to_owned()
            }
            DecodeFailure::Ignored(index) => {
                format!("argument `{}` has unknown fields", name(index))
            }
            DecodeFailure::Value(index, text) if self.is_flattened(*index) => flattened_text(text),
            DecodeFailure::Value(index, text) => {
                format!("argument `{}`: {}", name(index), check::cut(text, MAX_ERROR_TEXT))
            }
        }
    }

    /// Whether a parameter is given by its fields instead of its name.
    fn is_flattened(&self, index: usize) -> bool {
        self.parameters.get(index).is_some_and(|parameter| parameter.is_flattened)
    }

    /// Whether the error of a custom decoder may quote a secret.
    fn holds_secrets(&self) -> bool {
        check::holds_secrets(&self.schema, &[])
    }

    /// Whether the value of a parameter, or a part of the value, is secret.
    fn hides(&self, index: usize) -> bool {
        match self.parameters.get(index) {
            Some(parameter) if !parameter.is_flattened => {
                let path = [Segment::Key(parameter.name.to_owned())];
                parameter.is_secret || check::holds_secrets(&self.schema, &path)
            }
            _ => self.holds_secrets(),
        }
    }
}
