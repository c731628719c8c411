//! The HTTP service in front of rmcp.

use super::accept::Accept;
use super::access::{Access, Rejections};
use super::concurrency_limit::{ConcurrencyLimit, LimitReached, Permit};
use super::guarded_body::guarded;
use super::http_rejection::{HttpRejection, HttpResult};
use super::message::{Message, invalid_message};
use super::options::HttpOptions;
use super::pending_bodies::PendingBodies;
use super::request_guard::RequestGuard;
use super::session_call::Progress;
use super::sessions::{Session, SessionProblem, Sessions};
use super::{body, call, cors, plain, rmcp_rejection, session_call};
use crate::arguments::RawArguments;
use crate::handler::PoolHandler;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use futures_util::StreamExt as _;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::IpAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::vocabulary::Principal;

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

/// The text format of Prometheus.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The scope that reads metrics, where callers authenticate.
const METRICS_SCOPE: &str = "metrics";

/// Limit on the bytes of arriving messages, in multiples of the longest message.
const PENDING_MESSAGES: usize = 32;

/// Checks requests, answers plain calls, and passes the rest to rmcp.
pub(super) struct Service {
    options: HttpOptions,
    guard: RequestGuard,
    handler: Arc<PoolHandler>,
    sessions: Arc<Sessions>,
    limit: Arc<ConcurrencyLimit>,
    pending: Arc<PendingBodies>,
    rejections: Rejections,
    rmcp: StreamableHttpService<PoolHandler, Sessions>,
}

/// The service, for routes beside it.
#[derive(Clone)]
struct Beside(Arc<Service>);

/// Checks and logs a request for a route beside the endpoint.
async fn answer_beside(
    State(Beside(service)): State<Beside>,
    request: Request,
    next: Next,
) -> Response {
    let access = Access::begin(&request);
    let (parts, mut body) = request.into_parts();
    let response = match service.guard.check_page(&parts) {
        Ok(()) => {
            let limit = service.options.auth_timeout + service.options.body_timeout;
            let answer = next.run(Request::from_parts(parts, body));
            tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
                (StatusCode::REQUEST_TIMEOUT, "the request took too long\n").into_response()
            })
        }
        Err(rejection) => rejection.after(&mut body).await,
    };
    access.end(response, &service.rejections)
}

impl Service {
    /// `bound` is the address of the listener, if it is known.
    pub(super) fn new(
        handler: &PoolHandler,
        options: HttpOptions,
        bound: Option<IpAddr>,
        stop: CancellationToken,
    ) -> Self {
        let mut handler = handler.clone();
        handler.shutdown = options.shutdown.clone();
        handler.transport = "tcp";
        let handler = Arc::new(handler);
        let sessions = Sessions::new(&options, Arc::clone(&handler));
        let template = Arc::clone(&handler);
        Self {
            rmcp: StreamableHttpService::new(
                move || {
                    let handler = template.for_client(&CancellationToken::new());
                    Sessions::set_handler(&handler);
                    Ok(handler)
                },
                Arc::clone(&sessions),
                config(&options, stop),
            ),
            guard: RequestGuard::new(&options, bound),
            limit: ConcurrencyLimit::new(options.max_requests, options.max_requests_per_principal),
            pending: PendingBodies::new(
                options.max_requests,
                options.max_body.saturating_mul(PENDING_MESSAGES),
            ),
            rejections: Rejections::default(),
            options,
            handler,
            sessions,
        }
    }

    /// The routes of the service.
    pub(super) fn router(self) -> Router {
        self.routes(false)
    }

    /// The routes of a server of its own, which names the endpoint where nothing is served.
    pub(super) fn whole_router(self) -> Router {
        self.routes(true)
    }

