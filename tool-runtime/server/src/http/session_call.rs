//! A call in a session, answered by one JSON object if it ends soon and sends no message before its result.
//!
//! Any other call is handed over: rmcp gets the request, opens a stream that the client may resume, and its handler continues
//! the call. The sessions stay rmcp's.

use super::fast_request::{Channel, FastRequest, run};
use super::http_rejection::HttpResult;
use super::reply::Reply;
use super::sessions::{Session, SessionUse};
use crate::call_result::CallOutcome;
use crate::client::Client;
use crate::fast_path::{Answer, PlainCall};
use crate::request::{McpResult, Request as _, RequestContext};
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ServerNotification};
use rmcp::service::Peer;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, SetOnce};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;

/// The time in which a call is answered by one JSON object. A client cannot resume a call that it loses in this time.
const SOON: Duration = Duration::from_millis(100);

/// A call after a while.
pub(super) enum Progress {
    Answered(Response),
    /// The call needs a stream: rmcp's handler finds it in the extensions of the request.
    Running(RunningCall),
}

/// A call that rmcp's handler continues.
#[derive(Clone)]
pub(crate) struct RunningCall(Arc<Mutex<Option<Running>>>);

struct Running {
    work: BoxFuture<'static, McpResult<CallOutcome>>,
    client: Arc<Client>,
    stream: Arc<SetOnce<RequestContext>>,
    /// The request is in flight until rmcp answers it.
    in_session: SessionUse,
}

/// Runs a call until it ends or needs a stream. Dropping this cancels the call.
///
/// # Errors
/// A request with this id is in flight.
pub(super) async fn answer(
    session: &Arc<Session>,
    peer: Peer<RoleServer>,
    call: PlainCall<'_>,
    parts: &Parts,
) -> HttpResult<Progress> {
    let PlainCall { id, meta, subject, round, .. } = call;
    let in_session = SessionUse::begin(session, &id)?;
    let cancelled = in_session.token().clone();
    let (stream, wanted) = (Arc::new(SetOnce::new()), Arc::new(Notify::new()));
    let channel = SessionChannel { peer, wanted: Arc::clone(&wanted), stream: Arc::clone(&stream) };
    let (token, parts) = (cancelled.child_token(), parts.clone());
    let request = FastRequest { id, meta, is_stateless: false, parts, token, channel };
    let client = session.handler.client(request, subject, round);
    let mut work = run(&session.handler, &client);
    tokio::select! {
        biased;
        called = &mut work => Ok(Progress::Answered(match cancelled.is_cancelled() {
            true => no_answer(),
            false => Reply::answer(Answer::new(&client, called), false).into_response(),
        })),
        () = wait(&wanted) => {
            let running = Running { work, client, stream, in_session };
            Ok(Progress::Running(RunningCall(Arc::new(Mutex::new(Some(running))))))
        }
    }
}

/// Waits until a call needs a stream.
async fn wait(wanted: &Notify) {
    drop(tokio::time::timeout(SOON, wanted.notified()).await);
}

/// The response to a cancelled call, which must not be answered: a stream that ends.
fn no_answer() -> Response {
    let mut response = Response::new(Body::empty());
    let events = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, events);
    response
}

impl RunningCall {
    /// Continues the call in the request that rmcp has accepted for it.
    pub(crate) async fn finish(&self, request: RequestContext) -> McpResult<CallToolResponse> {
        let running = lock(&self.0).take().expect("rmcp handles a request once");
        let Running { mut work, client, stream, in_session } = running;
        in_session.leave_to_rmcp();
        let cancelled = request.ct.clone();
        drop(stream.set(request));
        let called = tokio::select! {
            biased;
            called = &mut work => called,
            () = cancelled.cancelled() => {
                client.request().token().cancel();
                work.await
            }
        };
        Ok(called?.into_response(client.name()))
    }
}

/// Sends the messages of a call on the stream that rmcp opens for it.
struct SessionChannel {
    /// The channel of the session.
    peer: Peer<RoleServer>,
    /// Notified when the call needs its stream.
    wanted: Arc<Notify>,
    /// The request in which rmcp has opened the stream.
    stream: Arc<SetOnce<RequestContext>>,
}

impl SessionChannel {
    async fn stream(&self) -> &RequestContext {
        self.wanted.notify_one();
        self.stream.wait().await
    }
}

impl Channel for SessionChannel {
    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { self.stream().await.notify(message).await })
    }

    fn open_stream(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { _ = self.stream().await })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        Some(&self.peer)
    }
}
