//! Checks values against a schema of a server, which is compiled at the first check.

use super::patterns;
use super::work::is_within;
use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::{Map, Value, json};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use tokio::task::spawn_blocking;
use tool_runtime_core::seam::{is_official_schema, schema_path};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::error::Issue;

/// Limit on the backtracking of a pattern, in steps of its engine.
const PATTERN_STEPS: usize = 100_000;
/// Limit on the steps of a check on the calling thread, which takes a millisecond or two.
const SMALL: u64 = 10_000;
/// Limit on the steps of a check whose errors are listed, which may take quadratic time.
const MAX_EXPLAINED: u64 = 2_000;
/// Limit on the steps of a check, which takes a second or two.
const MAX_STEPS: u64 = 10_000_000;

/// Checks values against one schema of a definition.
pub(crate) struct Checker {
    definition: Arc<ToolDefinition>,
    side: Side,
    compiled: OnceLock<Result<Compiled, String>>,
}

#[derive(Clone, Copy)]
enum Side {
    Input,
    Output,
}

/// The result of a check.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
    /// The check would take too long.
    Unchecked,
}

pub(super) struct Compiled {
    validator: Validator,
    schema: Map<String, Value>,
    /// The patterns that the engine cannot compile.
    pub(super) unenforced: Vec<String>,
}

impl Checker {
    pub(crate) fn of_input(definition: &Arc<ToolDefinition>) -> Arc<Self> {
        Self::new(definition, Side::Input)
    }

    /// `None` without an output schema.
    pub(crate) fn of_output(definition: &Arc<ToolDefinition>) -> Option<Arc<Self>> {
        definition.output_schema.as_ref()?;
        Some(Self::new(definition, Side::Output))
    }

    fn new(definition: &Arc<ToolDefinition>, side: Side) -> Arc<Self> {
        let (definition, compiled) = (Arc::clone(definition), OnceLock::new());
        Arc::new(Self { definition, side, compiled })
    }

    /// Checks a value and returns it. A long check runs on a blocking thread.
    ///
    /// # Errors
    /// The schema is invalid.
    pub(crate) async fn check(self: &Arc<Self>, value: Value) -> (Value, Result<Verdict, String>) {
        if let Some(Ok(compiled)) = self.compiled.get()
            && is_within(SMALL, &compiled.schema, &value)
        {
            let verdict = compiled.verdict(&value);
            return (value, Ok(verdict));
        }
        let checker = Arc::clone(self);
        on_blocking_thread(move || {
            let verdict = checker.verdict_of(&value);
            (value, verdict)
        })
        .await
    }

    fn verdict_of(&self, value: &Value) -> Result<Verdict, String> {
        let compiled = self.compiled.get_or_init(|| compile(self.schema()));
        let compiled = compiled.as_ref().map_err(String::clone)?;
        let is_limited = is_within(MAX_STEPS, &compiled.schema, value);
        Ok(if is_limited { compiled.verdict(value) } else { Verdict::Unchecked })
    }

    /// The issues of an invalid value.
    pub(crate) fn explain(&self, value: &Value) -> Vec<Issue> {
        match self.compiled.get() {
            Some(Ok(compiled)) => compiled.explain(value),
            _ => Vec::new(),
        }
    }

    fn schema(&self) -> Map<String, Value> {
        match self.side {
            Side::Input => self.definition.input_schema.clone(),
            Side::Output => self.definition.output_schema.clone().unwrap_or_default(),
        }
    }
}

impl Compiled {
    fn verdict(&self, value: &Value) -> Verdict {
        if self.validator.is_valid(value) { Verdict::Valid } else { Verdict::Invalid }
    }

    fn explain(&self, value: &Value) -> Vec<Issue> {
        if !is_within(MAX_EXPLAINED, &self.schema, value) {
            return vec![Issue::new("", "schema", "it does not fit the schema")];
        }
        let issue = |error: jsonschema::ValidationError<'_>| {
            // Values are not shown: some are secret.
            let (path, masked) = (path(error.instance_path().as_str()), error.masked());
            let prefix = if path.is_empty() { path.clone() } else { format!("`{path}`: ") };
            Issue::new(path, "schema", format!("{prefix}{masked}"))
        };
        self.validator.iter_errors(value).take(20).map(issue).collect()
    }
}

/// Runs `work` on a blocking thread.
pub(crate) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The runtime is shutting down.
        Err(_) => std::future::pending().await,
    }
}

/// Compiles a schema, without the patterns that cannot be compiled.
///
/// # Errors
/// The schema is not a valid one.
pub(super) fn compile(mut schema: Map<String, Value>) -> Result<Compiled, String> {
    let options = options(&schema);
    let mut built = options.build(&Value::Object(schema.clone()));
    let mut unenforced = Vec::new();
    if built.is_err() {
        let removed = patterns::remove(&mut schema, &mut |pattern| {
            options.build(&json!({ "pattern": pattern })).is_ok()
        });
        unenforced = removed.patterns;
        built = options.build(&Value::Object(schema.clone()));
        if removed.is_inverting && !unenforced.is_empty() && built.is_ok() {
            // Removing a pattern would make the schema stricter: nothing is enforced.
            schema.clear();
            built = options.build(&json!({}));
        }
    }
    let describe = |error: &jsonschema::ValidationError<'_>| match error.instance_path().as_str() {
        "" => error.to_string(),
        pointer => format!("at `{}`: {error}", path(pointer)),
    };
    built
        .map(|validator| Compiled { validator, schema, unenforced })
        .map_err(|error| describe(&error))
}

fn options(schema: &Map<String, Value>) -> ValidationOptions<'static> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(PATTERN_STEPS);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    let is_unknown = schema
        .get("$schema")
        .is_some_and(|dialect| !dialect.as_str().is_some_and(is_official_schema));
    // An unknown dialect is read as the newest one.
    if is_unknown { options.with_draft(Draft::Draft202012) } else { options }
}

/// `/a/0/b` as we write paths: `a[0].b`.
fn path(pointer: &str) -> String {
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    schema_path(steps.iter().map(String::as_str))
}