    fn routes(self, is_whole: bool) -> Router {
        let resource = self.options.protected_resource.as_ref();
        let metadata = resource.map(|resource| resource.router(&self.handler.pool));
        let service = Arc::new(self);
        let readiness = Arc::clone(&service);
        let answer = |is_endpoint: bool| {
            let service = Arc::clone(&service);
            move |request: Request| {
                let service = Arc::clone(&service);
                async move { service.answer(request, is_endpoint).await }
            }
        };
        let mut router = Router::new()
            .route(PATH, any(answer(true)))
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(move || async move { readiness.readiness() }));
        if service.options.metrics.is_some() {
            let service = Arc::clone(&service);
            let answer = move |request: Request| async move { service.metrics(request).await };
            router = router.route("/metrics", get(answer));
        }
        if is_whole {
            let beside = Beside(Arc::clone(&service));
            let routes = service.options.routes.clone();
            router =
                router.merge(routes.layer(middleware::from_fn_with_state(beside, answer_beside)));
            router = router.fallback(answer(false));
        }
        match metadata {
            Some(metadata) => router.merge(metadata),
            None => router,
        }
    }

    /// Whether requests should be sent to this server, and why not.
    fn readiness(&self) -> (StatusCode, String) {
        let stops = self.options.shutdown.is_cancelled().then(|| "the server stops".to_owned());
        let checks = self.options.readiness.iter().filter_map(|check| check().err());
        let recording = self.handler.pool.recording_problem();
        let reasons: Vec<String> = stops.into_iter().chain(recording).chain(checks).collect();
        match reasons.is_empty() {
            true => (StatusCode::OK, "ready\n".to_owned()),
            false => (StatusCode::SERVICE_UNAVAILABLE, reasons.join("\n") + "\n"),
        }
    }

    /// The metrics, for callers who may read them.
    async fn metrics(&self, request: Request) -> Response {
        let mut access = Access::begin(&request);
        let (parts, mut body) = request.into_parts();
        let response = match self.checked_metrics(&parts, &mut access).await {
            Ok(text) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
            Err(rejection) => rejection.after(&mut body).await,
        };
        access.end(response, &self.rejections)
    }

    async fn checked_metrics(&self, parts: &Parts, access: &mut Access) -> HttpResult<String> {
        self.guard.check_page(parts)?;
        let principal = self.guard.principal(parts).await?;
        access.principal = Some(Arc::clone(&principal)).filter(|it| !it.is_anonymous());
        if self.options.auth.is_some() && !principal.has_scope(METRICS_SCOPE) {
            let missing = vec![METRICS_SCOPE.to_owned()];
            return Err(self.guard.lacks_scopes(missing, &principal));
        }
        Ok(self.options.metrics.as_ref().map(|metrics| metrics()).unwrap_or_default())
    }

    async fn answer(&self, request: Request, is_endpoint: bool) -> Response {
        let mut access = Access::begin(&request);
        let response = self.answered(request, is_endpoint, &mut access).await;
        access.end(response, &self.rejections)
    }

    async fn answered(&self, request: Request, is_endpoint: bool, access: &mut Access) -> Response {
        let (parts, mut body) = request.into_parts();
        let origin = match self.guard.check_origin(&parts) {
            Ok(origin) => origin,
            Err(rejection) => return rejection.after(&mut body).await,
        };
        let served = match origin {
            Some(_) if cors::is_preflight(&parts) => Ok(cors::preflight(&parts.headers)),
            _ if !is_endpoint => Err(not_found(&parts, self.options.scheme())),
            _ => self.serve(parts, &mut body, access).await,
        };
        let mut response = match served {
            Ok(response) => response,
            Err(rejection) => rejection.after(&mut body).await,
        };
        if let Some(origin) = origin {
            cors::expose(&mut response, origin);
        }
        response
    }

    /// Serves a request with an allowed host and origin.
    async fn serve(
        &self,
        mut parts: Parts,
        body: &mut Body,
        access: &mut Access,
    ) -> HttpResult<Response> {
        let principal = self.guard.principal(&parts).await?;
        access.principal = Some(Arc::clone(&principal)).filter(|it| !it.is_anonymous());
        check_repeated(&parts.headers)?;
        self.check_session(&parts, &principal)?;
        parts.extensions.insert(Arc::clone(&principal));
        if parts.method == Method::POST {
            return self.post(parts, body, principal, access).await;
        }
        let response = self.forward(Request::from_parts(parts, Bytes::new()), principal).await?;
        if response.status() != StatusCode::OK {
            return Ok(response);
        }
        // A stream that only listens ends with the server.
        let shutdown = self.options.shutdown.clone().cancelled_owned();
        let events = |body: Body| Body::from_stream(body.into_data_stream().take_until(shutdown));
        Ok(response.map(events))
    }

    async fn post(
        &self,
        mut parts: Parts,
        body: &mut Body,
        principal: Arc<Principal>,
        access: &mut Access,
    ) -> HttpResult<Response> {
        check_type(&parts.headers)?;
        let accept = Accept::from_headers(&parts.headers)?;
        let HttpOptions { max_body, body_timeout, .. } = self.options;
        let body = body::read(body, max_body, body_timeout, &self.pending).await?;
        let permit = self.take_permit(&principal)?;
        parts.extensions.insert(access.outcome.clone());
        if let Some(is_stateless) = self.plain_version(&parts.headers)
            && let Some(call) = plain::call(&mut parts, &body, is_stateless, &self.handler)
        {
            access.asks("tools/call", Some(&call.id), call.meta.traceparent());
            access.calls(&call.subject.name);
            let arguments = parts.extensions.get::<RawArguments>();
            self.check_scopes(&call.subject.name, arguments, &principal).await?;
            let response = call::answer(&self.handler, call, parts, is_stateless).await;
            return Ok(response.map(|body| guarded(body, permit)));
        }
        if let Some(session) = self.plain_session(&parts.headers)
            && let Some(peer) = session.handler.session.peer()
            && let Some(call) = plain::call(&mut parts, &body, false, &session.handler)
        {
            access.asks("tools/call", Some(&call.id), call.meta.traceparent());
            access.calls(&call.subject.name);
            let arguments = parts.extensions.get::<RawArguments>();
            self.check_scopes(&call.subject.name, arguments, &principal).await?;
            match session_call::answer(&session, peer, call, &parts).await? {
                Progress::Answered(response) => {
                    return Ok(response.map(|body| guarded(body, permit)));
                }
                Progress::Running(call) => drop(parts.extensions.insert(call)),
            }
        }
        let message = Message::read(body, &self.handler)?;
        if let Some(method) = &message.method {
            access.asks(method, message.id.as_ref(), message.traceparent.as_deref());
        }
        if let Some(tool) = &message.tool {
            access.calls(tool);
            self.check_scopes(tool, message.arguments.as_ref(), &principal).await?;
        }
        if let Some(arguments) = message.arguments {
            parts.extensions.insert(arguments);
        }
        if message.listens {
            accept.check_subscription()?;
        }
        accept.set_for_rmcp(&mut parts.headers);
        let session = session_of(&parts.headers).map(str::to_owned);
        let request = Request::from_parts(parts, message.body.clone());
        let response = self.forward(request, principal).await?;
        // The content type was checked: rmcp answers invalid messages with this status.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Err(self.reject(&message.body, session).await);
        }
        let questions = session.as_deref().map(|session| (&*self.sessions, session));
        let response = accept.convert(response, questions).await?;
        if response.status().is_client_error() {
            return Err(rmcp_rejection::json_rpc_error(response, &message.body).await);
        }
        Ok(response.map(|body| match message.listens {
            // A subscription does not count as a request in flight, and is answered when the server
            // shuts down.
            true => body,
            false => guarded(body, permit),
        }))
    }

    /// Rejects a call of a tool whose scopes the caller lacks. The pool records the call.
    async fn check_scopes(
        &self,
        tool: &str,
        arguments: Option<&RawArguments>,
        principal: &Arc<Principal>,
    ) -> HttpResult<()> {
        let pool = &self.handler.pool;
        let missing = pool.missing_scopes(tool, principal);
        if missing.is_empty() {
            return Ok(());
        }
        if pool.has_governors() {
            let call = ToolCall::new(tool, arguments.map_or("{}", RawArguments::get));
            pool.for_principal(Arc::clone(principal)).call(call).await;
        }
        Err(self.guard.lacks_scopes(missing, principal))
    }

    /// The answer to a message that rmcp rejects. If the message answers a question, the question fails.
    async fn reject(&self, body: &[u8], session: Option<String>) -> HttpRejection {
        let rejection = invalid_message(body);
        if let Some((session, answer)) = session.zip(rejection.failed_answer()) {
            // A session that has ended has no open questions.
            drop(self.sessions.accept_message(&session.into(), answer).await);
        }
        rejection.into()
    }

    /// Whether the client uses 2026-07-28; `None` if rmcp must serve the request. An older client
    /// without a session must open one first, if there are sessions.
    fn plain_version(&self, headers: &HeaderMap) -> Option<bool> {
        plain::version(headers).filter(|is_stateless| *is_stateless || !self.options.sessions)
    }

    /// The session of a request, if the fast path may answer it.
    fn plain_session(&self, headers: &HeaderMap) -> Option<Arc<Session>> {
        self.sessions.find(plain::session(headers)?)
    }

    async fn forward(
        &self,
        request: Request<Bytes>,
        principal: Arc<Principal>,
    ) -> HttpResult<Response> {
        let is_end = request.method() == Method::DELETE;
        let answer = self.rmcp.handle(request.map(Full::new));
        let mut response = Sessions::for_caller(principal, answer).await?.map(Body::new);
        // rmcp's answer to an unknown session has no content type.
        let is_typed = response.headers().contains_key(header::CONTENT_TYPE);
        if response.status() == StatusCode::NOT_FOUND && !is_typed {
            return Err(SessionProblem::NotFound.into());
        }
        // The session has ended: clients take rmcp's "accepted" for a failure.
        if is_end && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(response)
    }

    /// Rejects the session of another principal as unknown. rmcp rejects unknown sessions, except in
    /// `DELETE`.
    fn check_session(&self, parts: &Parts, principal: &Principal) -> HttpResult<()> {
        let Some(id) = session_of(&parts.headers) else { return Ok(()) };
        let is_end = parts.method == Method::DELETE && self.options.sessions;
        match self.sessions.belongs_to(id, principal).unwrap_or(!is_end) {
            true => Ok(()),
            false => Err(SessionProblem::NotFound.into()),
        }
    }

    fn take_permit(&self, principal: &Arc<Principal>) -> HttpResult<Permit> {
        self.limit.take(principal).map_err(|full| match full {
            LimitReached::Total(limit) => {
                HttpRejection::busy(format!("{limit} requests are in flight; try again later"))
            }
            LimitReached::Principal(limit) => HttpRejection::too_many(format!(
                "one client has {limit} of all requests in flight at most, and yours are; try again when some are answered"
            )),
        })
    }
}

