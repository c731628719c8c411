//! The tool runs: recorded first, within its limits, counted on the value whose method it is.

use crate::dispatch::ending::Outcome;
use crate::dispatch::{closed_pool, execution, guard};
use crate::govern::{FilePolicies, Step};
use crate::pool::ToolPool;
use crate::tool::context::ToolContext;
use crate::tool::tool::{DecodedAction, Tool};
use crate::tool::toolset::{Instance, Values};
use crate::vocabulary::error::CallError;
use std::any::Any;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

/// Runs the tool. One whose call ends early (time limit, cancellation, dropped future) is notified.
///
/// # Errors
/// The error of the tool; the call cannot be recorded; it ran out of time, was cancelled, or the pool was closed.
pub(in crate::dispatch) async fn execute(
    pool: &ToolPool,
    step: &mut Step,
    action: Option<DecodedAction>,
    context: ToolContext,
) -> Outcome {
    let call = step.call.clone();
    let tool = call.tool();
    let own = step.decision.time_limit();
    let context = match tool.has_file_checks().then(|| FilePolicies::of_step(step)).flatten() {
        Some(rules) => context.with_file_rules(Arc::new(rules)),
        None => context,
    };
    let (limit, context) = guard::bounds_within(own, pool, tool, Cow::Owned(context));
    let MethodCall { context, instance, _running } =
        enter_method(pool, tool, context.into_owned()).await?;
    let instance = instance.as_deref();
    record_start(pool, step, instance, &context).await?;
    let mut interrupt = InterruptOnDrop { tool, instance, context: &context, is_complete: false };
    // Dropped before the tool is interrupted.
    let ended = {
        // The arguments are decoded within the limit.
        let work = pin!(async { execution::of_tool(tool, action, call.written(), &context).await });
        let work = pin!(guard::guarded(work, tool.name(), limit, &context));
        guard::while_open(pool, instance, work).await
    };
    interrupt.is_complete = ended.is_ok();
    ended?
}

/// Records that the tool starts. A call that cannot be recorded does not run.
async fn record_start(
    pool: &ToolPool,
    step: &mut Step,
    instance: Option<&Instance>,
    context: &ToolContext,
) -> Result<(), CallError> {
    let tool = step.call.tool().clone();
    guard::check_open(pool, instance)?;
    guard::check_time(tool.name(), context)?;
    let recorded = pin!(step.start());
    let recorded = pin!(guard::waiting(recorded, tool.name(), context));
    guard::while_open(pool, instance, recorded).await
}

/// A call of a method that is about to run. Of other tools, it has only the context.
struct MethodCall {
    context: ToolContext,
    /// The value whose method runs.
    instance: Option<Arc<Instance>>,
    /// Counts the call on the value.
    _running: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of a method, and the guard that counts its call. The value of a session is created first if needed.
///
/// # Errors
/// The value cannot be created, or was closed while the call waited.
async fn enter_method(
    pool: &ToolPool,
    tool: &Tool,
    context: ToolContext,
) -> Result<MethodCall, CallError> {
    let instance = match tool.values() {
        None => return Ok(MethodCall { context, instance: None, _running: None }),
        Some(Values::One(instance)) => Arc::clone(instance),
        Some(values) => {
            let made = Box::pin(values.for_context(&context));
            let made = pin!(guard::waiting(made, tool.name(), &context));
            guard::while_open(pool, None, made).await?
        }
    };
    let (context, running) = instance.enter(context).ok_or_else(closed_pool)?;
    let (context, running) = context.with_guard(running);
    Ok(MethodCall { context, instance: Some(instance), _running: Some(running) })
}

/// Interrupts the tool when its call ends early: timed out, cancelled, or dropped.
struct InterruptOnDrop<'a> {
    tool: &'a Tool,
    instance: Option<&'a Instance>,
    context: &'a ToolContext,
    is_complete: bool,
}

impl Drop for InterruptOnDrop<'_> {
    fn drop(&mut self) {
        // A call that panics has ended.
        if !self.is_complete && !std::thread::panicking() {
            self.tool.interrupt(self.context);
            if let Some(instance) = self.instance {
                instance.interrupt(self.context);
            }
        }
    }
}
