//! Lines of the log about requests: one for each, and a warning for each that is rejected.

use super::http_rejection::Reason;
use super::logged_body::logged;
use crate::request::OutcomeNote;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use rmcp::model::{ConstString as _, RequestId, SubscriptionsListenRequestMethod};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tool_runtime_core::seam::{ACCESS, excerpt, lock, one_line, trace_id};
use tool_runtime_core::vocabulary::Principal;

/// Limit on the characters of a string of a client.
const MAX_REASON: usize = 200;

/// Rejections of a peer that are logged in a minute. The others are counted.
const MAX_LOGGED: u32 = 20;

/// Seconds after which rejections of a peer are logged again.
const WINDOW: u64 = 60;

/// Peers whose rejections are counted apart.
const MAX_PEERS: usize = 1024;

/// Logs a line with the fields of a request, after those that only this line has.
macro_rules! line {
    ($level:ident, $access:expr, { $($own:tt)* }, $($message:tt)+) => {{
        let Access { method, path, .. } = &$access;
        tracing::$level!(
            target: ACCESS,
            %method,
            path,
            $($own)*
            peer = $access.peer.map(tracing::field::display),
            principal = $access.principal.as_ref().map(|it| excerpt(it.id()).into_owned()),
            session = $access.session,
            mcp = $access.mcp,
            id = $access.id,
            tool = $access.tool,
            outcome = $access.outcome.get(),
            trace = $access.trace,
            $($message)+
        );
    }};
}

/// The client of a connection.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// The fields of the log lines of a request. Each is logged when the response is complete, so `ms` is the time until then;
/// of a stream that only listens, when it begins. A client may leave a stream and resume it by another request: that line
/// has no outcome.
///
/// `id` is that of the message, which the lines of a call have as `gen_ai.tool.call.id`. `outcome` says how a `tools/call`
/// ended that reached the tools of the server: `ok`, `input_required` (the client is asked, and sends the call again),
/// `task` (the call goes on as a task), or a value of `error.type`: `tool_error`, `denied`, `approval_rejected`, ..
pub(super) struct Access {
    began: Instant,
    method: Method,
    path: String,
    peer: Option<IpAddr>,
    session: Option<String>,
    trace: Option<String>,
    /// Once it is known.
    pub(super) principal: Option<Arc<Principal>>,
    /// The MCP method, the id of the message and the tool that is called, once they are known.
    mcp: Option<String>,
    id: Option<String>,
    tool: Option<String>,
    pub(super) outcome: OutcomeNote,
    /// That of a response whose line is not written yet.
    status: Option<StatusCode>,
    is_ended: bool,
}

impl Access {
    pub(super) fn begin(request: &Request) -> Self {
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
        // Of an application that serves the routes.
        let of_application = || {
            let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
            info.map(|info| info.0.ip())
        };
        Self {
            began: Instant::now(),
            method: request.method().clone(),
            path: one_line(request.uri().path(), MAX_REASON),
            peer: peer.or_else(of_application),
            session: text(request.headers(), "mcp-session-id"),
            trace: text(request.headers(), "traceparent")
                .and_then(|it| Some(trace_id(&it)?.to_owned())),
            principal: None,
            mcp: None,
            id: None,
            tool: None,
            outcome: OutcomeNote::default(),
            status: None,
            is_ended: false,
        }
    }

    /// Notes what a message asks for. The trace in its metadata precedes that of a header.
    pub(super) fn asks(&mut self, method: &str, id: Option<&RequestId>, traceparent: Option<&str>) {
        self.mcp = Some(one_line(method, MAX_REASON));
        self.id = id.map(|id| one_line(&id.to_string(), MAX_REASON));
        if let Some(traceparent) = traceparent {
            self.trace = trace_id(traceparent).map(str::to_owned);
        }
    }

    /// Notes the tool that a message calls.
    pub(super) fn calls(&mut self, tool: &str) {
        self.tool = Some(one_line(tool, MAX_REASON));
    }

    /// Logs the request and its response: when the body has ended, for a message that is answered by a stream.
    pub(super) fn end(mut self, response: Response, rejections: &Rejections) -> Response {
        self.status = Some(response.status());
        // Of a route of the application.
        let principal = response.extensions().get::<Arc<Principal>>().cloned();
        self.principal =
            self.principal.take().or(principal).filter(|principal| !principal.is_anonymous());
        // `initialize` opens the session.
        self.session = self.session.take().or_else(|| text(response.headers(), "mcp-session-id"));
        // Clients ask by GET whether there is a stream.
        if response.status().is_client_error()
            && response.status() != StatusCode::METHOD_NOT_ALLOWED
        {
            self.warn(&response, rejections);
        }
        if self.is_streamed(&response) {
            return response.map(|body| logged(body, self));
        }
        self.log();
        response
    }

