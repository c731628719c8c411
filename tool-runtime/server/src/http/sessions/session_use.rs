//! A call that runs in a session before rmcp knows it.

use super::problem::SessionProblem;
use super::session::Session;
use rmcp::model::RequestId;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Keeps the id of a call in flight and the session in use, until it is dropped or rmcp has the request.
pub(in crate::http) struct SessionUse {
    session: Arc<Session>,
    id: Option<RequestId>,
    token: CancellationToken,
}

impl SessionUse {
    /// # Errors
    /// A request with this id is in flight.
    pub(in crate::http) fn begin(
        session: &Arc<Session>,
        id: &RequestId,
    ) -> Result<Self, SessionProblem> {
        let token = session.ongoing.until_end();
        session.ongoing.begin(id, Some(token.clone()))?;
        session.open();
        Ok(Self { session: Arc::clone(session), id: Some(id.clone()), token })
    }

    /// Cancelled by the client, or at the end of the session.
    pub(in crate::http) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Leaves the end of the request to rmcp.
    pub(in crate::http) fn leave_to_rmcp(mut self) {
        self.id = None;
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        // The id of a cancelled call is free already, and may be in use again.
        if let Some(id) = self.id.as_ref().filter(|_| !self.token.is_cancelled()) {
            self.session.ongoing.finish(id);
        }
        self.session.close(None);
    }
}
