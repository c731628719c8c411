//! What stands between a connection and rmcp.

use super::gate::Gate;
use super::listen::Closing;
use super::message::{Message, misfit};
use super::options::HttpOptions;
use super::places::{NoPlace, Place, Places};
use super::plain::{Kind, PlainCall};
use super::refusal::{Refusal, Step};
use super::sessions::{SessionProblem, Sessions};
use super::{PATH, body, cors, held, lane};
use crate::mcp::server::handler::PoolHandler;
use crate::principal::Principal;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get};
use http_body_util::Full;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::IpAddr;
use std::sync::Arc;

/// Lets in what may be asked, and hands it to rmcp.
pub(super) struct Front {
    options: HttpOptions,
    gate: Gate,
    handler: Arc<PoolHandler>,
    sessions: Arc<Sessions>,
    places: Arc<Places>,
    closing: Closing,
    rmcp: StreamableHttpService<PoolHandler, Sessions>,
}

impl Front {
    /// `bound` is the address that is listened on, if it is known.
    pub(super) fn new(
        mut handler: PoolHandler,
        options: HttpOptions,
        bound: Option<IpAddr>,
        closing: Closing,
    ) -> Self {
        handler.set_ending(closing.begun.clone());
        let handler = Arc::new(handler);
        let sessions = Sessions::new(&options);
        let made = Arc::clone(&handler);
        Self {
            rmcp: StreamableHttpService::new(
                move || {
                    let handler = PoolHandler::clone(&made);
                    Sessions::is_served_by(&handler);
                    Ok(handler)
                },
                Arc::clone(&sessions),
                config(&options, &closing),
            ),
            gate: Gate::new(&options, bound),
            places: Places::new(options.max_requests, options.max_requests_each),
            options,
            handler,
            sessions,
            closing,
        }
    }

    /// The routes that it answers.
    pub(super) fn router(self) -> Router {
        let front = Arc::new(self);
        let answer = move |request: Request| {
            let front = Arc::clone(&front);
            async move { front.answer(request).await }
        };
        Router::new().route(PATH, any(answer)).route("/healthz", get(|| async { "ok\n" }))
    }

    async fn answer(&self, request: Request) -> Response {
        let (parts, mut body) = request.into_parts();
        let origin = match self.gate.origin(&parts) {
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
        let principal = self.gate.principal(&parts).await?;
        self.check_session(&parts.headers, &principal)?;
        parts.extensions.insert(Arc::clone(&principal));
        if parts.method == Method::POST {
            return self.post(parts, body, principal).await;
        }
        let response = self.hand_on(Request::from_parts(parts, Bytes::new()), principal).await?;
        Ok(response.map(|body| held::ending(body, &self.closing.begun)))
    }

    async fn post(
        &self,
        mut parts: Parts,
        body: &mut Body,
        principal: Arc<Principal>,
    ) -> Step<Response> {
        check_type(&parts.headers)?;
        let place = self.place(&principal)?;
        let body = body::read(body, self.options.max_body, self.options.body_within).await?;
        if let Some(call) = PlainCall::read(&parts.headers, &body, &self.handler) {
            match self.lane(call, parts).await {
                Ok(response) => return Ok(response.map(|body| held::holding(body, place))),
                Err(rest) => parts = *rest,
            }
        }
        let message = Message::read(body, &self.handler)?;
        if let Some(arguments) = message.arguments {
            parts.extensions.insert(arguments);
        }
        let request = Request::from_parts(parts, message.body.clone());
        let response = self.hand_on(request, principal).await?;
        // Its type was checked: this is what rmcp says of messages that it does not take.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Err(misfit(&message.body).into());
        }
        Ok(response.map(|body| match message.listens {
            // It takes no place, and is answered when the server ends.
            true => body,
            false => held::holding(body, place),
        }))
    }

    /// Answers a plain call.
    ///
    /// # Errors
    /// It needs rmcp after all: for its session, or because it has none and should.
    async fn lane(&self, call: PlainCall, parts: Parts) -> Result<Response, Box<Parts>> {
        match call.kind {
            Kind::Older if self.options.sessions => Err(Box::new(parts)),
            Kind::Modern | Kind::Older => Ok(lane::answer(&self.handler, call, parts).await),
            Kind::InSession => match self.sessions.client(&parts.headers, &call.id) {
                Some(session) => lane::begin(&self.handler, call, parts, session).await,
                None => Err(Box::new(parts)),
            },
        }
    }

    async fn hand_on(&self, request: Request<Bytes>, principal: Arc<Principal>) -> Step<Response> {
        let is_end = request.method() == Method::DELETE;
        let answer = self.rmcp.handle(request.map(Full::new));
        let mut response = Sessions::for_caller(principal, answer).await?.map(Body::new);
        // The session has ended: clients take rmcp's "accepted" for a failure.
        if is_end && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(response)
    }

    /// Somebody else's session is as good as none.
    fn check_session(&self, headers: &HeaderMap, principal: &Principal) -> Step<()> {
        let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        if id.is_some_and(|id| self.sessions.is_foreign(id, principal)) {
            return Err(SessionProblem::Gone.into());
        }
        Ok(())
    }

    fn place(&self, principal: &Arc<Principal>) -> Step<Place> {
        self.places.take(principal).map_err(|full| match full {
            NoPlace::All(most) => {
                Refusal::busy(format!("{most} requests are in flight; try again later"))
            }
            NoPlace::Share(most) => Refusal::crowded(format!(
                "one client has {most} of all requests in flight at most, and yours are; try again when some are answered"
            )),
        })
    }
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