    /// Whether the answer to a message is a stream. A subscription is none: it lasts until the client leaves.
    fn is_streamed(&self, response: &Response) -> bool {
        let media = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        self.method == Method::POST
            && self.mcp.as_deref() != Some(SubscriptionsListenRequestMethod::VALUE)
            && media.is_some_and(|media| media.starts_with(b"text/event-stream"))
    }

    /// Logs the request, once.
    pub(super) fn log(&mut self) {
        self.log_end("request");
    }

    fn log_end(&mut self, message: &str) {
        let Some(status) = self.status.take() else { return };
        self.is_ended = true;
        let milliseconds = (self.began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
        line!(info, self, { status = status.as_u16(), ms = milliseconds, }, "{message}");
    }

    fn warn(&self, response: &Response, rejections: &Rejections) {
        let Some(unlogged) = rejections.count(self.peer) else { return };
        if unlogged > 0 {
            let peer = self.peer.map(tracing::field::display);
            tracing::warn!(target: ACCESS, unlogged, peer, "rejections were not logged: there were too many");
        }
        let reason = response.extensions().get::<Reason>();
        let reason = reason.map_or("the response says why", |reason| &reason.0);
        let reason = one_line(reason, MAX_REASON);
        line!(warn, self, { status = response.status().as_u16(), }, "rejected: {reason}");
    }
}

/// A client that leaves before the response ends its request.
impl Drop for Access {
    fn drop(&mut self) {
        self.log_end("the client left before the end of the response");
        if !self.is_ended {
            line!(info, self, {}, "the client left before the response");
        }
    }
}

/// A header as text, without characters that control a terminal.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(one_line(headers.get(name)?.to_str().ok()?, MAX_REASON))
}

/// The rejections of each peer, so that one that asks without end does not fill the log.
#[derive(Default)]
pub(super) struct Rejections(Mutex<HashMap<Option<IpAddr>, Counted>>);

struct Counted {
    since: Instant,
    count: u32,
}

impl Rejections {
    /// Counts a rejection. `None`: it is not logged. Else the number of those of the last minute that were not.
    fn count(&self, peer: Option<IpAddr>) -> Option<u32> {
        self.count_at(peer, Instant::now())
    }

    fn count_at(&self, peer: Option<IpAddr>, now: Instant) -> Option<u32> {
        let mut peers = lock(&self.0);
        let is_recent =
            |counted: &Counted| now.saturating_duration_since(counted.since).as_secs() < WINDOW;
        if peers.len() >= MAX_PEERS && !peers.contains_key(&peer) {
            peers.retain(|_, counted| is_recent(counted));
        }
        // More peers share one count.
        let key = if peers.len() >= MAX_PEERS && !peers.contains_key(&peer) { None } else { peer };
        let counted = peers.entry(key).or_insert(Counted { since: now, count: 0 });
        let unlogged = match is_recent(counted) {
            true => 0,
            false => {
                let unlogged = counted.count.saturating_sub(MAX_LOGGED);
                *counted = Counted { since: now, count: 0 };
                unlogged
            }
        };
        counted.count = counted.count.saturating_add(1);
        (counted.count <= MAX_LOGGED).then_some(unlogged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rejections_of_a_peer_are_bounded_and_counted() {
        let (rejections, now) = (Rejections::default(), Instant::now());
        let peer = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        let logged = |peer, at| (0..50).filter_map(|_| rejections.count_at(peer, at)).count();
        assert_eq!(logged(peer(1), now), 20);
        assert_eq!(logged(peer(2), now), 20);
        let later = now + Duration::from_secs(WINDOW);
        assert_eq!(rejections.count_at(peer(1), later), Some(30));
        assert_eq!(rejections.count_at(peer(1), later), Some(0));
    }

    #[test]
    fn peers_beyond_the_limit_share_a_count() {
        let (rejections, now) = (Rejections::default(), Instant::now());
        for number in 0..2000_u32 {
            rejections.count_at(Some(IpAddr::from(number.to_be_bytes())), now);
        }
        assert_eq!(lock(&rejections.0).len(), MAX_PEERS + 1);
    }
}
