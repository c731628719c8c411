//! The policies, limiters and recorders of a pool, as trait objects: the code that runs them is linked
//! only where a pool has one.

use super::call_view::{CallDetails, CallView};
use super::governed_call::RunningCall;
use super::limiter::Limiter;
use super::policy::PolicyEngine;
use super::question::Question;
use super::recorder::Recorder;
use super::steps::StepStore;
use crate::approval::Approval;
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::error::{CallError, caught};
use crate::future::BoxFuture;
use crate::hook::HookCall;
use crate::observation::Observation;
use crate::principal::Principal;
use futures_util::future::Either;
use std::future::Ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The outcome that a step had in an earlier attempt.
pub(crate) type Replayed = Result<Observation, CallError>;

/// Most recorders do not wait: a call under them needs no box.
pub(crate) type Recording<'a, T> = Either<Ready<T>, BoxFuture<'a, T>>;

/// A call that is governed.
pub(crate) type Governed = Box<dyn GovernedCall>;

/// Governs the calls of a pool.
pub(crate) trait GovernCalls: Send + Sync {
    /// Whether lists may differ between callers.
    fn has_policies(&self) -> bool;

    /// Whether steps of an execution are answered with the results they had.
    fn replays_steps(&self) -> bool;

    /// Whether a caller sees a tool.
    fn sees(&self, tool: &ToolDefinition, principal: &Principal) -> bool;

    /// Records a call that arrived.
    fn propose(self: Arc<Self>, call: &HookCall) -> Governed;

    /// Records a rejected call of a tool that the pool does not have.
    fn record_unknown<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        error: &'a CallError,
    ) -> BoxFuture<'a, ()>;
}

/// A governed call on its way through the stages. Each method takes the call as it is at that stage.
///
/// A call that is dropped before [`Self::finish`] is recorded as cancelled, and its reservation refunded.
pub(crate) trait GovernedCall: Send {
    /// Whether this is the same call in a later round. If so, that one gets its number.
    fn continues(&self, call: &mut HookCall) -> bool;

    /// Asks the policies, and gives their questions.
    ///
    /// # Errors
    /// A policy denies the call, or hides its tool from the caller.
    fn decide(&mut self, call: &HookCall) -> Result<Vec<Question>, CallError>;

    /// Whether [`Self::replay`] may find an outcome.
    fn may_replay(&self, call: &HookCall) -> bool;

    /// The outcome of the call in an earlier attempt, if it had one.
    ///
    /// # Errors
    /// The call must not run, because its earlier outcome is unknown.
    fn replay<'a>(
        &'a mut self,
        call: &'a HookCall,
    ) -> BoxFuture<'a, Result<Option<Replayed>, CallError>>;

    /// The answer of the approver in an earlier round, to the same question about the same arguments.
    fn earlier_approval(&self, call: &HookCall, question: &Question) -> Option<Approval>;

    /// Keeps an approval for later rounds, with the arguments that the question was about. It is recorded if further
    /// questions follow; the last one is recorded by [`Self::admit`].
    fn approved(
        &mut self,
        call: &HookCall,
        asked: (Question, String),
        answer: Approval,
        is_last: bool,
    );

    /// Records that a person is asked, once. Returns the time of that.
    fn asked(&mut self, call: &HookCall, question: &Question) -> Instant;

    /// Records that the call waits for an answer of its caller, which a later request brings.
    fn suspended(&mut self);

    /// Whether the call has ended and may have had an effect that must not happen twice.
    fn had_effect(&self) -> bool;

    /// Checks that a person may be asked about the call.
    ///
    /// # Errors
    /// A policy forbids questions.
    fn check_asking(&mut self, call: &HookCall) -> Result<(), CallError>;

    /// Records that the call is rejected. `by` is the person who did.
    fn rejected(&mut self, call: &HookCall, error: &CallError, by: Option<&str>);

    /// The time limit that the policies set for the tool.
    fn time_limit(&self) -> Option<Duration>;

    /// Reserves the call, and records that it may run.
    ///
    /// # Errors
    /// A limit is exceeded.
    fn admit(&mut self, call: &HookCall, by: Option<&str>) -> Result<(), CallError>;

    /// Records that the tool starts, and waits until everything up to now is recorded.
    ///
    /// # Errors
    /// It cannot be recorded, and the call may run only once.
    fn start<'a>(&'a mut self, call: &'a HookCall) -> Recording<'a, Result<(), CallError>>;

    /// Records the outcome, and waits until it is recorded.
    fn finish<'a>(
        &'a mut self,
        call: &'a HookCall,
        outcome: &'a Result<Observation, CallError>,
        duration: Option<Duration>,
    ) -> Recording<'a, ()>;
}

/// Everything that governs the calls of a pool, beside its hooks.
#[derive(Clone, Default)]
pub(crate) struct Seams {
    pub(crate) policies: Vec<Arc<dyn PolicyEngine>>,
    pub(crate) limiter: Option<Arc<dyn Limiter>>,
    pub(crate) recorders: Vec<Arc<dyn Recorder>>,
    pub(crate) steps: Option<Arc<dyn StepStore>>,
}

impl GovernCalls for Seams {
    fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    fn replays_steps(&self) -> bool {
        self.steps.is_some()
    }

    fn sees(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        self.policies.iter().all(|policy| {
            caught(|| policy.visible(tool, principal)).unwrap_or_else(|panic| {
                tracing::error!(
                    tool = tool.name,
                    "a policy panicked, so the tool is hidden: {panic}"
                );
                false
            })
        })
    }

    fn propose(self: Arc<Self>, call: &HookCall) -> Governed {
        Box::new(RunningCall::new(self, call))
    }

    fn record_unknown<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        error: &'a CallError,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let details = CallDetails::new(name, arguments, context.clone());
            super::governed_call::record_unknown(self, CallView::new(name, None, &details), error)
                .await;
        })
    }
}
