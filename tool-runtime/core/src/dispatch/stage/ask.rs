//! People: once all hooks are through, the approver is asked each question of policies and hooks, about the final
//! arguments.

use super::decide::{check_asking, decide};
use super::decode::{decode_call, replace_call};
use super::question_log::QuestionLog;
use super::{because, denied, not_approved};
use crate::govern::approval::{Approval, ApprovalRequest, Approver};
use crate::govern::hook::{HookCall, catch_panic};
use crate::govern::{Answer, Question, Step};
use crate::pool::ToolPool;
use crate::tool::tool::DecodedCall;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::principal::Principal;
use crate::vocabulary::printable::one_line;
use crate::vocabulary::trace::STATE_SPANS;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument as _;
use tracing::field::Empty;

/// Limit on the characters of a person's reason.
const MAX_REASON: usize = 1_000;

/// Asks the questions that policies and hooks raised, one after the other. What is approved is what runs: arguments
/// that the approver changes are decoded and decided about again, and nobody is asked about them.
///
/// # Errors
/// A question was not answered with yes, nobody can be asked, or the changed arguments are invalid or denied.
pub(in crate::dispatch) async fn ask_people(
    pool: &ToolPool,
    step: &mut Step,
    decoded: &mut DecodedCall,
) -> Result<(), CallError> {
    let mut questions = mem::take(&mut step.hook_questions);
    questions.append(&mut step.policy_questions);
    if questions.is_empty() {
        return Ok(());
    }
    check_asking(step)?;
    let questions = Question::merged(questions);
    let (mut edit, mut is_asked) = (None, false);
    for (position, question) in questions.iter().enumerate() {
        if let Some(answer) = earlier_answer(step, question) {
            apply(step, decoded, &answer).await?;
            edit = Some(answer).filter(Approval::is_edit).or(edit);
            continue;
        }
        is_asked = true;
        let arguments = step.call.arguments().to_owned();
        let approval = put(step, pool.governance().approver(), question).await?;
        check_editor(&step.call, &questions[..position], &approval)?;
        apply(step, decoded, &approval).await.map_err(|error| with_question(error, question))?;
        // The last approval is recorded as the admission of the call.
        if let Approval::Approved { by, .. } = &approval
            && position + 1 < questions.len()
        {
            step.approve(question, by.as_deref());
        }
        edit = Some(approval.clone()).filter(Approval::is_edit).or(edit);
        step.answers.push(Answer { question: question.clone(), arguments, approval });
    }
    if is_asked {
        // Rules, modes and files of policies may have changed while a person was asked.
        decide(step)?;
    }
    check_new_questions(step, &questions, edit.as_ref())
}

/// The answer in an earlier round to the same question about the same arguments.
fn earlier_answer(step: &Step, question: &Question) -> Option<Approval> {
    let is_same = |earlier: &&Answer| {
        earlier.question == *question && earlier.arguments == step.call.arguments()
    };
    step.answers.iter().find(is_same).map(|earlier| earlier.approval.clone())
}

/// Puts a question to the approver. Returns the answer with its person.
async fn put(
    step: &mut Step,
    approver: Arc<dyn Approver>,
    question: &Question,
) -> Result<Approval, CallError> {
    let asked_at = step.ask(question);
    let left = question.expiry.map(|expiry| expiry.saturating_sub(asked_at.elapsed()));
    let call = step.call.clone();
    let request = request(&call, question, left).await;
    let name = || format!("approver of {}", call.name());
    let approve = move || -> BoxFuture<'static, _> {
        Box::pin(async move { request.answer_of(&*approver).await })
    };
    let span = tracing::debug_span!(
        target: STATE_SPANS,
        "approval",
        gen_ai.tool.name = call.name(),
        rule = question.rule,
        outcome = Empty,
    );
    let log = QuestionLog::new(call.name(), question.rule.as_deref());
    let asked = catch_panic(call.context().apart(name, approve));
    let asked = log.wait(asked.instrument(span.clone()));
    let answered = match call.context().stop() {
        Some(stop) => stop.run_until_cancelled(asked).await,
        None => Some(asked.await),
    };
    let Some(answered) = answered else {
        let reason = "the server stops, so the question was not answered; try again later";
        return Err(not_approved(call.name(), reason));
    };
    match answered {
        Ok(answer) => {
            let answer = identify(answer, question, call.context().principal());
            span.record("outcome", outcome(&answer));
            log.end(&answer);
            Ok(answer)
        }
        Err(panic) => Err(not_approved(call.name(), "the question could not be put to anyone")
            .with_detail(format!("the approver panicked: {panic}"))),
    }
}

/// The outcome of a question, for its span.
fn outcome(answer: &Approval) -> &'static str {
    match answer {
        Approval::Approved { .. } => "approved",
        Approval::Rejected { .. } => "rejected",
        Approval::Unasked { .. } => "unasked",
    }
}

