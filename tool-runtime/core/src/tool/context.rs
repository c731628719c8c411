//! The context of one call.

mod call_step;
mod execution;
mod host;
mod questions;
#[cfg(feature = "redact")]
pub(crate) mod secrets;
mod session;

#[cfg(feature = "isolation")]
use crate::tool::concurrency::isolation::Isolation;
use crate::tool::concurrency::schedule::{Held, Link};
use crate::tool::peer::Peer;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::mask::Mask;
use crate::vocabulary::need::Need;
use crate::vocabulary::principal::Principal;
use crate::vocabulary::sync::lock;
use call_step::CallStep;
pub use execution::{Execution, StepId};
use hashbrown::HashMap;
use questions::Questions;
pub use session::Session;
pub use session::SessionId;
use session::SessionRef;
pub use session::SessionValues;
use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::future;
use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

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
    /// Runs the call apart from the server that it came through.
    #[cfg(feature = "isolation")]
    isolation: Option<Isolation>,
}

/// The guards of a call, which its blocking functions keep.
#[derive(Clone, Default)]
enum Guards {
    #[default]
    None,
    /// The declared resources alone.
    Held,
    Own(Weak<dyn Any + Send + Sync>),
}

impl ToolContext {
    /// A context over the given state.
    pub(crate) fn with_state(state: State) -> Self {
        Self(Arc::new(Parts { state: Arc::new(state), ..Parts::default() }))
    }

    /// The parts to change, copied if they are shared.
    fn parts(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }

