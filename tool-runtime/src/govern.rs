//! Rules around the calls of a pool: policies, approvals, limits, records. Rules written in code for some tools are
//! [hooks](crate::hook).
//!
//! | Trait | Decides | Set by |
//! |---|---|---|
//! | [`PolicyEngine`] | which calls run, and which tools are seen | [`ToolPoolBuilder::policy`](crate::ToolPoolBuilder::policy) |
//! | [`Approver`] | the calls that a policy or a hook asks about | [`ToolPoolBuilder::approver`](crate::ToolPoolBuilder::approver) |
//! | [`Limiter`] | how often, and at which cost | [`ToolPoolBuilder::limiter`](crate::ToolPoolBuilder::limiter) |
//! | [`Recorder`] | where calls are recorded | [`ToolPoolBuilder::recorder`](crate::ToolPoolBuilder::recorder) |
//! | [`StepStore`] | whether a step of an execution ran before | [`ToolPoolBuilder::step_store`](crate::ToolPoolBuilder::step_store) |

#[doc(inline)]
pub use tool_runtime_core::govern::{
    Approval, ApprovalRequest, Approver, Approvers, AskCaller, Begin, CallEvent, CallNumber,
    CallStage, CallView, Decision, EditError, Effect, Limit, LimitExceeded, Limiter, Measure,
    MetaParameters, Or, OutputLimits, PolicyEngine, QuestionText, Receipt, RecordError, Recorder,
    Refill, Remember, Reservation, Risk, StepStore,
};
