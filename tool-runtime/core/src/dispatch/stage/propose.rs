//! The call is proposed: recorded as it arrived, with what the model says about it besides its arguments.

use super::resolve::Resolved;
use crate::govern::OpenStep;
use crate::govern::hook::HookCall;
use crate::pool::ToolPool;
use crate::tool::context::ToolContext;
use crate::vocabulary::error::CallError;
use std::sync::Arc;

/// Opens the step of a call, or continues that of an earlier round. Returns the error of a call that is rejected at
/// once: a restriction hides its tool, or a meta parameter is invalid.
pub(in crate::dispatch) fn propose(
    pool: &ToolPool,
    resolved: Resolved,
    arguments: &str,
    context: &ToolContext,
) -> (OpenStep, Option<CallError>) {
    let Resolved { found, mut repairs, mut rejection } = resolved;
    let meta = match found.is_offering() {
        false => pool.governance().extract_meta(Some(found.tool()), arguments),
        true => None,
    };
    let call = match meta {
        None => HookCall::new(found, arguments, context.clone()),
        Some(mut meta) => {
            repairs.append(&mut meta.repairs);
            rejection = rejection.or(meta.error.take());
            HookCall::new(found, &meta.rest, context.clone()).with_meta(meta)
        }
    };
    let (call, governors) = (call.repaired(repairs), Arc::clone(&pool.governance().governors));
    let step = match rejection {
        None => OpenStep::enter(governors, call),
        Some(_) => OpenStep::enter_rejected(governors, call),
    };
    (step, rejection)
}