async fn request(call: &HookCall, question: &Question, left: Option<Duration>) -> ApprovalRequest {
    let mut request = ApprovalRequest::new(call.name(), call.arguments(), &question.text)
        .with_context(call.context().clone())
        .with_judgement(call.risk(), call.summary())
        .with_approvers(question.approvers.clone())
        .with_step(call.view().repeatable_step());
    if let Some(rule) = &question.rule {
        request = request.with_rule(rule);
    }
    if let Some(left) = left {
        request = request.with_time_left(left);
    }
    request.for_people(call.definition(), own_text(call).await)
}

/// The text that shows the call to a person, if the tool has its own.
async fn own_text(call: &HookCall) -> Option<String> {
    let (own, name) = (call.clone(), || call.name().to_owned());
    let show = move || -> BoxFuture<'static, _> { Box::pin(async move { own.own_text() }) };
    call.context().apart(name, show).await
}

/// The answer with its person, or a rejection if it approves and the person may not.
fn identify(mut answer: Approval, question: &Question, caller: &Principal) -> Approval {
    let refusal = match &answer {
        Approval::Approved { by, is_caller, .. } => {
            question.approvers.refusal(caller.id(), by.as_deref(), *is_caller)
        }
        _ => None,
    };
    if let Approval::Approved { by, is_caller: true, .. }
    | Approval::Rejected { by, is_caller: true, .. } = &mut answer
    {
        let name = if caller.is_anonymous() { "the caller" } else { caller.id() };
        *by = Some(name.to_owned());
    }
    match (refusal, answer) {
        (Some(reason), Approval::Approved { by, is_caller, .. }) => {
            Approval::Rejected { reason, by, is_caller }
        }
        (_, answer) => answer,
    }
}

/// The error of a question that nobody was asked, which tells the operator what to do.
fn with_question(error: CallError, question: &Question) -> CallError {
    if error.class() != ErrorClass::Denied {
        return error;
    }
    let Question { text, approvers, .. } = question;
    error.with_detail(format!(
        "to be asked: {text} (who may answer: {approvers}); set an approver that reaches them by `.approver(..)`"
    ))
}

/// Does what the approver answered.
async fn apply(
    step: &mut Step,
    decoded: &mut DecodedCall,
    answer: &Approval,
) -> Result<(), CallError> {
    match answer {
        Approval::Approved { arguments, by, .. } => {
            step.approved_by = by.clone().or(step.approved_by.take());
            match arguments {
                Some(edited) => edit(step, decoded, edited).await,
                None => Ok(()),
            }
        }
        Approval::Rejected { reason, by, .. } => {
            step.rejected_by.clone_from(by);
            Err(not_approved(step.call.name(), &one_line(reason, MAX_REASON)))
        }
        Approval::Unasked { reason } => {
            let text = "it requires approval, and nobody can be asked".to_owned();
            Err(denied(step.call.name(), &because(text, reason)))
        }
    }
}

/// Arguments as the approver changed them. A model cannot correct these, either.
async fn edit(
    step: &mut Step,
    decoded: &mut DecodedCall,
    arguments: &str,
) -> Result<(), CallError> {
    let edited = step.call.rewritten(arguments);
    let (call, name) = (edited.clone(), || edited.name().to_owned());
    let valid = edited.context().apart(name, move || decode_call(call)).await.map_err(|error| {
        not_approved(edited.name(), "its arguments were changed and are not valid")
            .with_detail(error.to_string())
    })?;
    replace_call(step, decoded, edited, valid)
}

/// An edit needs an editor who may also answer the questions before, whose people approved other arguments.
fn check_editor(call: &HookCall, before: &[Question], answer: &Approval) -> Result<(), CallError> {
    let Approval::Approved { arguments: Some(_), by, is_caller, .. } = answer else {
        return Ok(());
    };
    let caller = call.context().principal().id();
    let may_edit = |question: &Question| {
        question.approvers.refusal(caller, by.as_deref(), *is_caller).is_none()
    };
    if before.iter().all(may_edit) {
        return Ok(());
    }
    let text =
        "its arguments were changed after other people had approved them; call it again with those";
    Err(not_approved(call.name(), text))
}

/// New questions are not asked. Those about edited arguments need an editor who may answer them, unless the people who
/// may were asked anyway.
fn check_new_questions(
    step: &Step,
    asked: &[Question],
    edit: Option<&Approval>,
) -> Result<(), CallError> {
    let caller = step.call.context().principal().id();
    let is_new = |new: &&Question| asked.iter().all(|old| old.approvers != new.approvers);
    let mut new = step.policy_questions.iter().filter(is_new);
    let refusal = new.find_map(|new| match edit {
        Some(Approval::Approved { by, is_caller, .. }) => {
            new.approvers.refusal(caller, by.as_deref(), *is_caller)
        }
        _ => Some("the rules changed while a person was asked; call it again".to_owned()),
    });
    refusal.map_or(Ok(()), |reason| Err(not_approved(step.call.name(), &reason)))
}
