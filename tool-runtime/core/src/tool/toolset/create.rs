//! A value of a toolset from its parameters as JSON, and the tools over it.

use super::{Instance, Method, SharedBy, Toolset, Values};
use crate::schema::check;
use crate::tool::arguments::schemas;
use crate::tool::context::ToolContext;
use crate::tool::tool::{Origin, Tool};
use crate::vocabulary::error::Issue;
use crate::vocabulary::error::{ErrorClass, ToolError, caught, panic_message};
use crate::vocabulary::future::BoxFuture;
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// A type-erased toolset type, registered by `#[toolset]` at link time with its
/// source location.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::toolset::ToolsetKind;
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
///     async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> { Ok(Self) }
/// }
///
/// let kind = ToolsetKind::from_type::<Clock>(file!(), line!());
/// assert_eq!(kind.name(), "clock");
/// assert_eq!(kind.tool_names().collect::<Vec<_>>(), ["clock.now"]);
/// ```
#[derive(Clone, Copy)]
pub struct ToolsetKind {
    name: &'static str,
    methods: fn() -> &'static [Method],
    create: Create,
    #[cfg_attr(not(feature = "linked"), allow(dead_code))]
    type_id: fn() -> TypeId,
    origin: Origin,
}

/// Makes the tools of a type from its parameters.
type Create = fn(Value, New) -> BoxFuture<'static, Result<Vec<Tool>, ToolsetError>>;

/// The inputs of a toolset's creation except its parameters.
#[derive(Clone, Default)]
pub(crate) struct New {
    /// Holds the pool's state.
    pub(crate) context: ToolContext,
    /// Replaces the type's own prefix in the tools' names.
    pub(crate) prefix: Option<String>,
}

impl New {
    /// The id of a tool whose id is `name` under the type's own prefix.
    fn tool_name(&self, toolset: &str, name: &str) -> String {
        let Some(prefix) = &self.prefix else { return name.to_owned() };
        let method_name = name.strip_prefix(toolset).and_then(|rest| rest.strip_prefix('.'));
        let method_name = method_name.unwrap_or(name);
        if prefix.is_empty() { method_name.to_owned() } else { format!("{prefix}.{method_name}") }
    }
}

