//! Definitions of tools.

mod draft;
mod masked;
mod scopes;
mod task;
pub(crate) mod unknown;
mod wire;

pub(crate) use draft::describe;
pub(crate) use draft::{Common, Describe};
pub use draft::{Draft, DraftOf};
pub use task::TaskSupport;

use crate::schema;
use crate::tool::arguments::schemas;
use crate::tool::results::output::OutputSchema;
use crate::vocabulary::annotations::{RetryMode, ToolAnnotations};
use crate::vocabulary::content::Icon;
use crate::vocabulary::wire_name::wire_name;
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The public description of a tool, for models and clients. The JSON form is MCP's `Tool`.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Add two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     #[arg(default = 1)]
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// let definition = AddAction::definition();
/// assert_eq!(definition.description, "Add two integers.");
/// assert_eq!(definition.input_schema["properties"]["b"]["default"], 1);
/// assert_eq!(definition.input_schema["required"], serde_json::json!(["a"]));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The id: 1 to 128 of `A-Z a-z 0-9 _ - .`.
    pub name: String,
    /// A display title.
    pub title: Option<String>,
    /// Effect of the tool, and when to use it.
    pub description: String,
    /// The arguments: a JSON Schema (2020-12) whose root is an object.
    pub input_schema: Map<String, Value>,
    /// The structured value that a success has, if it has one.
    pub output_schema: Option<Map<String, Value>>,
    /// Whether the output schema is that of a type and asserts more than the type does: bounds, lengths, patterns.
    /// Default: false.
    pub(crate) output_is_bounded: bool,
    /// Icons, for display.
    pub icons: Vec<Icon>,
    /// Hints about the tool's effects, as its source declares them. Decisions use
    /// [`Self::effective_annotations`].
    pub annotations: ToolAnnotations,
    /// Whether the source of the hints is not trusted, as an external server is by default. In MCP's
    /// JSON it is in `_meta`, under `tool-runtime/untrusted-annotations`. Default: false.
    pub untrusted_annotations: bool,
    /// Whether a call may run again if its outcome is unknown. Not a part of MCP's JSON. Default: `None`,
    /// as the trusted hints say.
    pub retry_mode: Option<RetryMode>,
    /// Words to filter by. In MCP's JSON they are in `_meta`, under `tool-runtime/tags`.
    pub tags: Vec<String>,
    /// Scopes that a caller needs, all of them, see [`Principal::may_use`](crate::vocabulary::Principal::may_use). They are
    /// not written to MCP's JSON.
    pub scopes: Vec<String>,
    /// Whether calls report progress. In MCP's JSON it is in `_meta`, under
    /// `tool-runtime/progress`.
    pub reports_progress: bool,
    /// Whether calls may continue as tasks. In MCP's JSON it is in `_meta`, under
    /// `tool-runtime/task`.
    pub task: TaskSupport,
    /// MCP metadata.
    pub meta: Map<String, Value>,
    /// Unknown members of an external definition and of its `annotations`, for example `execution`.
    /// They are written to MCP's JSON unchanged.
    pub other: Map<String, Value>,
    /// The problems of the definition. A pool is not built while one of its definitions has a
    /// problem.
    pub(crate) problems: Vec<String>,
}

