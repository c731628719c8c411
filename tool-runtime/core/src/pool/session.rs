//! A session of a pool, for programs that call it themselves.

use super::handle::ToolPool;
use crate::tool::context::{Session, SessionId, ToolContext};
use std::sync::Arc;

/// A session of a pool, see [`ToolPool::session`]. It ends when this is dropped.
#[derive(Debug)]
pub struct PoolSession {
    pool: ToolPool,
    session: Arc<Session>,
}

impl ToolPool {
    /// Opens a session, as an agent or a user of a program has one: toolsets with
    /// [`SharedBy::Session`](crate::tool::toolset::SharedBy::Session) have separate values in it.
    #[must_use = "the session ends when this is dropped"]
    pub fn session(&self) -> PoolSession {
        let session = Session::open();
        let context = self.0.context.clone().in_session(&session);
        let core = Arc::clone(&self.0.core);
        let pool = Self::scoped(core, Some(Arc::clone(&self.0)), &context);
        PoolSession { pool, session }
    }
}

impl PoolSession {
    /// The pool, whose calls belong to the session.
    pub fn pool(&self) -> &ToolPool {
        &self.pool
    }

    /// The context of a call, within this session: the sessions that the call belongs to are around it. What
    /// decides by session, such as a permission mode, decides for both.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let (outer, inner) = (pool.session(), pool.session());
    /// let context = inner.enter(&outer.pool().context());
    /// assert!(context.sessions().eq([inner.id(), outer.id()]));
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn enter(&self, context: &ToolContext) -> ToolContext {
        context.clone().in_session(&self.session)
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// Ends the session, and waits until its values are closed.
    pub async fn close(self) {
        self.session.close().await;
    }
}
