//! The HTTP service in front of rmcp.

use super::call::Caller;
use super::closing::Closing;
use super::concurrency_limit::{ConcurrencyLimit, NoPlace, Permit};
use super::message::{Message, misfit};
use super::options::HttpOptions;
use super::pending_bodies::PendingBodies;
use super::refusal::{Refusal, Step};
use super::request_guard::RequestGuard;
use super::sessions::{SessionProblem, Sessions};
use super::{body, cors, guarded_body, plain, rmcp_refusal};
use crate::handler::PoolHandler;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get};
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::IpAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::Principal;

/// Headers that may occur once.
const SINGLE_HEADERS: [&str; 6] = [
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// Path of the endpoint.
const PATH: &str = "/mcp";

/// Limit on the bytes of messages that are arriving, in messages of the greatest length.
const PENDING_MESSAGES: usize = 32;

/// Lets in what may be asked, and hands it to rmcp.
pub(super) struct Service {
    options: HttpOptions,
    guard: RequestGuard,
    handler: Arc<PoolHandler>,
    sessions: Arc<Sessions>,
    limit: Arc<ConcurrencyLimit>,
    pending: Arc<PendingBodies>,
    closing: Closing,
    rmcp: StreamableHttpService<PoolHandler, Sessions>,
}

impl Service {
    /// `bound` is the address that is listened on, if it is known.
    pub(super) fn new(
        handler: &PoolHandler,
        options: HttpOptions,
        bound: Option<IpAddr>,
        closing: Closing,
    ) -> Self {
        let mut handler = handler.clone();
        handler.shutdown = closing.begun.clone();
        let handler = Arc::new(handler);
        let sessions = Sessions::new(&options);
        let template = Arc::clone(&handler);
        Self {
            rmcp: StreamableHttpService::new(
                move || {
                    let handler = template.for_client(&CancellationToken::new());
                    Sessions::is_served_by(&handler);
                    Ok(handler)
                },
                Arc::clone(&sessions),
                config(&options, &closing),
            ),
            guard: RequestGuard::new(&options, bound),
            limit: ConcurrencyLimit::new(options.max_requests, options.max_requests_per_principal),
            pending: PendingBodies::new(
                options.max_requests,
                options.max_body.saturating_mul(PENDING_MESSAGES),
            ),
            options,
            handler,
            sessions,
            closing,
        }
    }

    /// The routes that it answers.
    pub(super) fn router(self) -> Router {
        let service = Arc::new(self);
        let answer = move |request: Request| {
            let service = Arc::clone(&service);
            async move { service.answer(request).await }
        };
        Router::new().route(PATH, any(answer)).route("/healthz", get(|| async { "ok\n" }))
    }

    async fn answer(&self, request: Request) -> Response {
        let (parts, mut body) = request.into_parts();
        let origin = match self.guard.origin(&parts) {
            Ok(origin) => origin,
            Err(refusal) => return refusal.after(&mut body).await,
        };
        let served = match origin {
            Some(_) if cors::is_preflight(&parts) => Ok(cors::preflight(&parts.headers)),
            _ => self.serve(parts, &mut body).await,
        };
        let mut response = match served {
            Ok(response) => response,
            Err(refusal) => refusal.after(&mut body).await,
        };
        if let Some(origin) = origin {
            cors::show(&mut response, origin);
        }
        response
    }

    /// A request that no foreign page has made.
    async fn serve(&self, mut parts: Parts, body: &mut Body) -> Step<Response> {
        let principal = self.guard.principal(&parts).await?;
        check_repeated(&parts.headers)?;
        self.check_session(&parts, &principal)?;
        parts.extensions.insert(Arc::clone(&principal));
        if parts.method == Method::POST {
            return self.post(parts, body, principal).await;
        }
        let response = self.hand_on(Request::from_parts(parts, Bytes::new()), principal).await?;
        Ok(response.map(|body| guarded_body::ending(body, &self.closing.begun)))
    }

    async fn post(
        &self,
        mut parts: Parts,
        body: &mut Body,
        principal: Arc<Principal>,
    ) -> Step<Response> {
        check_type(&parts.headers)?;
        let HttpOptions { max_body, body_timeout, .. } = self.options;
        let body = body::read(body, max_body, body_timeout, &self.pending).await?;
        let place = self.place(&principal)?;
        if let Some(is_modern) = self.plain_version(&parts.headers)
            && let Some(call) = plain::call(&mut parts, &body, is_modern, &self.handler)
        {
            let caller = Caller::new(&self.handler, call, parts, is_modern);
            let response = caller.answer(&self.handler).await;
            return Ok(response.map(|body| guarded_body::holding(body, place)));
        }
        let message = Message::read(body, &self.handler)?;
        if let Some(arguments) = message.arguments {
            parts.extensions.insert(arguments);
        }
        let session = session_of(&parts.headers).map(str::to_owned);
        let request = Request::from_parts(parts, message.body.clone());
        let response = self.hand_on(request, principal).await?;
        // Its type was checked: this is what rmcp says of messages that it does not take.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Err(self.unusable(&message.body, session).await);
        }
        if response.status().is_client_error() {
            return Err(rmcp_refusal::reworded(response, &message.body).await);
        }
        Ok(response.map(|body| match message.listens {
            // It takes no place, and is answered when the server ends.
            true => body,
            false => guarded_body::holding(body, place),
        }))
    }

    /// Refuses a message that rmcp does not take. If it was to answer a question, that fails.
    async fn unusable(&self, body: &[u8], session: Option<String>) -> Refusal {
        let misfit = misfit(body);
        if let Some((session, answer)) = session.zip(misfit.failed_answer()) {
            // A session that has ended has no open questions.
            drop(self.sessions.accept_message(&session.into(), answer).await);
        }
        misfit.into()
    }

    /// Whether the client is of 2026-07-28, if a call may need nothing of rmcp. An older client without
    /// a session has to open one first, if there are sessions.
    fn plain_version(&self, headers: &HeaderMap) -> Option<bool> {
        plain::version(headers).filter(|is_modern| *is_modern || !self.options.sessions)
    }

    async fn hand_on(&self, request: Request<Bytes>, principal: Arc<Principal>) -> Step<Response> {
        let is_end = request.method() == Method::DELETE;
        let answer = self.rmcp.handle(request.map(Full::new));
        let mut response = Sessions::for_caller(principal, answer).await?.map(Body::new);
        // rmcp's own words for an unknown session have no type.
        let is_typed = response.headers().contains_key(header::CONTENT_TYPE);
        if response.status() == StatusCode::NOT_FOUND && !is_typed {
            return Err(SessionProblem::Gone.into());
        }
        // The session has ended: clients take rmcp's "accepted" for a failure.
        if is_end && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(response)
    }

    /// Refuses the session of somebody else as one that does not exist. rmcp refuses the latter,
    /// except where it is to be ended.
    fn check_session(&self, parts: &Parts, principal: &Principal) -> Step<()> {
        let Some(id) = session_of(&parts.headers) else { return Ok(()) };
        let is_end = parts.method == Method::DELETE && self.options.sessions;
        match self.sessions.is_of(id, principal).unwrap_or(!is_end) {
            true => Ok(()),
            false => Err(SessionProblem::Gone.into()),
        }
    }

    fn place(&self, principal: &Arc<Principal>) -> Step<Permit> {
        self.limit.take(principal).map_err(|full| match full {
            NoPlace::All(most) => {
                Refusal::busy(format!("{most} requests are in flight; try again later"))
            }
            NoPlace::Share(most) => Refusal::crowded(format!(
                "one client has {most} of all requests in flight at most, and yours are; try again when some are answered"
            )),
        })
    }
}

/// Refuses a repeated header of which one value is read: a proxy may have read the other one.
fn check_repeated(headers: &HeaderMap) -> Step<()> {
    match SINGLE_HEADERS.into_iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        Some(name) => {
            Err(Refusal::new(StatusCode::BAD_REQUEST, format!("send one `{name}` header")))
        }
        None => Ok(()),
    }
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}

fn check_type(headers: &HeaderMap) -> Step<()> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok());
    let essence = given.and_then(|given| given.split(';').next()).map(str::trim);
    if essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let text = "messages are JSON; send them with `Content-Type: application/json`";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
}

fn config(options: &HttpOptions, closing: &Closing) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.sessions)
        // It becomes a stream as soon as a tool has more to say than its result.
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        // Both were checked before.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(closing.over.clone())
}
