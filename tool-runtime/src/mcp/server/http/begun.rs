//! Calls in sessions. Most end as soon as they have begun, and are answered at once. One that waits
//! for anything goes on within rmcp, where its client can be asked, can cancel it, and can come
//! back for the answer.

use super::lane::Run;
use crate::mcp::server::client::Client;
use crate::mcp::server::request::Request;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use std::sync::{Arc, Mutex, PoisonError};

/// A call that has begun. It travels in the extensions of its request, to be taken once.
#[derive(Clone)]
pub(in crate::mcp::server) struct Begun(Arc<Mutex<Option<Call>>>);

struct Call {
    client: Arc<Client>,
    run: Run,
}

impl Begun {
    pub(super) fn new(client: Arc<Client>, run: Run) -> Self {
        Self(Arc::new(Mutex::new(Some(Call { client, run }))))
    }

    /// The call that a request goes on with, if it has begun.
    pub(in crate::mcp::server) fn of(request: &RequestContext<RoleServer>) -> Option<&Self> {
        request.extensions.get::<Parts>()?.extensions.get()
    }

    /// Goes on with the call, in the task that rmcp has for it, until the client gives up.
    pub(in crate::mcp::server) async fn go_on(
        &self,
        request: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Call { client, mut run }) = taken else {
            return Err(ErrorData::internal_error("the call has ended", None));
        };
        if let Request::Plain(plain) = client.request() {
            plain.adopt();
        }
        let called = match request.ct.run_until_cancelled(&mut run).await {
            Some(called) => called,
            None => {
                client.request().token().cancel();
                run.await
            }
        };
        Ok(called?.into_response(client.name()))
    }
}
