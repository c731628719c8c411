//! What stands between a connection and rmcp.

use super::PATH;
use super::listen::Closing;
use super::options::HttpOptions;
use crate::mcp::server::handler::PoolHandler;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{any, get};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// Lets in what may be asked, and hands it to rmcp.
pub(super) struct Front {
    rmcp: StreamableHttpService<PoolHandler, LocalSessionManager>,
}

impl Front {
    pub(super) fn new(handler: PoolHandler, options: &HttpOptions, closing: &Closing) -> Self {
        let rmcp = StreamableHttpService::new(
            move || Ok(handler.for_session()),
            Arc::default(),
            config(options, closing),
        );
        Self { rmcp }
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
        self.rmcp.handle(request).await.map(Body::new)
    }
}

fn config(options: &HttpOptions, closing: &Closing) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.sessions)
        // It becomes a stream as soon as a tool has more to say than its result.
        .with_json_response(true)
        .with_cancellation_token(closing.over.clone())
}