    /// Adds a value of state: for one call, as in `pool.context().with(user)`, or for a test that
    /// calls a function without a pool. The pool is built without it, so a tool that borrows it
    /// needs a value there, or a hook that provides it.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.parts().state).insert(value);
        self
    }

    /// Adds a boxed value of the type with this id.
    pub(crate) fn insert_erased(&mut self, id: TypeId, value: Arc<dyn Any + Send + Sync>) {
        Arc::make_mut(&mut self.parts().state).values.insert(id, value);
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

    /// Sets the token that cancels the call. Default: nothing cancels it.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.parts().cancellation = Some(token);
        self
    }

    /// Sets when the call ends at the latest. Default: never.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.parts().deadline = Some(deadline);
        self
    }

    /// A value of state by its type, if the pool was given a `T` or an `Arc<T>`.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.state.get()
    }

    /// Masks the secrets of the pool, if it has some.
    pub(crate) fn mask(&self) -> Option<&dyn Mask> {
        self.0.state.mask.as_deref()
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

    /// The session that the call belongs to, and the calls that a tool makes itself. `None` for
    /// an independent call: of the pool itself, or of MCP 2026-07-28 over HTTP.
    pub fn session(&self) -> Option<&SessionId> {
        self.0.session.as_ref().map(|session| &session.id)
    }

    /// The session that the call belongs to, and the sessions that it was opened in, the innermost
    /// first: an agent that runs on the pool of a session has a session of its own within that one.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let outer = pool.session();
    /// let inner = outer.pool().session();
    /// let context = inner.pool().context();
    /// assert!(context.sessions().eq([inner.id(), outer.id()]));
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let own = self.0.session.as_ref();
        std::iter::successors(own, |session| session.outer.as_deref()).map(|session| &session.id)
    }

    /// The session itself, unless it has ended.
    pub(crate) fn open_session(&self) -> Option<Arc<Session>> {
        self.0.session.as_ref()?.session.upgrade()
    }

    /// Registers an owner of values that end with the session. Does nothing without one.
    #[doc(hidden)]
    pub fn end_with_session(&self, holder: Weak<dyn SessionValues>) {
        if let Some(session) = self.open_session() {
            session.register(holder);
        }
    }

    /// Sets the session that the call belongs to, within the one it belonged to.
    #[must_use]
    #[doc(hidden)]
    pub fn in_session(mut self, session: &Arc<Session>) -> Self {
        let (id, session) = (*session.id(), Arc::downgrade(session));
        let parts = self.parts();
        let outer = parts.session.take().map(Arc::new);
        parts.session = Some(SessionRef { id, session, outer });
        self
    }

    /// Makes the call, and the calls that the tool makes itself, steps of an execution. Default: none.
    #[must_use]
    pub fn in_execution(mut self, execution: &Arc<Execution>) -> Self {
        self.parts().execution = Some(Arc::clone(execution));
        self
    }

    /// The execution that the call is a step of.
    pub fn execution(&self) -> Option<&Arc<Execution>> {
        self.0.execution.as_ref()
    }

    /// Lets the governed calls of this context be continued in a later one.
    #[must_use]
    #[doc(hidden)]
    pub fn with_rounds(mut self, rounds: Arc<dyn Any + Send + Sync>) -> Self {
        self.parts().rounds = Some(rounds);
        self
    }

    pub(crate) fn rounds<R: Any + Send + Sync>(&self) -> Option<Arc<R>> {
        Arc::clone(self.0.rounds.as_ref()?).downcast().ok()
    }

    /// The number of the innermost recorded call around this context.
    pub(crate) fn call_number(&self) -> Option<NonZeroU64> {
        self.0.call_number
    }

    /// The context inside of a recorded call.
    pub(crate) fn within_call(mut self, number: NonZeroU64) -> Self {
        self.parts().call_number = Some(number);
        self
    }

    /// The deadline of the call.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Whether the call has ended: cancelled, timed out, or abandoned by its caller. For plain
    /// functions on the blocking pool, which cannot be stopped from outside.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the call is cancelled; never returns if it cannot be.
    ///
    /// An `async` tool need not watch this: it is dropped when the call is cancelled.
    pub async fn cancelled(&self) {
        match &self.0.cancellation {
            Some(token) => token.cancelled().await,
            None => future::pending().await,
        }
    }

    /// The peer that made the call.
    #[doc(hidden)]
    pub fn peer(&self) -> Option<&dyn Peer> {
        self.0.peer.as_deref()
    }

    pub(crate) fn set_peer(&mut self, peer: Arc<dyn Peer>) {
        self.parts().peer = Some(peer);
    }

    #[cfg(feature = "isolation")]
    #[doc(hidden)]
    pub fn with_isolation(mut self, isolation: Option<Isolation>) -> Self {
        self.parts().isolation = isolation;
        self
    }

    /// Runs user code apart from the server that received the call.
    #[cfg(feature = "isolation")]
    pub(crate) fn isolation(&self) -> Option<&Isolation> {
        self.0.isolation.as_ref()
    }

    /// Runs user code of the call: apart from the server that the call came through, if any. The name
    /// is for the log.
    pub(crate) fn apart<T: Send + 'static>(
        &self,
        name: impl FnOnce() -> String,
        start: impl FnOnce() -> BoxFuture<'static, T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        #[cfg(feature = "isolation")]
        if let Some(isolation) = self.isolation() {
            let guards = self.guards();
            return isolation.run(&name(), async move {
                // The caller may have returned while the code still blocks its thread.
                let _guards = guards;
                start().await
            });
        }
        let _ = name;
        start()
    }

    /// Whether user code of the call runs apart from a server.
    pub(crate) fn runs_apart(&self) -> bool {
        #[cfg(feature = "isolation")]
        return self.0.isolation.is_some();
        #[cfg(not(feature = "isolation"))]
        false
    }

    pub(crate) fn with_receiver(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        self.parts().receiver = Some(value);
        self
    }

    /// The value whose method runs, if it is a `T`.
    pub(crate) fn receiver<T: Any>(&self) -> Option<&T> {
        self.0.receiver.as_ref()?.downcast_ref()
    }

    /// The context of a call that holds declared resources, and their guard; nested calls share them.
    pub(crate) fn hold(&self, held: Held) -> (Self, Arc<dyn Any + Send + Sync>) {
        let (link, outer) = (held.link(), self.guards());
        let (guards, guard) = match outer {
            None => (Guards::Held, held.into_guard()),
            Some(outer) => {
                let guard: Arc<dyn Any + Send + Sync> = Arc::new((held, outer));
                (Guards::Own(Arc::downgrade(&guard)), guard)
            }
        };
        let held = Some(link);
        (Self(Arc::new(Parts { held, guards, ..Parts::clone(&self.0) })), guard)
    }

    pub(crate) fn held(&self) -> Option<&Link> {
        self.0.held.as_ref()
    }

    /// Whether the call is inside of the layers of a pool, as is all that its tool calls.
    #[cfg(feature = "tower")]
    pub(crate) fn is_in_layers(&self, pool: usize) -> bool {
        self.0.layers == Some(pool)
    }

    /// The context of a call that has passed the layers of a pool.
    #[cfg(feature = "tower")]
    pub(crate) fn in_layers(mut self, pool: usize) -> Self {
        self.parts().layers = Some(pool);
        self
    }

    /// Adds a guard, which is kept as long as the call runs: until the returned value is dropped and
    /// no blocking function of the call runs any more.
    pub(crate) fn with_guard(
        mut self,
        guard: impl Any + Send + Sync,
    ) -> (Self, Arc<dyn Any + Send + Sync>) {
        let guards: Arc<dyn Any + Send + Sync> = Arc::new((guard, self.guards()));
        self.parts().guards = Guards::Own(Arc::downgrade(&guards));
        (self, guards)
    }

    /// The guards of the call, for a blocking function to keep.
    pub(crate) fn guards(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        match &self.0.guards {
            Guards::None => None,
            Guards::Held => self.0.held.as_ref()?.guard(),
            Guards::Own(guards) => guards.upgrade(),
        }
    }

    /// Lets the call end its turn in a batch before it is answered, by [`Self::end_turn`].
    pub(crate) fn with_turn(mut self, guard: Arc<dyn Any + Send + Sync>) -> (Self, TurnGuard) {
        let turn = Arc::new(Mutex::new(Some(guard)));
        let passed_on = self.0.times_passed_on.saturating_add(1);
        self.parts().turn = Some(BatchTurn { turn: Arc::clone(&turn), passed_on });
        (self, TurnGuard(turn))
    }

    /// Ends the turn of the call in its batch: its tool has ended, and others may run while its end is
    /// recorded. Does nothing for a call that a tool makes with the context of this one.
    pub(crate) fn end_turn(&self) {
        let own = self.0.turn.as_ref();
        if let Some(own) = own.filter(|own| own.passed_on == self.0.times_passed_on) {
            drop(lock(&own.turn).take());
        }
    }

    pub(crate) fn cancellation(&self) -> Option<&CancellationToken> {
        self.0.cancellation.as_ref()
    }
}

