//! Typed calls: an action passes the same stages as JSON, and its output is not serialized.

use super::execution::{InterruptOnDrop, MethodCall, enter_method};
use super::guard;
use super::scopes::check_scopes;
use super::typed_governed;
use crate::access::Access;
use crate::action::Action;
use crate::arguments::{Arguments, DecodeError};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::hook::{ErasedToolHooks, HookCall};
use crate::input::InputModel;
use crate::pool::{Found, ToolPool};
use crate::tool::Tool;
use std::borrow::Cow;
use std::pin::pin;

/// Calls an action through a pool without a detour through JSON.
///
/// Policies, limiters and recorders see the call as JSON: in a pool that has any, the arguments are serialized,
/// judged and decoded again. That needs arguments that are `Serialize`, and a return type that is `Clone`, or
/// `Serialize` for a structured value. Layers, hooks that read results, and steps of an execution that a
/// [`StepStore`](crate::StepStore) replays are for calls by name; a typed call is rejected there.
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
pub trait CallAction: Action {
    /// Calls it. What the function itself returns is the value, also if that is a `Result`.
    ///
    /// # Errors
    /// The pool has no such tool or another of that name, a constraint of `#[arg]` is broken, a
    /// rule of the pool rejects the call or needs it by name, or it was cancelled, ran out of time
    /// or panicked. Constraints that the arguments' own types state by schemars attributes are not
    /// checked, because the call has no JSON.
    fn call(self, pool: &ToolPool) -> impl Future<Output = Result<Self::Output, CallError>> + Send;

    /// The same in a context. A tool that calls another one passes its own: the nested call shares
    /// its declared resources, its cancellation and its deadline.
    ///
    /// # Errors
    /// As [`Self::call`].
    fn call_with(
        self,
        pool: &ToolPool,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, CallError>> + Send;
}

impl<A: Action> CallAction for A
where
    A::Output: Send,
{
    async fn call(self, pool: &ToolPool) -> Result<Self::Output, CallError> {
        guard::catch_panics(A::NAME, stages(self, pool, pool.shared_context())).await
    }

    async fn call_with(
        self,
        pool: &ToolPool,
        context: &ToolContext,
    ) -> Result<Self::Output, CallError> {
        let nested = context.check_nesting();
        nested.map_err(|too_deep| CallError::new(ErrorClass::Denied, too_deep))?;
        let context = pool.hosting(Cow::Borrowed(context));
        guard::catch_panics(A::NAME, stages(self, pool, &context)).await
    }
}

async fn stages<A: Action>(
    action: A,
    pool: &ToolPool,
    context: &ToolContext,
) -> Result<A::Output, CallError>
where
    A::Output: Send,
{
    if pool.governance().layered.is_some() {
        return Err(unseen(A::NAME, "layers stand around every call"));
    }
    if pool.governance().seams.is_some() {
        // Boxed: it would make the future of every typed call larger.
        return Box::pin(typed_governed::call(action, pool, context)).await;
    }
    let found = pool.find(A::NAME)?;
    let tool = found.tool();
    if !tool.is::<A>() {
        return Err(another(A::NAME));
    }
    check_scopes(tool, context.principal())?;
    action.check().map_err(|error| decode_error::<A>(&error))?;
    if let Some(rule) = found.rule() {
        let json = action.to_json().ok_or_else(|| {
            let why = "a restriction looks at the arguments, whose types are not all `Serialize`";
            unseen(A::NAME, why)
        })?;
        rule.check(&json)?;
    }
    let (action, mut context) = match found.hooks() {
        Some(hooks) => admitted(action, pool, &found, hooks, context).await?,
        None => (action, context.clone()),
    };
    let keys = |access: fn(&A) -> Access| tool.in_its_directory(|| access(&action));
    let access = A::ACCESS.map_or_else(Access::undeclared, keys);
    let _held = match access.touches_nothing() {
        true => None,
        false => {
            let held = pool.acquire(tool, access, &context).await?;
            let (inner, guard) = context.hold(held);
            context = inner;
            Some(guard)
        }
    };
    execute(action, pool, tool, context).await
}

/// Hooks read arguments as JSON, and results as observations. A typed call that has neither is
/// rejected: it must not bypass a hook.
async fn admitted<A: Action>(
    action: A,
    pool: &ToolPool,
    found: &Found,
    hooks: &dyn ErasedToolHooks,
    context: &ToolContext,
) -> Result<(A, ToolContext), CallError> {
    if hooks.reads_results() {
        return Err(unseen(A::NAME, "a hook looks at the results"));
    }
    let Some(json) = action.to_json() else {
        return Err(unseen(
            A::NAME,
            "a hook looks at the arguments, whose types are not all `Serialize`",
        ));
    };
    let mut call = HookCall::new(found.clone(), &json, context.clone());
    let admitted = pool.ask_hooks(found.tool(), hooks, &mut call, None, context).await?;
    if let (Some(rule), Some(json)) = (found.rule(), &admitted.arguments) {
        rule.check(json)?;
    }
    let action = match &admitted.arguments {
        Some(json) => A::decode(Arguments::new(json)).map_err(|error| decode_error::<A>(&error))?,
        None => action,
    };
    Ok((action, admitted.context.unwrap_or_else(|| context.clone())))
}

async fn execute<A: Action>(
    action: A,
    pool: &ToolPool,
    tool: &Tool,
    context: ToolContext,
) -> Result<A::Output, CallError> {
    let (limit, context) = guard::bounds(pool, tool, Cow::Owned(context));
    let MethodCall { context, instance, _running } = enter_method(pool, tool, context).await?;
    let instance = instance.as_deref();
    let mut interrupt = InterruptOnDrop { tool, instance, context: &context, is_complete: false };
    let work = pin!(action.run(&context));
    let call = guard::guarded(work, A::NAME, limit, &context);
    let outcome = if tool.is_intercepted() {
        guard::while_open(pool, instance, pin!(call)).await
    } else {
        call.await
    };
    interrupt.is_complete = outcome.is_ok();
    outcome
}

pub(super) fn unseen(name: &str, why: &str) -> CallError {
    CallError::new(
        ErrorClass::Denied,
        format!("`{name}` cannot be called by its type here: {why}; call it by name"),
    )
}

#[cold]
pub(super) fn decode_error<A: Action>(error: &DecodeError) -> CallError {
    InputModel::new(&A::definition(), &A::settings()).explain_typed(error)
}

pub(super) fn another(name: &str) -> CallError {
    CallError::new(
        ErrorClass::NotFound,
        format!(
            "the pool's tool `{name}` is not made from this action; call it by name, or add the action with `.tool::<..>()`"
        ),
    )
}
