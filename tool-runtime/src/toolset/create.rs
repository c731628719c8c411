//! A value of a toolset from its parameters as JSON, and the tools over it.

use super::{Instance, Method, Toolset};
use crate::error::{ErrorClass, ToolError, caught, told};
use crate::issue::Issue;
use crate::schema::{self, check};
use crate::tool::{BoxFuture, Origin, Tool};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// A type of toolset, erased: what `#[toolset]` leaves in the binary at link time, with its
/// place in the source.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::ToolsetKind;
///
/// struct Clock;
///
/// #[toolset(register = false)]
/// impl Clock {
///     /// Tell the time.
///     #[tool(read_only)]
///     async fn now(&self) -> &'static str { "noon" }
/// }
///
/// impl Toolset for Clock {
///     type Params = ();
///
///     async fn create((): ()) -> Result<Self, ToolError> { Ok(Self) }
/// }
///
/// let kind = ToolsetKind::of::<Clock>(file!(), line!());
/// assert_eq!(kind.name(), "clock");
/// assert_eq!(kind.tool_names().collect::<Vec<_>>(), ["clock.now"]);
/// ```
#[derive(Clone, Copy)]
pub struct ToolsetKind {
    name: &'static str,
    methods: fn() -> &'static [Method],
    create: fn(Value) -> BoxFuture<'static, Result<Vec<Tool>, ToolsetError>>,
    origin: Origin,
}

impl ToolsetKind {
    /// A type of toolset, written at the given place.
    pub const fn of<T: Toolset>(file: &'static str, line: u32) -> Self {
        Self {
            name: T::NAME,
            methods: T::methods,
            create: |params| Box::pin(create::<T>(params)),
            origin: Origin { file, line },
        }
    }

    /// The name in specs.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The ids of its tools, in the order of the source.
    pub fn tool_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        (self.methods)().iter().map(Method::name)
    }

    /// Makes a value from its parameters and gives its tools. A toolset that is not usable
    /// gives tools that hide themselves.
    ///
    /// # Errors
    /// Parameters that do not fit; what `create` said.
    pub async fn create(&self, params: Map<String, Value>) -> Result<Vec<Tool>, ToolsetError> {
        let tools = (self.create)(Value::Object(params)).await?;
        Ok(tools.into_iter().map(|tool| tool.at(self.origin)).collect())
    }

    #[cfg_attr(not(feature = "linked"), allow(dead_code))]
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }
}

impl fmt::Debug for ToolsetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolsetKind").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a toolset could not be made.
///
/// ```
/// # use tool_runtime::{ToolError, ToolsetError};
/// let error = ToolsetError::Failed(ToolError::user("no such shell"));
/// assert_eq!(error.to_string(), "no such shell");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolsetError {
    /// The parameters do not fit; everything that is wrong with them.
    Params(Vec<Issue>),
    /// `create` failed.
    Failed(ToolError),
}

impl fmt::Display for ToolsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params(issues) => {
                let texts: Vec<String> = issues.iter().map(|issue| issue.to_string()).collect();
                f.write_str(&texts.join("; "))
            }
            // Whoever reads this is not a model: an internal error is told as it is.
            Self::Failed(error) => match error.source() {
                Some(source) if error.class() == ErrorClass::Internal => write!(f, "{source}"),
                _ => f.write_str(error.message()),
            },
        }
    }
}

impl std::error::Error for ToolsetError {}

async fn create<T: Toolset>(params: Value) -> Result<Vec<Tool>, ToolsetError> {
    start::<T>(decoded::<T::Params>(params)?).await
}

/// The tools over a new value, or tools that say why there is none.
pub(crate) async fn start<T: Toolset>(params: T::Params) -> Result<Vec<Tool>, ToolsetError> {
    if let Err(reason) = usable::<T>(&params) {
        return Ok(hidden(T::methods(), &reason));
    }
    // The user's code runs here: its panic is its failure and nobody else's.
    let value = AssertUnwindSafe(async { T::create(params).await })
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| Err(ToolError::user(format!("`create` panicked: {}", told(panic)))))
        .map_err(ToolsetError::Failed)?;
    let instance = Arc::new(Instance::new(value));
    Ok(T::methods().iter().map(|method| method.bind(Arc::clone(&instance))).collect())
}

fn usable<T: Toolset>(params: &T::Params) -> Result<(), String> {
    caught(|| T::is_usable(params)).unwrap_or_else(|_| Err("its `is_usable` panicked".to_owned()))
}

fn hidden(methods: &[Method], reason: &str) -> Vec<Tool> {
    let tool = |method: &Method| Tool::unusable(method.definition(), reason);
    methods.iter().map(tool).collect()
}

/// Parameters of a configuration, held to their schema first so that every mistake is told.
pub(crate) fn decoded<P: DeserializeOwned + JsonSchema>(params: Value) -> Result<P, ToolsetError> {
    let schema = params_schema::<P>();
    let issues = check::check_params(&schema, &params);
    if !issues.is_empty() {
        return Err(ToolsetError::Params(issues));
    }
    let is_empty = params.as_object().is_some_and(Map::is_empty);
    // `()` is null to serde, and no parameters to everybody else.
    let params = if is_empty && schema == Value::Object(schema::no_arguments()) {
        serde_json::from_value(Value::Null).or_else(|_| serde_json::from_value(params))
    } else {
        serde_json::from_value(params)
    };
    // A type's own error may quote any value.
    let holds_secrets = schema.to_string().contains(r#""writeOnly":true"#);
    params.map_err(|error| {
        ToolsetError::Failed(ToolError::user(if holds_secrets {
            "params: they are not of their types".to_owned()
        } else {
            format!("params: {error}")
        }))
    })
}

/// The schema of the parameters; unknown ones are mistakes of whoever wrote the configuration.
fn params_schema<P: JsonSchema>() -> Value {
    let mut schema = schema::input_of::<P>();
    if schema["type"] == "null" {
        return Value::Object(schema::no_arguments());
    }
    if let Value::Object(root) = &mut schema
        && root.contains_key("properties")
    {
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}
