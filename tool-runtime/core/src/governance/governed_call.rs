//! One call under the policies, limiters and recorders of its pool.

use super::call_view::CallView;
use super::limiter::Reservation;
use super::policy::{Decision, Effect};
use super::question::Question;
use super::recorder::{CallEvent, CallStage, Receipt, ReceiptState, RecordError, Recorder};
use super::seams::{GovernCalls as _, GovernedCall, Recording, Replayed, Seams};
use super::steps::Begin;
use crate::annotations::RetryMode;
use crate::approval::Approval;
use crate::error::{CallError, ErrorClass, caught};
use crate::future::BoxFuture;
use crate::hook::{self, HookCall};
use crate::observation::Observation;
use futures_util::future::{Either, join_all, select};
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The longest time that an answer waits for the record of the call.
const MAX_RECORD_WAIT: Duration = Duration::from_secs(30);

/// A call between its proposal and its end.
pub(super) struct RunningCall {
    seams: Arc<Seams>,
    /// The call as it was seen last, for the record of a call that is dropped.
    call: HookCall,
    /// The call with the arguments that it had at the beginning.
    proposed: HookCall,
    decision: Decision,
    /// The approvals, with the questions and the arguments that these were about.
    approvals: Vec<((Question, String), Approval)>,
    /// The questions that are recorded, and when they were asked first.
    asked: Vec<(Question, Instant)>,
    /// What was recorded when the call was admitted.
    admitted: Option<Admission>,
    reservation: Option<Reservation>,
    /// Receipts that were not awaited yet.
    receipts: Vec<BoxFuture<'static, Result<(), RecordError>>>,
    /// Why an event before the start was not recorded.
    record_error: Option<RecordError>,
    started: Option<Instant>,
    is_replayed: bool,
    is_finished: bool,
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

impl RunningCall {
    pub(super) fn new(seams: Arc<Seams>, call: &HookCall) -> Self {
        let mut running = Self {
            seams,
            call: call.clone(),
            proposed: call.clone(),
            decision: Decision::allow(),
            approvals: Vec::new(),
            asked: Vec::new(),
            admitted: None,
            reservation: None,
            receipts: Vec::new(),
            record_error: None,
            started: None,
            is_replayed: false,
            is_finished: false,
        };
        running.record(call, CallStage::Proposed);
        running
    }

    fn record(&mut self, call: &HookCall, stage: CallStage<'_>) {
        self.call = call.clone();
        let event = CallEvent { call: call.view(), stage };
        for recorder in &self.seams.recorders {
            match record(&**recorder, event).0 {
                ReceiptState::Done(Ok(())) => {}
                ReceiptState::Done(Err(error)) => {
                    self.record_error = Some(stricter(self.record_error.take(), error));
                }
                ReceiptState::Pending(receipt) => self.receipts.push(receipt),
            }
        }
    }

    /// Records the decision. `by` is the person who approved or rejected.
    fn record_decision(&mut self, call: &HookCall, decision: &Decision, by: Option<&str>) {
        self.record(call, CallStage::Decided { decision, by });
    }

    /// Whether everything up to now is recorded.
    fn is_recorded(&self) -> bool {
        self.receipts.is_empty() && self.record_error.is_none()
    }

    /// Waits for all receipts up to now.
    async fn recorded(&mut self) -> Result<(), RecordError> {
        let receipts = join_all(std::mem::take(&mut self.receipts)).await;
        let errors = receipts.into_iter().filter_map(Result::err);
        let error = errors.fold(self.record_error.take(), |all, error| Some(stricter(all, error)));
        error.map_or(Ok(()), Err)
    }

    /// The record of the start is written. Later rounds of a call have none.
    fn started(&mut self, call: &HookCall) {
        if self.started.is_some() {
            return;
        }
        if let Some(reservation) = self.reservation.take() {
            reservation.commit();
        }
        if let Some(execution) = call.context().execution() {
            execution.count_step();
        }
        self.started = Some(Instant::now());
    }

    /// A call continues without a record only if it may be repeated and the recorder allows it.
    fn unrecorded(call: &HookCall, error: &RecordError) -> Result<(), CallError> {
        let tool = call.name();
        if call.view().retry_mode() == RetryMode::SafeToRetry && !error.rejects_all_calls() {
            tracing::warn!(tool, "a call runs although it was not recorded: {error}");
            return Ok(());
        }
        let text = format!(
            "`{tool}` was not run, because the call could not be recorded; try again later"
        );
        Err(CallError::new(ErrorClass::Transient, text).with_detail(error.to_string()))
    }

    /// The allowance by the rule whose question was answered last, or by that which decided.
    fn allowed(&self) -> Decision {
        let rule = self.approvals.last().and_then(|((question, _), _)| question.rule.as_deref());
        match rule {
            Some(rule) if self.decision.effect() == Effect::Ask => {
                Decision::allow().with_rule(rule)
            }
            _ => self.decision.allowed(),
        }
    }

