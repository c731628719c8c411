//! Traits by which other parts of a program govern the calls of a pool: policies, limits, records and
//! steps.
//!
//! Each governed call is a `Step`: proposed, decided (again after each rewriting), looked up in the step store, asked
//! about, decided, reserved, started, finished. The stages that do this are in `dispatch`.

pub mod hook;

pub(crate) mod approval;
pub(crate) mod call_view;
mod file_policies;
mod governors;
mod limiter;
pub(crate) mod limits;
mod meta_parameters;
mod policy;
mod question;
mod recorder;
mod risk;
pub(crate) mod rounds;
mod step;
mod step_store;
mod unknown_call;

pub use approval::{
    Approval, ApprovalRequest, Approver, Approvers, AskCaller, EditError, Or, QuestionText,
    Remember,
};
pub(crate) use call_view::{CallDetails, CallText, PROMPTS, RESOURCES};
pub use call_view::{CallNumber, CallView};
pub(crate) use file_policies::FilePolicies;
pub(crate) use governors::Governors;
pub use limiter::{Limit, LimitExceeded, Limiter, Measure, Refill, Reservation};
pub use limits::OutputLimits;
pub(crate) use meta_parameters::MetaArguments;
pub use meta_parameters::MetaParameters;
pub use policy::{Decision, Effect, PolicyEngine};
pub(crate) use question::Question;
pub use recorder::{CallEvent, CallStage, Receipt, RecordError, Recorder};
pub use risk::Risk;
pub(crate) use rounds::OpenStep;
pub(crate) use step::{Answer, MAX_LOGGED_REASON, Step};
pub use step_store::{Begin, StepStore};
pub(crate) use unknown_call::UnknownCall;
