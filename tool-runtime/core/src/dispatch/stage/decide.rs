//! Policies: whether the call may run with its present arguments, and whom to ask.

use super::{denied, unchecked};
use crate::govern::{Decision, Effect, Question, Step};
use crate::vocabulary::error::{CallError, ErrorClass, caught};

/// Asks the policies about the present arguments, and keeps their decision and their questions.
///
/// # Errors
/// A policy denies the call, or hides its tool from the caller.
pub(in crate::dispatch) fn decide(step: &mut Step) -> Result<(), CallError> {
    check_visible(step)?;
    let (name, view) = (step.call.name(), step.call.view());
    let (mut questions, mut combined) = (Vec::new(), None::<Decision>);
    for policy in &step.governors.policies {
        let decision = caught(|| policy.decide(&view))
            .map_err(|panic| unchecked(name, format!("a policy panicked: {panic}")))?;
        if decision.effect() == Effect::Ask {
            questions.push(Question::from(&decision));
        }
        combined = Some(match combined {
            Some(stricter) => stricter.and(decision),
            None => decision,
        });
    }
    step.decision = combined.unwrap_or_else(Decision::allow);
    if step.decision.effect() == Effect::Ask && step.decision.forbids_asking() {
        let rule = step.decision.rule().unwrap_or_default();
        step.decision = asking_forbidden().with_rule(rule);
    }
    if step.decision.effect() == Effect::Deny {
        return Err(denied(step.call.name(), step.decision.reason()));
    }
    if step.call.tool().has_file_checks() {
        step.policies_asked.clone_from(&questions);
    }
    step.policy_questions = questions;
    Ok(())
}

/// Checks that a person may be asked, as a hook wants.
///
/// # Errors
/// A policy forbids questions.
pub(super) fn check_asking(step: &mut Step) -> Result<(), CallError> {
    if !step.decision.forbids_asking() {
        return Ok(());
    }
    step.decision = asking_forbidden();
    Err(denied(step.call.name(), step.decision.reason()))
}

fn asking_forbidden() -> Decision {
    Decision::deny("it requires approval, and nobody is asked now; do without it")
}

fn check_visible(step: &Step) -> Result<(), CallError> {
    let (call, principal) = (&step.call, step.call.context().principal());
    if step.governors.sees(call.definition(), principal) {
        return Ok(());
    }
    let text = format!("`{}` is not available to this caller", call.name());
    Err(CallError::new(ErrorClass::Denied, text)
        .with_detail(format!("a policy hides it from the principal `{}`", principal.id())))
}