    fn check_visible(&self, call: &HookCall) -> Result<(), CallError> {
        let (tool, principal) = (call.definition(), call.context().principal());
        if self.seams.sees(tool, principal) {
            return Ok(());
        }
        let text = format!("`{}` is not available to this caller", call.name());
        Err(CallError::new(ErrorClass::Denied, text)
            .with_detail(format!("a policy hides it from the principal `{}`", principal.id())))
    }
}

impl GovernedCall for RunningCall {
    fn continues(&self, call: &mut HookCall) -> bool {
        let is_same = !self.is_finished
            && self.call.name() == call.name()
            && self.proposed.arguments() == call.arguments();
        if is_same {
            call.continue_from(&self.call);
        }
        is_same
    }

    fn decide(&mut self, call: &HookCall) -> Result<Vec<Question>, CallError> {
        self.call = call.clone();
        self.check_visible(call)?;
        let (view, mut questions, mut combined) = (call.view(), Vec::new(), None::<Decision>);
        for policy in &self.seams.policies {
            let decision = caught(|| policy.decide(&view)).map_err(|panic| {
                hook::unchecked(call.name(), format!("a policy panicked: {panic}"))
            })?;
            if decision.effect() == Effect::Ask {
                questions.push(Question::from(&decision));
            }
            combined = Some(match combined {
                Some(stricter) => stricter.and(decision),
                None => decision,
            });
        }
        self.decision = combined.unwrap_or_else(Decision::allow);
        if self.decision.effect() == Effect::Ask && self.decision.forbids_asking() {
            self.decision = asking_forbidden().with_rule(self.decision.rule().unwrap_or_default());
        }
        match self.decision.effect() {
            Effect::Deny => Err(hook::denied(call.name(), self.decision.reason())),
            Effect::Allow | Effect::Ask => Ok(questions),
        }
    }

    fn may_replay(&self, call: &HookCall) -> bool {
        self.seams.steps.is_some() && call.view().step().is_some() && self.started.is_none()
    }

    fn replay<'a>(
        &'a mut self,
        call: &'a HookCall,
    ) -> BoxFuture<'a, Result<Option<Replayed>, CallError>> {
        Box::pin(async move {
            let (Some(steps), Some(step)) = (self.seams.steps.clone(), call.view().step()) else {
                return Ok(None);
            };
            match steps.begin(step, call.view().retry_mode()).await {
                Ok(Begin::Run) => Ok(None),
                Ok(Begin::Replay(outcome)) => {
                    self.is_replayed = true;
                    Ok(Some(outcome))
                }
                Ok(Begin::Indeterminate) => Err(indeterminate(call.name())),
                Err(error) => Self::unrecorded(call, &error).map(|()| None),
            }
        })
    }

    fn earlier_approval(&self, call: &HookCall, question: &Question) -> Option<Approval> {
        let is_same =
            |asked: &(Question, String)| asked.0 == *question && asked.1 == call.arguments();
        self.approvals.iter().find(|(asked, _)| is_same(asked)).map(|(_, answer)| answer.clone())
    }

    fn approved(
        &mut self,
        call: &HookCall,
        asked: (Question, String),
        answer: Approval,
        is_last: bool,
    ) {
        if !is_last && let Approval::Approved { by, .. } = &answer {
            let decision = Decision::allow();
            let decision = asked.0.rule.iter().fold(decision, |it, rule| it.with_rule(&**rule));
            self.record_decision(call, &decision, by.as_deref());
        }
        self.approvals.push((asked, answer));
    }

    fn asked(&mut self, call: &HookCall, question: &Question) -> Instant {
        if let Some((_, at)) = self.asked.iter().find(|(asked, _)| asked == question) {
            return *at;
        }
        let now = Instant::now();
        self.asked.push((question.clone(), now));
        self.record_decision(call, &Decision::from(question), None);
        now
    }

    fn suspended(&mut self) {
        let call = self.call.clone();
        self.record(&call, CallStage::Suspended);
    }

    fn had_effect(&self) -> bool {
        self.is_finished
            && self.started.is_some()
            && self.call.view().retry_mode() == RetryMode::AtMostOnce
    }

    fn check_asking(&mut self, call: &HookCall) -> Result<(), CallError> {
        if !self.decision.forbids_asking() {
            return Ok(());
        }
        self.decision = asking_forbidden();
        Err(hook::denied(call.name(), self.decision.reason()))
    }

    fn rejected(&mut self, call: &HookCall, error: &CallError, by: Option<&str>) {
        let decision = match self.decision.effect() {
            Effect::Deny => self.decision.clone(),
            _ => Decision::deny(error.message()),
        };
        self.record_decision(call, &decision, by);
    }

    fn time_limit(&self) -> Option<Duration> {
        self.decision.time_limit()
    }

    fn admit(&mut self, call: &HookCall, by: Option<&str>) -> Result<(), CallError> {
        let decision = self.allowed();
        let (call_now, by_now) = (call.clone(), by.map(str::to_owned));
        let admission = Admission { call: call_now, rule: decision.shared_rule(), by: by_now };
        // A later round: the limits count once for all.
        if let Some(earlier) = &self.admitted {
            if !earlier.is_same(&admission) {
                self.record_decision(call, &decision, by);
                self.admitted = Some(admission);
            }
            return Ok(());
        }
        let (view, limits) = (call.view(), self.decision.limits());
        self.reservation = match &self.seams.limiter {
            Some(limiter) => {
                let reserved = caught(|| limiter.reserve(&view, limits)).map_err(|panic| {
                    hook::unchecked(call.name(), format!("the limiter panicked: {panic}"))
                })?;
                Some(reserved.map_err(|exceeded| limited(call.name(), &exceeded.to_string()))?)
            }
            None if limits.is_empty() => None,
            None => {
                let detail = "a policy sets limits, and the pool has no limiter; install the policy, by `Policies` for several, or set `ToolPoolBuilder::limiter`".to_owned();
                return Err(hook::unchecked(call.name(), detail));
            }
        };
        self.record_decision(call, &decision, by);
        self.admitted = Some(admission);
        Ok(())
    }

    fn start<'a>(&'a mut self, call: &'a HookCall) -> Recording<'a, Result<(), CallError>> {
        if self.started.is_none() {
            self.record(call, CallStage::Started { mode: call.view().retry_mode() });
        }
        if self.is_recorded() {
            self.started(call);
            return Recording::Left(ready(Ok(())));
        }
        Recording::Right(Box::pin(async move {
            if let Err(error) = self.recorded().await {
                Self::unrecorded(call, &error)?;
            }
            self.started(call);
            Ok(())
        }))
    }

    fn finish<'a>(
        &'a mut self,
        call: &'a HookCall,
        outcome: &'a Result<Observation, CallError>,
        duration: Option<Duration>,
    ) -> Recording<'a, ()> {
        self.reservation = None;
        self.is_finished = true;
        let (outcome, is_replayed) = (outcome.as_ref(), self.is_replayed);
        self.record(call, CallStage::Finished { outcome, duration, is_replayed });
        call.context().end_turn();
        match self.is_recorded() {
            true => Recording::Left(ready(())),
            false => Recording::Right(Box::pin(wait_for_record(call.name(), self.recorded()))),
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.is_finished {
            // What was reserved and did not run is given back before the end is recorded.
            self.reservation = None;
            let text = format!("the call to `{}` was dropped by its caller", self.call.name());
            let error = CallError::new(ErrorClass::Cancelled, text);
            let (call, outcome) = (self.call.clone(), Err(&error));
            let duration = self.started.map(|started| started.elapsed());
            self.record(&call, CallStage::Finished { outcome, duration, is_replayed: false });
        }
    }
}

