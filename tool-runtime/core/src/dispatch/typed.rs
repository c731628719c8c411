//! Typed calls: the arguments and the result of a call by name, as types.

use super::guard;
use super::typed_value::TypedValue;
use crate::pool::ToolPool;
use crate::tool::call::ToolCall;
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use serde::Serialize;
use std::borrow::Cow;

/// A call of a tool by its arguments as a type: the action of a `#[tool]`, or one that `external_tools!` generates.
///
/// It is a call by name, of whatever tool has that name in the pool: a local one, one of a server, or another
/// instead. The arguments are written as JSON and pass all stages of a call; a float that is not finite is `null` there.
/// The value is read from the result. An action that is written by hand implements this trait and [`TypedArguments`]
/// itself.
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
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<AddAction>().build()?;
/// let sum: i64 = AddAction { a: 2, b: 40 }.call(&pool).await?;
/// assert_eq!(sum, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait CallAction: Sized + Send + 'static {
    /// The tool's id in the pool.
    const TOOL: &'static str;

    /// Whether [`Self::Value`] is a result itself, because the signature names an alias of `Result`.
    #[doc(hidden)]
    const IS_RESULT: bool = false;

    /// What the tool returns when it succeeds: of a `Result<T, E>`, the `T`.
    type Value;

    /// Calls the tool through a pool, as a caller of its own: a tool that calls another one uses [`Self::call_with`].
    ///
    /// # Errors
    /// Those of a call by name. A result that is not of the type, as when a hook replaced it or a limit cut it, has the
    /// class [`ErrorClass::Tool`].
    fn call(self, pool: &ToolPool) -> BoxFuture<'_, Result<Self::Value, CallError>>
    where
        Self: TypedArguments,
        Self::Value: TypedValue,
    {
        Box::pin(call_guarded(self, pool, pool.shared_context()))
    }

    /// Calls the tool in a context. A tool that calls another one passes its own: the nested call shares its declared
    /// resources, its cancellation and its deadline.
    ///
    /// # Errors
    /// As [`Self::call`].
    fn call_with<'a>(
        self,
        pool: &'a ToolPool,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Self::Value, CallError>>
    where
        Self: TypedArguments,
        Self::Value: TypedValue,
    {
        Box::pin(call_guarded(self, pool, context))
    }
}

/// Reading and writing JSON is the user's code, which may panic.
async fn call_guarded<A: CallAction<Value: TypedValue> + TypedArguments>(
    action: A,
    pool: &ToolPool,
    context: &ToolContext,
) -> Result<A::Value, CallError> {
    const {
        assert!(
            !A::IS_RESULT,
            "the signature of this tool names an alias of `Result`; write `Result<T, E>` in it for a typed call"
        );
    }
    guard::catch_panics(A::TOOL, call_and_decode(action, pool, context)).await
}

/// The value of a call that succeeded.
async fn call_and_decode<A: CallAction<Value: TypedValue> + TypedArguments>(
    action: A,
    pool: &ToolPool,
    context: &ToolContext,
) -> Result<A::Value, CallError> {
    let tool = A::TOOL;
    let json = action.to_json().ok_or_else(|| {
        let text = format!("the arguments of `{tool}` cannot be written as JSON");
        CallError::new(ErrorClass::Input, text)
    })?;
    let call = ToolCall::new(tool, json);
    let observation = pool.outcome(&call, Cow::Borrowed(context)).await?;
    if observation.is_error() {
        return Err(CallError::new(ErrorClass::Tool, observation.to_text()));
    }
    A::Value::from_observation(observation).map_err(|detail| {
        let text = format!("the result of `{tool}` is not of the expected type");
        CallError::new(ErrorClass::Tool, text).with_detail(detail)
    })
}

/// The arguments of a typed call, as JSON. Generated for a tool whose arguments are all `Serialize`.
pub trait TypedArguments {
    /// The arguments as a JSON object. `None` if a value cannot be written, such as a map with keys that are not strings.
    fn to_json(&self) -> Option<String>;
}

/// An argument of a typed call, which is written as JSON: every type that is `Serialize`. The lifetime lets generated
/// code require this of a type without asserting it.
#[diagnostic::on_unimplemented(
    message = "a typed call cannot pass `{Self}`",
    label = "an argument of type `{Self}` cannot be written as JSON",
    note = "derive `serde::Serialize` for it, or call the tool by its name, by `pool.call(ToolCall::json(..))`"
)]
pub trait TypedArgument<'a> {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> TypedArgument<'_> for T {}

/// A return type that is a result: its value is that of a success.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the name of a result, and is none",
    label = "a tool that returns a `Result` fails with its error",
    note = "return it by an alias of another name, as in `type Found = {Self};`"
)]
pub trait ResultType {
    /// The type of a success.
    type Value;
}

impl<T, E> ResultType for Result<T, E> {
    type Value = T;
}

impl<T, E> ResultType for Option<Result<T, E>> {
    type Value = Option<T>;
}
