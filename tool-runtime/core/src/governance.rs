//! Traits by which other parts of a program govern the calls of a pool: policies, limits, records and
//! steps.
//!
//! A pool with one of them runs every call through a `GovernedCall`, in this order: proposed,
//! decided (again after each rewriting), looked up as a step, asked about, decided, reserved,
//! started, finished. A pool without them does not link this code: both traits of `seams` are trait
//! objects that a method of the builder creates.

mod call_view;
mod governed_call;
mod limiter;
mod meta_parameters;
mod policy;
mod question;
mod recorder;
mod risk;
mod rounds;
mod seams;
mod steps;

pub(crate) use call_view::{CallDetails, CallText};
pub use call_view::{CallNumber, CallView};
pub use limiter::{Limit, LimitExceeded, Limiter, Measure, Refill, Reservation};
pub use meta_parameters::MetaParameters;
pub(crate) use meta_parameters::{ExtendParameters, MetaArguments};
pub use policy::{Decision, Effect, PolicyEngine};
pub(crate) use question::Question;
pub use recorder::{CallEvent, CallStage, Receipt, RecordError, Recorder};
pub use risk::Risk;
pub use rounds::CallRounds;
pub(crate) use rounds::RoundGuard;
pub(crate) use seams::{GovernCalls, Governed, Replayed, Seams};
pub use steps::{Begin, StepStore};
