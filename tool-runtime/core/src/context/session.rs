//! The session that a call belongs to.

use crate::future::BoxFuture;
use crate::sync::lock;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Names a session within this process: an MCP client over stdio, a client of HTTP that has called
/// `initialize`, or a [`ToolPool::session`](crate::ToolPool::session). It is not the secret id that
/// a client of HTTP sends.
///
/// ```
/// use tool_runtime::ToolPool;
///
/// let pool = ToolPool::builder().build()?;
/// let (one, other) = (pool.session(), pool.session());
/// assert_ne!(one.id(), other.id());
/// assert_eq!(one.pool().context().session(), Some(one.id()));
/// assert_eq!(pool.context().session(), None);
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session-{}", self.0)
    }
}

/// A session: it lasts as long as whoever opened it holds it. Contexts know it weakly, so that a
/// value of a toolset may keep a context.
pub struct Session {
    id: SessionId,
    /// Has values of the session, and drops them when it ends.
    holders: Mutex<Vec<Weak<dyn SessionValues>>>,
}

/// Has a value per session.
pub(crate) trait SessionValues: Send + Sync {
    /// Gives up the value of a session. The future closes it; dropped, it leaves that to the value.
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

    /// Has a value closed when the session ends.
    pub(crate) fn held_by(&self, holder: Weak<dyn SessionValues>) {
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

impl Drop for Session {
    fn drop(&mut self) {
        let holders = self.holders.get_mut().unwrap_or_else(PoisonError::into_inner);
        holders.iter().filter_map(Weak::upgrade).for_each(|holder| drop(holder.end(self.id)));
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
}
