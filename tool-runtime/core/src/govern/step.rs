//! What is known of one governed call, and its record.

use super::governors::Governors;
use super::limiter::Reservation;
use super::policy::{Decision, Effect};
use super::question::Question;
use super::recorder::{CallEvent, CallStage, Receipt, ReceiptState, RecordError, Recorder};
use crate::govern::approval::Approval;
use crate::govern::hook::HookCall;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::{CallError, ErrorClass, caught};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::printable::one_line;
use crate::vocabulary::trace::DECISIONS;
use futures_util::future::{Either, join_all, select};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Limit on the characters of a reason in a line of the log.
pub(crate) const MAX_LOGGED_REASON: usize = 200;

/// The longest time that a result waits for the record of the call.
const MAX_RECORD_WAIT: Duration = Duration::from_secs(30);

/// What is known of one governed call, through all rounds of its request.
///
/// A step that is dropped before [`Self::finish`] is recorded as cancelled, and its reservation refunded.
pub(crate) struct Step {
    pub(crate) governors: Arc<Governors>,
    /// The call as it is now.
    pub(crate) call: HookCall,
    /// The call with the arguments that it had at the beginning.
    proposed: HookCall,
    /// The decision of the policies about the present arguments.
    pub(crate) decision: Decision,
    /// The questions of the policies about the present arguments.
    pub(crate) policy_questions: Vec<Question>,
    /// Those questions, also once they are answered; only of a tool that checks files.
    pub(crate) policies_asked: Vec<Question>,
    /// The questions of the hooks.
    pub(crate) hook_questions: Vec<Question>,
    /// The answers of people.
    pub(crate) answers: Vec<Answer>,
    /// The questions that are recorded, and when they were asked first.
    asked: Vec<(Question, Instant)>,
    /// The person who approved the call last.
    pub(crate) approved_by: Option<String>,
    /// The person who rejected the call.
    pub(crate) rejected_by: Option<String>,
    /// What was recorded when the call was admitted.
    admitted: Option<Admission>,
    reservation: Option<Reservation>,
    /// Receipts that were not awaited yet.
    receipts: Vec<BoxFuture<'static, Result<(), RecordError>>>,
    /// Why an event before the start was not recorded.
    record_error: Option<RecordError>,
    /// The time when the tool began to run first.
    first_started: Option<Instant>,
    /// The time when the tool began to run in this round.
    running_since: Option<Instant>,
    is_replayed: bool,
    is_finished: bool,
}

/// The answer of a person.
pub(crate) struct Answer {
    pub(crate) question: Question,
    /// The arguments that the question was about.
    pub(crate) arguments: String,
    pub(crate) approval: Approval,
}

/// A call that may run.
struct Admission {
    call: HookCall,
    rule: Option<Arc<str>>,
    /// The person who approved it last.
    by: Option<String>,
}

impl Admission {
    fn is_same(&self, other: &Self) -> bool {
        let is_same_call = self.call.arguments() == other.call.arguments();
        is_same_call && self.rule == other.rule && self.by == other.by
    }
}

impl Step {
    /// Records a call that arrived.
    pub(crate) fn propose(governors: Arc<Governors>, call: HookCall) -> Self {
        let mut step = Self {
            governors,
            proposed: call.clone(),
            call,
            decision: Decision::allow(),
            policy_questions: Vec::new(),
            policies_asked: Vec::new(),
            hook_questions: Vec::new(),
            answers: Vec::new(),
            asked: Vec::new(),
            approved_by: None,
            rejected_by: None,
            admitted: None,
            reservation: None,
            receipts: Vec::new(),
            record_error: None,
            first_started: None,
            running_since: None,
            is_replayed: false,
            is_finished: false,
        };
        step.record(CallStage::Proposed);
        step
    }

    /// Whether a call of a later round is this one.
    pub(super) fn is_continued_by(&self, call: &HookCall) -> bool {
        let is_same = self.call.name() == call.name();
        is_same && self.proposed.arguments() == call.arguments()
    }

    /// Continues with the call of a later round, which gets the identity of this one.
    pub(super) fn resume(&mut self, mut call: HookCall) {
        call.continue_from(&self.call);
        self.call = call;
        self.hook_questions.clear();
        (self.approved_by, self.rejected_by) = (None, None);
        self.running_since = None;
    }

    /// The context of the tool, with the step of the call: calls that it makes have this one as their parent, if calls
    /// are recorded.
    pub(crate) fn inner_context(&self) -> ToolContext {
        let context = self.call.context().clone();
        let context = match self.governors.is_empty() {
            true => context,
            false => context.within_call(self.call.view().number().0),
        };
        match self.call.step() {
            Some(step) => context.within_step(Arc::clone(step)),
            None => context,
        }
    }