/// The rejection of a request for another path, which names the endpoint.
fn not_found(parts: &Parts, scheme: &str) -> HttpRejection {
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or(parts.uri.authority().map(|authority| authority.as_str()));
    let url = host.map_or_else(|| PATH.to_owned(), |host| format!("{scheme}://{host}{PATH}"));
    let path = excerpt(parts.uri.path());
    let text = format!(
        "nothing is served at `{path}`; this server speaks MCP over Streamable HTTP at `{PATH}`: set the URL to {url}"
    );
    HttpRejection::new(StatusCode::NOT_FOUND, text)
}

/// Rejects a repeated header of which one value is read: a proxy may have read the other one.
fn check_repeated(headers: &HeaderMap) -> HttpResult<()> {
    match SINGLE_HEADERS.into_iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        Some(name) => {
            Err(HttpRejection::new(StatusCode::BAD_REQUEST, format!("send one `{name}` header")))
        }
        None => Ok(()),
    }
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}

fn check_type(headers: &HeaderMap) -> HttpResult<()> {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|content_type| content_type.to_str().ok());
    let media_type =
        content_type.and_then(|content_type| content_type.split(';').next()).map(str::trim);
    if media_type.is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let text = "messages are JSON; send them with `Content-Type: application/json`";
    Err(HttpRejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
}

fn config(options: &HttpOptions, stop: CancellationToken) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.sessions)
        // The answer becomes a stream as soon as a tool sends a message before its result.
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        // Both were checked before.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(stop)
}