impl ToolDefinition {
    /// The problems of the definition.
    #[doc(hidden)]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Adds a problem; the pool rejects the tool.
    #[doc(hidden)]
    pub fn add_problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// A definition with a name and a description, and no arguments.
    ///
    /// ```
    /// use tool_runtime::ToolDefinition;
    ///
    /// let ping = ToolDefinition::new("ping", "Answer at once.");
    /// assert_eq!(ping.input_schema["type"], "object");
    /// ```
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        // A definition written by hand may hold anything.
        schema::engine::enable();
        let input_schema = schemas::no_arguments();
        Self { name: name.into(), description: description.into(), input_schema, ..Self::blank() }
    }

    /// Sets the output schema to that of a type.
    pub(crate) fn set_output(&mut self, make: OutputSchema) {
        let (schema, is_bounded) = schemas::output(make).unzip();
        self.output_schema = schema;
        self.output_is_bounded = is_bounded.unwrap_or_default();
    }

    /// Whether results are to be checked against patterns, and nothing in the program can do so.
    pub(crate) fn lacks_patterns(&self) -> bool {
        let has_patterns = |schema: &Map<String, Value>| {
            schema::check::has_patterns(&Value::Object(schema.clone()))
        };
        self.output_is_bounded
            && schema::engine::linked().is_none()
            && self.output_schema.as_ref().is_some_and(has_patterns)
    }

    fn blank() -> Self {
        Self {
            name: String::new(),
            title: None,
            description: String::new(),
            input_schema: Map::new(),
            output_schema: None,
            output_is_bounded: false,
            annotations: ToolAnnotations::default(),
            untrusted_annotations: false,
            retry_mode: None,
            icons: Vec::new(),
            tags: Vec::new(),
            scopes: Vec::new(),
            reports_progress: false,
            task: TaskSupport::None,
            meta: Map::new(),
            other: Map::new(),
            problems: Vec::new(),
        }
    }

    /// Takes the arguments' schema from a type, a struct with named fields.
    ///
    /// ```
    /// use tool_runtime::ToolDefinition;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Greet {
    ///     /// The name of the person.
    ///     name: String,
    /// }
    ///
    /// let greet = ToolDefinition::new("greet", "Greet a guest.").with_input::<Greet>();
    /// assert_eq!(greet.input_schema["properties"]["name"]["type"], "string");
    /// ```
    #[must_use]
    pub fn with_input<T: JsonSchema>(self) -> Self {
        self.with_input_schema(schemas::input_of::<T>())
    }

    /// Sets the schema of the arguments, unchanged; the root must be an object schema.
    #[must_use]
    pub fn with_input_schema(mut self, schema: impl Into<Value>) -> Self {
        schema::engine::enable();
        match schema.into() {
            Value::Object(schema) if schema.get("type").is_some_and(|kind| kind == "object") => {
                self.input_schema = schema;
            }
            _ => self.problems.push(
                "its input schema is not an object schema; write one with `\"type\": \"object\"` at the root".to_owned(),
            ),
        }
        self
    }

    /// Sets the hints.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// The hints that filters, scheduling and retries act on: those given, or MCP's defaults if
    /// their source is not trusted.
    ///
    /// ```
    /// use tool_runtime::{ToolAnnotations, ToolDefinition};
    ///
    /// let hints = ToolAnnotations::default().with_read_only(true);
    /// let mut list = ToolDefinition::new("files.list", "List all.").with_annotations(hints);
    /// assert!(list.effective_annotations().is_read_only());
    /// list.untrusted_annotations = true;
    /// assert!(!list.effective_annotations().is_read_only());
    /// ```
    pub fn effective_annotations(&self) -> Cow<'_, ToolAnnotations> {
        if self.untrusted_annotations {
            return Cow::Owned(ToolAnnotations::default());
        }
        Cow::Borrowed(&self.annotations)
    }

    /// The first line of the description, for lists.
    pub fn summary(&self) -> &str {
        self.description.lines().next().unwrap_or_default()
    }

    /// The name in requests to model APIs, a pure function of the id: `.` becomes `__`; an id that
    /// APIs reject, or that could then collide with another one, gets eight hex digits of its
    /// SHA-256.
    ///
    /// ```
    /// use tool_runtime::ToolDefinition;
    ///
    /// assert_eq!(ToolDefinition::new("fs.read", "Read a file.").wire_name(), "fs__read");
    /// assert_eq!(ToolDefinition::new("7zip", "Pack.").wire_name(), "_7zip_98fa304e");
    /// ```
    pub fn wire_name(&self) -> Cow<'_, str> {
        wire_name(&self.name)
    }

    /// The schema of one argument.
    ///
    /// ```
    /// use tool_runtime::ToolDefinition;
    ///
    /// assert_eq!(ToolDefinition::new("ping", "Answer.").argument("a"), None);
    /// ```
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.input_schema.get("properties")?.get(name)
    }
}

/// An empty definition, to be filled in.
impl Default for ToolDefinition {
    fn default() -> Self {
        schema::engine::enable();
        Self::blank()
    }
}