    /// Whether policies, hooks, people or limits look at the call.
    pub(crate) fn is_judged(&self) -> bool {
        self.call.pooled_tool().hooks().is_some() || !self.governors.is_empty()
    }

    /// Whether the tool was started, in this round or an earlier one.
    pub(crate) fn has_started(&self) -> bool {
        self.first_started.is_some()
    }

    /// The time that the tool has run in this round. `None` for a call whose tool was not started.
    pub(crate) fn duration(&self) -> Option<Duration> {
        self.running_since.map(|since| since.elapsed())
    }

    /// Whether the outcome is that of an earlier attempt, which is final.
    pub(crate) fn is_replayed(&self) -> bool {
        self.is_replayed
    }

    pub(crate) fn set_replayed(&mut self) {
        self.is_replayed = true;
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether the call has ended and may have had an effect that must not happen twice.
    pub(crate) fn had_effect(&self) -> bool {
        let is_once = self.call.view().retry_mode() == RetryMode::AtMostOnce;
        self.is_finished && self.has_started() && is_once
    }

    /// Logs the decision of the policies about the call as it was proposed.
    pub(crate) fn log_decision(&self) {
        if self.governors.policies.is_empty() {
            return;
        }
        tracing::debug!(
            target: DECISIONS,
            tool = self.call.name(),
            effect = self.decision.effect().as_str(),
            rule = self.decision.rule(),
            "a policy decided about a call"
        );
    }

    /// Records that a person is asked, once. Returns the time of that.
    pub(crate) fn ask(&mut self, question: &Question) -> Instant {
        if let Some((_, at)) = self.asked.iter().find(|(asked, _)| asked == question) {
            return *at;
        }
        let now = Instant::now();
        self.asked.push((question.clone(), now));
        self.record_decision(&Decision::from(question), None);
        now
    }

    /// Records an approval after which more questions are asked.
    pub(crate) fn approve(&mut self, question: &Question, by: Option<&str>) {
        let rule = question.rule.iter();
        let decision = rule.fold(Decision::allow(), |it, rule| it.with_rule(&**rule));
        self.record_decision(&decision, by);
    }

    /// Records that the call is rejected.
    pub(crate) fn reject(&mut self, error: &CallError) {
        let decision = match self.decision.effect() {
            Effect::Deny => {
                let (tool, rule) = (self.call.name(), self.decision.rule());
                let reason = one_line(error.message(), MAX_LOGGED_REASON);
                tracing::info!(tool, rule, reason, "a call was denied");
                self.decision.clone()
            }
            _ => Decision::deny(error.message()),
        };
        let by = self.rejected_by.take();
        self.record_decision(&decision, by.as_deref());
    }

    /// Reserves the call by `reserve` in its first round, and records that it may run.
    ///
    /// # Errors
    /// Those of `reserve`.
    pub(crate) fn admit(
        &mut self,
        reserve: impl FnOnce(&Self) -> Result<Option<Reservation>, CallError>,
    ) -> Result<(), CallError> {
        let (decision, by) = (self.allowance(), self.approved_by.clone());
        let admission =
            Admission { call: self.call.clone(), rule: decision.shared_rule(), by: by.clone() };
        match &self.admitted {
            Some(earlier) if earlier.is_same(&admission) => return Ok(()),
            Some(_) => {}
            None => self.reservation = reserve(self)?,
        }
        self.record_decision(&decision, by.as_deref());
        self.admitted = Some(admission);
        Ok(())
    }

    /// The allowance by the rule whose question was answered last, or by that which decided.
    fn allowance(&self) -> Decision {
        let rule = self.answers.last().and_then(|answer| answer.question.rule.as_deref());
        match rule {
            Some(rule) if self.decision.effect() == Effect::Ask => {
                Decision::allow().with_rule(rule)
            }
            _ => self.decision.allowed(),
        }
    }

    /// Records that the tool starts, and waits until everything up to now is recorded.
    ///
    /// # Errors
    /// It cannot be recorded, and the call may run only once.
    pub(crate) async fn start(&mut self) -> Result<(), CallError> {
        if !self.has_started() {
            let mode = self.call.view().retry_mode();
            self.record(CallStage::Started { mode });
        }
        if let Err(error) = self.recorded().await {
            self.check_unrecorded(&error)?;
        }
        if !self.has_started() {
            if let Some(reservation) = self.reservation.take() {
                reservation.commit();
            }
            if let Some(execution) = self.call.context().execution() {
                execution.count_step();
            }
        }
        let now = Instant::now();
        self.first_started.get_or_insert(now);
        self.running_since = Some(now);
        Ok(())
    }

    /// A call continues without a record only if it may be repeated and the recorder allows it.
    ///
    /// # Errors
    /// It may run only once, or the recorder rejects all calls.
    pub(crate) fn check_unrecorded(&self, error: &RecordError) -> Result<(), CallError> {
        let tool = self.call.name();
        let mode = self.call.view().retry_mode();
        if mode == RetryMode::SafeToRetry && !error.rejects_all_calls() {
            tracing::warn!(tool, "a call runs although it was not recorded: {error}");
            return Ok(());
        }
        let text = format!(
            "`{tool}` was not run, because the call could not be recorded; try again later"
        );
        Err(CallError::new(ErrorClass::Transient, text).with_detail(error.to_string()))
    }

    /// Records that the call waits for an answer of its caller, which a later request brings.
    pub(crate) fn suspend(&mut self) {
        self.record(CallStage::Suspended);
    }

    /// Refunds what was reserved and did not run. Records the outcome, and waits until it is recorded.
    pub(crate) async fn finish(
        &mut self,
        outcome: &Result<Observation, CallError>,
        duration: Option<Duration>,
    ) {
        self.reservation = None;
        self.is_finished = true;
        let (outcome, is_replayed) = (outcome.as_ref(), self.is_replayed);
        self.record(CallStage::Finished { outcome, duration, is_replayed });
        self.call.context().end_turn();
        let tool = self.call.tool().clone();
        wait_for_record(tool.name(), self.recorded()).await;
    }

    /// Records the decision. `by` is the person who approved or rejected.
    fn record_decision(&mut self, decision: &Decision, by: Option<&str>) {
        self.record(CallStage::Decided { decision, by });
    }

    fn record(&mut self, stage: CallStage<'_>) {
        let event = CallEvent { call: self.call.view(), stage };
        for recorder in &self.governors.recorders {
            match record(&**recorder, event).0 {
                ReceiptState::Done(Ok(())) => {}
                ReceiptState::Done(Err(error)) => {
                    self.record_error = Some(stricter(self.record_error.take(), error));
                }
                ReceiptState::Pending(receipt) => self.receipts.push(receipt),
            }
        }
    }

    /// Waits for all receipts up to now.
    async fn recorded(&mut self) -> Result<(), RecordError> {
        let receipts = join_all(std::mem::take(&mut self.receipts)).await;
        let errors = receipts.into_iter().filter_map(Result::err);
        let error = errors.fold(self.record_error.take(), |all, error| Some(stricter(all, error)));
        error.map_or(Ok(()), Err)
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.is_finished {
            // Recorders of the end see the limits after the refund.
            self.reservation = None;
            let name = self.call.name();
            let text = match self.call.context().is_stopping() {
                true => format!("the server stopped before the call to `{name}` ended"),
                false => format!("the caller went away before the call to `{name}` ended"),
            };
            let error = CallError::new(ErrorClass::Cancelled, text);
            let since = self.running_since.or(self.first_started);
            let (outcome, duration) = (Err(&error), since.map(|since| since.elapsed()));
            self.record(CallStage::Finished { outcome, duration, is_replayed: false });
        }
    }
}

/// Passes an event to a recorder. One that panics counts as one that did not record it.
pub(super) fn record(recorder: &dyn Recorder, event: CallEvent<'_>) -> Receipt {
    let receipt =
        |panic| Receipt::refused(RecordError::new(format!("the recorder panicked: {panic}")));
    caught(|| recorder.record(event)).unwrap_or_else(receipt)
}

/// The error that rejects more calls.
fn stricter(one: Option<RecordError>, other: RecordError) -> RecordError {
    match one {
        Some(one) if one.rejects_all_calls() || !other.rejects_all_calls() => one,
        _ => other,
    }
}

/// Waits for the last record of a call, whose outcome stands in any case.
pub(super) async fn wait_for_record(
    tool: &str,
    recorded: impl Future<Output = Result<(), RecordError>>,
) {
    // The timer is created when the record is first pending.
    let expiry = async { Box::pin(tokio::time::sleep(MAX_RECORD_WAIT)).await };
    match select(pin!(recorded), pin!(expiry)).await {
        Either::Left((Ok(()), _)) => {}
        Either::Left((Err(error), _)) => {
            tracing::error!(tool, "the end of a call was not recorded: {error}");
        }
        Either::Right(((), _)) => {
            tracing::error!(tool, "the end of a call was not recorded in {MAX_RECORD_WAIT:?}");
        }
    }
}
