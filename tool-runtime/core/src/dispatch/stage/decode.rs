//! Decodes the arguments: in one pass, with all their issues, after repairs if the pool repairs.

use super::{check_rule, decide};
use crate::dispatch::guard;
use crate::govern::Step;
use crate::govern::hook::HookCall;
use crate::pool::ToolPool;
use crate::tool::arguments::repair::{other_names, repair_arguments};
use crate::tool::tool::DecodedCall;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;
use std::pin::pin;

/// Decodes the arguments, or their repaired form if only that is valid. A tool that nothing looks at before it runs
/// decodes them then.
///
/// # Errors
/// The arguments are not valid.
pub(in crate::dispatch) async fn decode(
    pool: &ToolPool,
    step: &mut Step,
) -> Result<DecodedCall, CallError> {
    let (tool, is_offering) = (step.call.tool(), step.call.pooled_tool().is_offering());
    let repairs = pool.governance().repairs && !is_offering;
    if !tool.declares_access() && !step.is_judged() && !repairs {
        return Ok(DecodedCall::default());
    }
    let decoded = decode_arguments(pool, &step.call).await;
    let decoded = match repairs {
        false => decoded,
        true => repair(pool, step, decoded).await,
    }?;
    step.call.set_access(&decoded.access);
    Ok(decoded)
}

async fn repair(
    pool: &ToolPool,
    step: &mut Step,
    decoded: Result<DecodedCall, CallError>,
) -> Result<DecodedCall, CallError> {
    let call = &step.call;
    let repaired = repair_arguments(call.tool(), call.written(), decoded.is_err());
    let Some((arguments, mut repairs)) = repaired else {
        if decoded.is_ok() {
            let names = other_names(call.tool(), call.written());
            step.call = call.clone().repaired(names);
        }
        return decoded;
    };
    let call = call.rewritten(&arguments);
    let Ok(repaired) = decode_arguments(pool, &call).await else { return decoded };
    repairs.extend(other_names(call.tool(), &arguments));
    step.call = call.repaired(repairs);
    Ok(repaired)
}

/// Decodes the arguments of a call: where user code runs in separate tasks, in one, within the tool's time limit.
async fn decode_arguments(pool: &ToolPool, call: &HookCall) -> Result<DecodedCall, CallError> {
    let (tool, context) = (call.tool(), call.context());
    if !context.runs_apart() {
        return tool.decode(call.written());
    }
    let own = call.clone();
    let decoded = context.apart(|| tool.name().to_owned(), move || decode_call(own));
    let limit = guard::limit(pool, tool, context);
    let decoded = pin!(guard::guarded(decoded, tool.name(), limit, context));
    guard::while_open(pool, None, decoded).await?
}

/// Decodes the arguments of a call, wherever the future runs.
pub(super) fn decode_call(call: HookCall) -> BoxFuture<'static, Result<DecodedCall, CallError>> {
    Box::pin(async move { call.tool().decode(call.written()) })
}

/// Continues with other arguments, which were decoded: restrictions and policies look at them.
///
/// # Errors
/// A restriction or a policy denies them.
pub(super) fn replace_call(
    step: &mut Step,
    decoded: &mut DecodedCall,
    call: HookCall,
    arguments: DecodedCall,
) -> Result<(), CallError> {
    step.call = call;
    step.call.set_access(&arguments.access);
    *decoded = arguments;
    check_rule(&step.call)?;
    decide(step)
}
