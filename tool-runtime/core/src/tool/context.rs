//! The context of one call.
//!
//! | Module | Topic |
//! |---|---|
//! | `state`, `injectable`, `secrets` | values by type; what a reference parameter borrows; the secrets of a pool |
//! | `session`, `execution`, `call_step` | the session of a call; work that is repeated; its steps |
//! | `host`, `questions` | the pool that runs nested calls; the peer, and the keys of questions |
//! | `cancellation`, `apart` | deadline and cancellation; user code apart from the server |
//! | `files` | the files that a call may read |
//! | `guards`, `turn` | what a call holds while it runs; its turn in a batch |

mod apart;
mod call_step;
mod cancellation;
mod execution;
mod files;
mod guards;
mod host;
mod injectable;
mod questions;
#[cfg(feature = "redact")]
pub(crate) mod secrets;
mod session;
mod state;
mod turn;

pub use execution::{Execution, StepId};
pub(crate) use files::FileRules;
pub use injectable::Injectable;
pub use session::{Session, SessionId, SessionValues};
pub(crate) use state::State;

#[cfg(feature = "isolation")]
use crate::tool::concurrency::isolation::Isolation;
use crate::tool::concurrency::schedule::Link;
use crate::tool::peer::Peer;
use crate::vocabulary::principal::Principal;
use call_step::CallStep;
use guards::Guards;
use questions::Questions;
use session::SessionRef;
use std::any::Any;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock, Weak};
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use turn::BatchTurn;

/// The context of one call: typed state, the caller, cancellation, a deadline, its id, the other
/// tools of the pool ([`Self::call`]), and its caller, for notifications ([`Self::progress`],
/// [`Self::log`]) and questions ([`Self::ask`]).
///
/// A tool gets it by a parameter `&ToolContext`. It is cheap to clone. No tool sees
/// conversations or model messages from it.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// struct Greeting(&'static str);
///
/// /// Greet a person.
/// #[tool(read_only)]
/// async fn greet(
///     /// The name of the person.
///     name: String,
///     context: &ToolContext,
/// ) -> String {
///     let greeting = context.get::<Greeting>().map_or("Hello", |g| g.0);
///     format!("{greeting}, {name}!")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let context = ToolContext::default().with(Greeting("Good day"));
/// assert_eq!(greet("Ada".into(), &context).await, "Good day, Ada!");
/// # });
/// ```
#[derive(Clone, Default)]
pub struct ToolContext(Arc<Parts>);

#[derive(Clone, Default)]
struct Parts {
    state: Arc<State>,
    call_id: Option<Arc<str>>,
    /// `None` if anonymous.
    principal: Option<Arc<Principal>>,
    /// The session that the call belongs to.
    session: Option<SessionRef>,
    cancellation: Option<CancellationToken>,
    /// Cancelled when the server stops.
    stop: Option<CancellationToken>,
    deadline: Option<Instant>,
    /// The value whose method runs.
    receiver: Option<Arc<dyn Any + Send + Sync>>,
    /// The pool that runs the calls which the tool makes itself.
    host: Option<Weak<dyn Any + Send + Sync>>,
    /// The caller, also of the calls that the tool makes.
    peer: Option<Arc<dyn Peer>>,
    questions: Questions,
    /// Declared resources that the calls around this one hold.
    held: Option<Link>,
    depth: u16,
    /// The execution that the call is a step of.
    execution: Option<Arc<Execution>>,
    /// The step of the call, or of the next one.
    step: Option<CallStep>,
    /// The number of the innermost recorded call around this context.
    call_number: Option<NonZeroU64>,
    /// The pool whose layers are around the call, by an id.
    #[cfg(feature = "tower")]
    layers: Option<usize>,
    /// Number of times that the context was passed on to another call, by tools or by callers.
    times_passed_on: u16,
    /// The calls of a request that may be continued by a later one.
    rounds: Option<Arc<dyn Any + Send + Sync>>,
    /// Guards that the call holds while it runs, see [`Self::with_guard`].
    guards: Guards,
    /// The turn of the call in its batch, see [`Self::with_turn`].
    turn: Option<BatchTurn>,
    /// Decides which files the call may read.
    file_rules: Option<Arc<dyn FileRules>>,
    /// Runs the call apart from the server that it came through.
    #[cfg(feature = "isolation")]
    isolation: Option<Isolation>,
}

impl ToolContext {
    /// The parts to change, copied if they are shared.
    fn parts(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }

    /// Sets the call's id. Default: none.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.parts().call_id = Some(id.into()).filter(|id| !id.is_empty());
        self
    }

    /// Sets the caller. Default: [`Principal::anonymous`].
    #[must_use]
    pub fn with_principal(mut self, principal: impl Into<Arc<Principal>>) -> Self {
        self.parts().principal = Some(principal.into());
        self
    }

    /// The call's id, as the caller gave it.
    pub fn call_id(&self) -> Option<&str> {
        self.0.call_id.as_deref()
    }

    /// The caller; calls that a tool makes itself have the same one.
    ///
    /// ```
    /// use tool_runtime::{Principal, ToolContext};
    ///
    /// assert!(ToolContext::default().principal().is_anonymous());
    /// let context = ToolContext::default().with_principal(Principal::new("ada"));
    /// assert_eq!(context.principal().id(), "ada");
    /// ```
    pub fn principal(&self) -> &Principal {
        static ANONYMOUS: LazyLock<Principal> = LazyLock::new(Principal::anonymous);
        self.0.principal.as_deref().unwrap_or(&ANONYMOUS)
    }

    /// The caller, if it is known.
    pub(crate) fn known_principal(&self) -> Option<&Principal> {
        self.0.principal.as_deref().filter(|principal| !principal.is_anonymous())
    }

    pub(crate) fn with_receiver(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        self.parts().receiver = Some(value);
        self
    }

    /// The value whose method runs, if it is a `T`.
    pub(crate) fn receiver<T: Any>(&self) -> Option<&T> {
        self.0.receiver.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("state", &self.0.state)
            .field("call_id", &self.0.call_id)
            .field("session", &self.session())
            .field("deadline", &self.0.deadline)
            .field("is_cancelled", &self.is_cancelled())
            .field("depth", &self.0.depth)
            .finish_non_exhaustive()
    }
}
