//! Typed calls of a pool with policies, limiters or recorders: they pass the stages of a call by JSON, so that
//! the arguments that were judged are the arguments that run, and the function's own value is kept on the way.

use super::typed::{another, unseen};
use crate::access::Access;
use crate::action::Action;
use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::output::ObserveRef;
use crate::pool::ToolPool;
use crate::sync::lock;
use crate::tool::{Executor, Tool, settle};
use std::convert::identity;
use std::sync::{Arc, Mutex};

const NOT_SERIALIZE: &str =
    "policies or records look at the arguments, whose types are not all `Serialize`";
const NOT_CLONE: &str = "policies or records apply to its calls, and its return type is neither \
                         `Clone` nor `Serialize`, or its error cannot be printed";
const IS_STEP: &str = "it is a step of an execution, whose recorded result is not a typed value";

/// Calls an action. Hooks that read results are excluded: they could replace the value.
pub(super) async fn call<A: Action>(
    action: A,
    pool: &ToolPool,
    context: &ToolContext,
) -> Result<A::Output, CallError>
where
    A::Output: Send,
{
    let name = A::NAME;
    let json = action.to_json().ok_or_else(|| unseen(name, NOT_SERIALIZE))?;
    let observe = A::observe_ref().ok_or_else(|| unseen(name, NOT_CLONE))?;
    let replays = pool.governance().seams.as_ref().is_some_and(|seams| seams.replays_steps());
    if replays && context.execution().is_some() {
        return Err(unseen(name, IS_STEP));
    }
    let output = Kept::default();
    let found = match pool.find(name) {
        Ok(found) if !found.tool().is::<A>() => return Err(another(name)),
        Ok(found) if found.hooks().is_some_and(|hooks| hooks.reads_results()) => {
            return Err(unseen(name, "a hook looks at the results"));
        }
        Ok(found) => {
            let kept = Arc::clone(&output);
            let executor = KeepOutput::<A> { original: found.tool().clone(), observe, kept };
            let tool = found.tool().run_by(executor);
            Ok(found.with_tool(tool))
        }
        Err(refusal) => Err(refusal),
    };
    let outcome = pool.dispatch(found, name, &json, context, identity).await;
    let kept = lock(&output).take();
    match (outcome, kept) {
        (Ok(_), Some(Output { value, .. })) | (Err(_), Some(Output { value, is_error: true })) => {
            Ok(value)
        }
        (Err(error), _) => Err(error),
        (Ok(_), None) => Err(CallError::new(
            ErrorClass::Internal,
            format!("`{name}` was answered without being run; call it by name"),
        )),
    }
}

/// The value of the function, once it has run.
type Kept<T> = Arc<Mutex<Option<Output<T>>>>;

struct Output<T> {
    value: T,
    /// Whether the value is an error of the tool itself.
    is_error: bool,
}

/// Runs an action and keeps its output.
struct KeepOutput<A: Action> {
    original: Tool,
    observe: ObserveRef<A::Output>,
    kept: Kept<A::Output>,
}

impl<A: Action> Executor for KeepOutput<A>
where
    A::Output: Send,
{
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let action =
                A::decode(arguments).map_err(|error| super::typed::decode_error::<A>(&error))?;
            let value = action.run(context).await;
            let observed = (self.observe)(&value);
            let is_error = observed.is_err();
            *lock(&self.kept) = Some(Output { value, is_error });
            settle(observed, self.original.output_shape())
        })
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        self.original.decode(arguments.as_str()).map(|decoded| decoded.access)
    }

    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        Some(self.original.visualize(arguments.as_str()))
    }
}