impl ToolContext {
    /// Reserves keys for a call that starts later. Calls of a batch reserve them in the order given, whichever runs
    /// first.
    #[must_use]
    pub(crate) fn with_next_keys(mut self) -> Self {
        if self.0.peer.is_some() {
            self.parts().questions = self.0.questions.of_next_call();
        }
        self
    }

    /// Starts a call. A context of a running call gets separate question keys.
    #[must_use]
    #[doc(hidden)]
    pub fn started(mut self) -> Self {
        if self.0.peer.is_some() {
            self.parts().questions = self.0.questions.of_next_call().started();
        }
        self
    }

    /// The key of a question as the peer sees it.
    pub(crate) fn question_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        self.0.questions.key(key)
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

/// Values that every context has, independent of its state.
impl ToolContext {
    fn is_own(id: TypeId) -> bool {
        id == TypeId::of::<Self>() || id == TypeId::of::<Principal>()
    }

    fn own<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any =
            if TypeId::of::<T>() == TypeId::of::<Principal>() { self.principal() } else { self };
        value.downcast_ref()
    }
}

type Turn = Mutex<Option<Arc<dyn Any + Send + Sync>>>;

/// The turn of a call in its batch.
#[derive(Clone)]
struct BatchTurn {
    turn: Arc<Turn>,
    /// The number of times that the context is passed on when it reaches the call.
    passed_on: u16,
}

/// Ends the turn of a call when it is dropped, if the call has not.
pub(crate) struct TurnGuard(Arc<Turn>);

impl Drop for TurnGuard {
    fn drop(&mut self) {
        drop(lock(&self.0).take());
    }
}