impl ToolsetKind {
    /// A type of toolset, written at this location.
    pub const fn from_type<T: Toolset>(file: &'static str, line: u32) -> Self {
        Self {
            name: T::NAME,
            methods: T::methods,
            create: |params, new| Box::pin(create::<T>(params, new)),
            type_id: TypeId::of::<T>,
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

    /// Creates a value from its parameters and returns its tools. An unusable toolset returns
    /// hidden tools.
    ///
    /// # Errors
    /// Invalid parameters, or the error of `create`.
    pub async fn create(&self, params: Map<String, Value>) -> Result<Vec<Tool>, ToolsetError> {
        self.create_with(params, New::default()).await
    }

    pub(crate) async fn create_with(
        &self,
        params: Map<String, Value>,
        new: New,
    ) -> Result<Vec<Tool>, ToolsetError> {
        let tools = (self.create)(Value::Object(params), new).await?;
        Ok(tools.into_iter().map(|tool| tool.at(self.origin)).collect())
    }

    /// The type of its values.
    #[cfg(feature = "linked")]
    pub(crate) fn type_id(&self) -> TypeId {
        (self.type_id)()
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

/// The reason why a toolset could not be created.
///
/// ```
/// # use tool_runtime::ToolError;
/// # use tool_runtime::toolset::ToolsetError;
/// let error = ToolsetError::Failed(ToolError::user("no such shell"));
/// assert_eq!(error.to_string(), "no such shell");
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// The parameters are invalid; all problems.
    #[error("{}", join_issues(.0))]
    Params(Vec<Issue>),
    /// `create` failed.
    #[error("{}", for_operators(.0))]
    Failed(ToolError),
}

crate::debug_as_message!(ToolsetError);

fn join_issues(issues: &[Issue]) -> String {
    issues.iter().map(Issue::to_string).collect::<Vec<_>>().join("; ")
}

/// Not shown to models: an internal error is shown unchanged.
fn for_operators(error: &ToolError) -> String {
    match error.source() {
        Some(source) if error.class() == ErrorClass::Internal => source.to_string(),
        _ => error.message().to_owned(),
    }
}

impl Tool {
    /// The tools of a toolset over a value that exists, for extensions of pools: unlike
    /// [`ToolPoolBuilder::toolset`](crate::pool::ToolPoolBuilder::toolset) it needs no asynchronous `build`. `prefix`
    /// replaces the type's own. [`Toolset::create`], [`Toolset::is_usable`] and [`Toolset::SHARED_BY`] are not
    /// used; the value is closed as every other.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// struct Lamp(String);
    ///
    /// #[toolset(register = false)]
    /// impl Lamp {
    ///     /// Name the room of the lamp.
    ///     #[tool(read_only)]
    ///     async fn room(&self) -> String { self.0.clone() }
    /// }
    ///
    /// impl Toolset for Lamp {
    ///     type Params = ();
    ///
    ///     async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
    ///         Ok(Self("study".into()))
    ///     }
    /// }
    ///
    /// let tools = Tool::of_toolset(Some("desk"), Lamp("kitchen".into()));
    /// assert_eq!(tools[0].name(), "desk.room");
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().add_from(&tool_runtime::pool::Source::Custom, tools).build()?;
    /// let result = pool.call(ToolCall::new("desk.room", "")).await;
    /// assert_eq!(result.observation().to_text(), "kitchen");
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn of_toolset<T: Toolset>(prefix: Option<&str>, value: T) -> Vec<Self> {
        let new = New { prefix: prefix.map(str::to_owned), ..New::default() };
        let values = Values::One(Arc::new(Instance::new(value)));
        let bind =
            |method: &Method| method.bind(values.clone(), new.tool_name(T::NAME, method.name()));
        T::methods().iter().map(bind).collect()
    }

    /// The tools of a toolset that this system cannot run, for extensions of pools: hidden, with the reason in the
    /// pool's report.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// struct Camera;
    ///
    /// #[toolset(register = false)]
    /// impl Camera {
    ///     /// Take a picture.
    ///     #[tool(read_only)]
    ///     async fn shoot(&self) {}
    /// }
    ///
    /// impl Toolset for Camera {
    ///     type Params = ();
    ///
    ///     async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
    ///         Ok(Self)
    ///     }
    /// }
    ///
    /// let tools = Tool::of_unusable_toolset::<Camera>(None, "`fswebcam` is missing; install it");
    /// let pool = ToolPool::builder().add_from(&tool_runtime::pool::Source::Custom, tools).allow_empty().build()?;
    /// assert!(pool.tools().is_empty());
    /// assert!(pool.report().to_string().contains("`fswebcam` is missing"));
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn of_unusable_toolset<T: Toolset>(prefix: Option<&str>, reason: &str) -> Vec<Self> {
        let new = New { prefix: prefix.map(str::to_owned), ..New::default() };
        let hide =
            |method: &Method| hidden_tool(method, new.tool_name(T::NAME, method.name()), reason);
        T::methods().iter().map(hide).collect()
    }
}

async fn create<T: Toolset>(params: Value, new: New) -> Result<Vec<Tool>, ToolsetError> {
    start::<T>(decode_params::<T::Params>(params)?, new).await
}

/// The tools over new values, or tools that fail with the reason.
pub(crate) async fn start<T: Toolset>(
    params: T::Params,
    new: New,
) -> Result<Vec<Tool>, ToolsetError> {
    let name = |method: &Method| new.tool_name(T::NAME, method.name());
    if let Err(reason) = usable::<T>(&params) {
        let tools = T::methods().iter().map(|method| hidden_tool(method, name(method), &reason));
        return Ok(tools.collect());
    }
    let values = match T::SHARED_BY {
        SharedBy::Pool => {
            let instance = instance::<T>(params, new.context.clone()).await;
            Values::One(Arc::new(instance.map_err(ToolsetError::Failed)?))
        }
        shared_by => Values::with_keys(
            T::NAME,
            shared_by,
            Box::new(move |context| Box::pin(instance::<T>(params.clone(), context))),
        ),
    };
    Ok(T::methods().iter().map(|method| method.bind(values.clone(), name(method))).collect())
}

/// The user's code runs here: its panic fails only this toolset.
async fn instance<T: Toolset>(
    params: T::Params,
    context: ToolContext,
) -> Result<Instance, ToolError> {
    let result = AssertUnwindSafe(async { T::create(params, &context).await }).catch_unwind().await;
    result
        .unwrap_or_else(|panic| {
            Err(ToolError::user(format!("`create` panicked: {}", panic_message(panic))))
        })
        .map(Instance::new)
}

fn usable<T: Toolset>(params: &T::Params) -> Result<(), String> {
    caught(|| T::is_usable(params)).unwrap_or_else(|_| Err("its `is_usable` panicked".to_owned()))
}

fn hidden_tool(method: &Method, name: String, reason: &str) -> Tool {
    let mut definition = method.definition();
    definition.name = name;
    Tool::unusable(definition, reason)
}

/// Parameters of a configuration, checked against their schema first so that all mistakes are reported.
pub(crate) fn decode_params<P: DeserializeOwned + JsonSchema>(
    params: Value,
) -> Result<P, ToolsetError> {
    let schema = params_schema::<P>();
    let issues = check::check_params(&schema, &params);
    if !issues.is_empty() {
        return Err(ToolsetError::Params(issues));
    }
    let is_empty = params.as_object().is_some_and(Map::is_empty);
    // serde decodes `()` from null; here it means no parameters.
    let params = if is_empty && schema == Value::Object(schemas::no_arguments()) {
        serde_json::from_value(Value::Null).or_else(|_| serde_json::from_value(params))
    } else {
        serde_json::from_value(params)
    };
    // The error of a custom decoder may quote any value.
    let holds_secrets = schema.to_string().contains(r#""writeOnly":true"#);
    params.map_err(|error| {
        ToolsetError::Failed(ToolError::user(if holds_secrets {
            "params: they are not of their types".to_owned()
        } else {
            format!("params: {error}")
        }))
    })
}

/// The schema of the parameters; unknown ones are mistakes in the configuration.
fn params_schema<P: JsonSchema>() -> Value {
    let mut schema = schemas::input_of::<P>();
    if schema["type"] == "null" {
        return Value::Object(schemas::no_arguments());
    }
    if let Value::Object(root) = &mut schema
        && root.contains_key("properties")
    {
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}
