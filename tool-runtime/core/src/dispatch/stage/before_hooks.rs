//! Before-hooks: each may deny the call, rewrite its arguments, provide values for it, or ask a person.

use super::decode::{decode_call, replace_call};
use super::{denied, unchecked};
use crate::govern::Step;
use crate::govern::hook::{Before, Failure, Hook, HookDecision, Provided};
use crate::tool::tool::DecodedCall;
use crate::vocabulary::error::CallError;
use std::sync::Arc;

/// Runs the hooks in the order of registration. Each sees the changes of those before it. Rewritten arguments are
/// decoded, and the policies decide again. A rejected call keeps the changes made until then.
///
/// # Errors
/// A hook denies the call or fails closed, or a policy denies the rewritten call.
pub(in crate::dispatch) async fn run_before_hooks(
    step: &mut Step,
    decoded: &mut DecodedCall,
) -> Result<(), CallError> {
    let Some(hooks) = step.call.pooled_tool().hooks().cloned() else { return Ok(()) };
    for hook in &hooks.before {
        match hook.run_before(&step.call).await {
            Ok(before) => apply(step, hook, before, decoded).await?,
            Err(failure) => tolerate(step, hook, &failure)?,
        }
    }
    Ok(())
}

async fn apply(
    step: &mut Step,
    hook: &Arc<Hook>,
    before: Before,
    decoded: &mut DecodedCall,
) -> Result<(), CallError> {
    match before.decision {
        HookDecision::Proceed => {}
        HookDecision::Deny(reason) => return Err(denied(step.call.name(), &reason)),
        HookDecision::Ask(question) => step.hook_questions.push(*question),
    }
    if let Some(arguments) = before.arguments {
        rewrite(step, hook, &arguments, decoded).await?;
    }
    for Provided { id, value } in before.provided {
        step.call.context_mut().insert_erased(id, value);
    }
    Ok(())
}

/// Invalid arguments are the hook's mistake, which a model cannot correct. If it fails open, only its arguments are
/// ignored, not its question.
async fn rewrite(
    step: &mut Step,
    hook: &Arc<Hook>,
    arguments: &str,
    decoded: &mut DecodedCall,
) -> Result<(), CallError> {
    let rewritten = step.call.rewritten(arguments);
    let call = rewritten.clone();
    let decoding = hook.within_limit(rewritten.context(), move |_| {
        Box::pin(async move { Ok(decode_call(call).await) })
    });
    match decoding.await {
        Ok(Ok(valid)) => replace_call(step, decoded, rewritten, valid),
        Ok(Err(error)) => tolerate(step, hook, &Failure::Invalid(error.to_string())),
        Err(failure) => tolerate(step, hook, &failure),
    }
}

fn tolerate(step: &Step, hook: &Hook, failure: &Failure) -> Result<(), CallError> {
    let tolerated = hook.tolerate(failure, &step.call);
    tolerated.map_err(|detail| unchecked(step.call.name(), detail))
}