/// Values by type, shared by all calls of one pool.
#[derive(Clone, Default)]
pub(crate) struct State {
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>, foldhash::fast::RandomState>,
    /// The names of the types.
    names: Vec<&'static str>,
    /// Masks the secrets of the pool.
    pub(crate) mask: Option<Arc<dyn Mask>>,
}

impl State {
    /// What to write for a type that is missing.
    pub(crate) fn remedy(&self, type_name: &str) -> String {
        const OF_CONTEXT: [(&str, &str); 3] = [
            ("::CancellationToken", "context.cancelled()"),
            ("::ToolPool", "context.pool()"),
            ("::Session", "context.session()"),
        ];
        let of_context = OF_CONTEXT.iter().find(|(name, _)| type_name.ends_with(name));
        if let Some((_, method)) = of_context {
            return format!(
                "it is a part of the context: write `context: &ToolContext` and `{method}`"
            );
        }
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
        let inner = type_name.split(|c| !is_path(c)).rfind(|path| !path.is_empty());
        let is_like = |given: &&&str| {
            given.contains(type_name) || inner.is_some_and(|inner| **given == inner)
        };
        if let Some(given) = self.names.iter().find(is_like) {
            return format!(
                "it has a `{given}`; give or borrow the same type, with `?` or `.await` if it is still a result or a future"
            );
        }
        if self.names.iter().any(|given| given.ends_with("{{closure}}")) {
            return "a future was given as state; add `.await` to it".to_owned();
        }
        "add `.state(value)` to the pool, or `state = value` to `main!`, or `.provides::<T>()` to the hook that provides it; or, if it is an argument, take it without `&`".to_owned()
    }

    /// Adds a value; a second one of the same type replaces the first and gives `false`.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) -> bool {
        self.names.push(type_name::<T>());
        self.values.insert(TypeId::of::<T>(), Arc::new(value)).is_none()
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.values.contains_key(&id)
    }

    /// A `T`, or else the inside of an `Arc<T>`.
    fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        match self.values.get(&TypeId::of::<T>()) {
            Some(value) => value.downcast_ref(),
            None => {
                self.values.get(&TypeId::of::<Arc<T>>())?.downcast_ref::<Arc<T>>().map(|v| &**v)
            }
        }
    }
}

/// Shows only the number of values, which may be secret.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State({} values)", self.values.len())
    }
}

/// A type that a reference parameter may borrow: the context, the principal, or state.
///
/// Implemented for every sized type that can be shared between threads, but not for `str` and
/// slices, because an argument must be owned.
#[diagnostic::on_unimplemented(
    message = "a reference parameter is injected, and `{Self}` cannot be",
    label = "not `Sized + Send + Sync + 'static`",
    note = "an argument must be owned: write `String` instead of `&str`, `Vec<T>` instead of `&[T]`",
    note = "state must be shareable between threads: write `&T` for a `T: Send + Sync + 'static` given to the pool by `.state(value)`, as in `&Arc<dyn Trait + Send + Sync>`"
)]
pub trait Injectable {
    /// State that the pool must be given.
    #[doc(hidden)]
    const NEED: Need;

    #[doc(hidden)]
    fn borrow_from(context: &ToolContext) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T: Any + Send + Sync> Injectable for T {
    const NEED: Need =
        Need { id: TypeId::of::<T>, shared: TypeId::of::<Arc<T>>, name: type_name::<T> };

    fn borrow_from(context: &ToolContext) -> &Self {
        match context.own::<T>() {
            Some(own) => own,
            None => context.get::<T>().unwrap_or_else(|| panic!("{}", missing(type_name::<T>()))),
        }
    }
}

fn missing(type_name: &str) -> String {
    format!(
        "no value of type `{type_name}` was given; write `.state(value)` on the pool, or `.with(value)` on the context"
    )
}

impl Need {
    /// The type's name, if neither the state nor every context holds it.
    pub(crate) fn missing_from(self, state: &State) -> Option<&'static str> {
        let is_met = |id| ToolContext::is_own(id) || state.contains(id);
        (!self.type_ids().into_iter().any(is_met)).then(self.name)
    }
}
