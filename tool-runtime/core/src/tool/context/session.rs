//! The session that a call belongs to.

use super::ToolContext;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Identifies a session within this process: of an MCP client over stdio, of an HTTP client that has sent
/// `initialize`, or of [`ToolPool::session`](crate::pool::ToolPool::session). This is not the secret
/// `Mcp-Session-Id` of an HTTP client.
///
/// ```
/// use tool_runtime::ToolPool;
///
/// let pool = ToolPool::builder().build()?;
/// let (one, other) = (pool.session(), pool.session());
/// assert_ne!(one.id(), other.id());
/// assert_eq!(one.pool().context().session(), Some(one.id()));
/// assert_eq!(pool.context().session(), None);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session-{}", self.0)
    }
}

/// A session, which ends when its `Arc` is dropped. Contexts hold a `Weak`, so that a toolset instance can
/// keep a context without keeping the session open.
pub struct Session {
    id: SessionId,
    /// Owners of values of this session; notified when the session ends.
    holders: Mutex<Vec<Weak<dyn SessionValues>>>,
}

/// Owns one value per session, such as a toolset with instances per session.
pub trait SessionValues: Send + Sync {
    /// Removes the value of a session. The returned future closes the value. If the future is dropped,
    /// dropping the value closes it.
    fn end(&self, session: SessionId) -> Option<BoxFuture<'static, ()>>;
}

impl Session {
    #[doc(hidden)]
    pub fn open() -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = SessionId(NEXT.fetch_add(1, Ordering::Relaxed));
        Arc::new(Self { id, holders: Mutex::default() })
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Registers an owner whose value is closed when the session ends.
    pub(crate) fn register(&self, holder: Weak<dyn SessionValues>) {
        lock(&self.holders).push(holder);
    }

    /// Closes all values of the session, the last one first.
    pub(crate) async fn close(&self) {
        let holders = std::mem::take(&mut *lock(&self.holders));
        for holder in holders.iter().rev().filter_map(Weak::upgrade) {
            if let Some(closing) = holder.end(self.id) {
                closing.await;
            }
        }
    }
}

/// As `Session::close`: the last one first.
impl Drop for Session {
    fn drop(&mut self) {
        let holders = self.holders.get_mut().unwrap_or_else(PoisonError::into_inner);
        holders.iter().rev().filter_map(Weak::upgrade).for_each(|holder| drop(holder.end(self.id)));
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.id).finish()
    }
}

/// The session of a context.
#[derive(Clone)]
pub(super) struct SessionRef {
    pub(super) id: SessionId,
    pub(super) session: Weak<Session>,
    /// The session that this one was opened in.
    pub(super) outer: Option<Arc<SessionRef>>,
}

impl ToolContext {
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

    /// Registers work that must end with the first of the sessions around the call that ends. `false`: one has ended.
    #[doc(hidden)]
    #[must_use = "the work must not begin after its session"]
    pub fn end_with_each_session(&self, work: &Weak<dyn SessionValues>) -> bool {
        let own = self.0.session.as_ref();
        let mut sessions = std::iter::successors(own, |session| session.outer.as_deref());
        sessions.all(|session| {
            let open = session.session.upgrade();
            open.is_some_and(|session| {
                session.register(Weak::clone(work));
                true
            })
        })
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
}