/// The error that rejects more calls.
fn stricter(one: Option<RecordError>, other: RecordError) -> RecordError {
    match one {
        Some(one) if one.rejects_all_calls() || !other.rejects_all_calls() => one,
        _ => other,
    }
}

/// Passes an event to a recorder. One that panics counts as one that did not record it.
fn record(recorder: &dyn Recorder, event: CallEvent<'_>) -> Receipt {
    let receipt =
        |panic| Receipt::refused(RecordError::new(format!("the recorder panicked: {panic}")));
    caught(|| recorder.record(event)).unwrap_or_else(receipt)
}

/// Records a call of a tool that the pool does not have.
pub(super) async fn record_unknown(seams: &Seams, call: CallView<'_>, error: &CallError) {
    let finished = CallStage::Finished { outcome: Err(error), duration: None, is_replayed: false };
    let events = [CallStage::Proposed, finished].map(|stage| CallEvent { call, stage });
    let record = |event| seams.recorders.iter().map(move |recorder| record(&**recorder, event));
    let receipts: Vec<Receipt> = events.into_iter().flat_map(record).collect();
    let recorded = receipts.into_iter().map(|receipt| async {
        match receipt.0 {
            ReceiptState::Done(done) => done,
            ReceiptState::Pending(pending) => pending.await,
        }
    });
    let recorded = async { join_all(recorded).await.into_iter().collect() };
    wait_for_record(call.name(), recorded).await;
}

/// Waits for the last record of a call, whose outcome stands in any case.
async fn wait_for_record(tool: &str, recorded: impl Future<Output = Result<(), RecordError>>) {
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

fn asking_forbidden() -> Decision {
    Decision::deny("it requires approval, and nobody is asked now; do without it")
}

fn limited(tool: &str, reason: &str) -> CallError {
    CallError::new(ErrorClass::RateLimited, format!("`{tool}` was not run: {reason}"))
}

fn indeterminate(tool: &str) -> CallError {
    let text = format!(
        "an earlier attempt started `{tool}`, and its outcome is unknown; check whether it had its effect before you call it again"
    );
    CallError::new(ErrorClass::Indeterminate, text)
}
