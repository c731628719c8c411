//! Streamable HTTP, all protocol versions.
//!
//! rmcp keeps the protocol: versions, headers, streams, sessions. Authentication, limits and the parsing of
//! messages are in front of it. A request passes these steps in order, and each step may reject it:
//!
//! | Step | Rule | File |
//! |---|---|---|
//! | connection | limits on number, headers and idle time; `TCP_NODELAY`; clients that do not read | `open_connections`, `connection`, `write_timeout` |
//! | guard | host, origin, authentication | `request_guard` |
//! | session | belongs to the caller, else 404 | `service` |
//! | accept | JSON, event streams, or both | `accept` |
//! | body | size and time; the oldest unfinished one is dropped | `body`, `pending_bodies` |
//! | concurrency | one of the requests in flight, until the answer ends; a limit per principal | `concurrency_limit` |
//! | fast path | a plain call is answered here; in a session, if it ends soon | `plain`, `call`, `session_call`, `fast_request` |
//! | message | JSON; the arguments of a call are taken out | `message` |
//! | rmcp | versions, headers, streams, sessions | `sessions` |
//!
//! rmcp gets the message with `{}` for the arguments, which reach the handler as a slice of the body: it would parse them
//! twice and reject values that are not objects. Arguments that headers repeat (`x-mcp-header`) stay in, because rmcp compares them.
//!
//! A plain call that sends a message before its result becomes a stream with its own task
//! (`reply`). `sessions` wraps rmcp's: it limits their number, records their owners, ends idle
//! ones, and cancels the call of a stream that is lost and not resumed in time. The limits are not
//! per address, because behind a proxy all clients have the same address.
//!
//! The server ends in two steps: nothing new is accepted and calls finish; then the rest is cancelled.
//!
//! TLS: `tls`, with a certificate that is read again when it changes. Limit: HTTP/1.1.

mod accept;
mod access;
mod address;
mod auth;
mod bearer;
mod body;
mod call;
mod concurrency_limit;
mod connection;
mod cors;
mod fast_request;
#[cfg(feature = "__fuzz")]
mod fuzz;
mod guarded_body;
mod hosts;
mod http_rejection;
mod listen;
mod logged_body;
mod message;
mod open_connections;
mod options;
mod origins;
mod pending_bodies;
mod plain;
mod protected_resource;
mod reply;
mod request_guard;
mod rmcp_rejection;
mod service;
mod session_call;
mod sessions;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod write_timeout;

pub use auth::{AuthRejection, Authenticate, bearer};
pub use bearer::{BearerTokens, TokensError};
#[cfg(feature = "__fuzz")]
pub use fuzz::serve_http;
pub use http_rejection::Reason;
pub use options::HttpOptions;
pub use protected_resource::ProtectedResource;
pub(crate) use session_call::RunningCall;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};

use super::McpServer;
use axum::Router;
use service::Service;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::is_loopback;
use tool_runtime_core::vocabulary::BoxFuture;

impl McpServer {
    /// Serves over HTTP at `/mcp` until shutdown: then no connection is accepted, and calls in flight
    /// have some time to finish, see [`HttpOptions::shutdown`]. Requests for other paths are answered with 404 and the
    /// URL of the endpoint.
    ///
    /// Clients should accept JSON and event streams. Those that accept only JSON, anything (`*/*`), or do not say, get
    /// every answer as one JSON object: progress and logs are left out, and a tool cannot ask them.
    ///
    /// The address is `host:port`, or only a port, such as `8080` or `:8080`, which means 127.0.0.1.
    /// Port 0 lets the system choose; [`Self::serve_http_on`] takes a listener whose port is known.
    ///
    /// ```no_run
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::mcp::McpServer;
    /// use tool_runtime::http::HttpOptions;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let pool = ToolPool::builder().linked().build()?;
    /// McpServer::new(pool, "notes", "1.2.0").serve_http("8080", HttpOptions::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The address is not valid or not available; all invalid options, among them an address that other
    /// machines can reach without authentication.
    ///
    /// # Panics
    /// Outside a tokio runtime with its I/O and time drivers.
    pub async fn serve_http(self, address: &str, options: HttpOptions) -> io::Result<()> {
        self.serve_http_on(bind(address).await?, options).await
    }

    /// Serves over HTTP on a listener, as [`Self::serve_http`] does.
    ///
    /// # Errors
    /// All invalid options, as [`Self::serve_http`] reports them.
    pub async fn serve_http_on(
        self,
        listener: TcpListener,
        options: HttpOptions,
    ) -> io::Result<()> {
        self.boxed_http(listener, options).await
    }

    /// Compiled once, see [`Self::boxed`].
    fn boxed_http(
        self,
        listener: TcpListener,
        options: HttpOptions,
    ) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(async move {
            let bound = checked_address(&self, &listener, &options)?;
            let stop = CancellationToken::new();
            let service =
                Service::new(&self.handler, options.clone(), Some(bound.ip()), stop.clone());
            listen::serve(listener, service.whole_router(), options, stop).await;
            Ok(())
        })
    }

    /// The server as routes for an [`axum`] application: the protocol at `/mcp`, and `/healthz`. Nest the
    /// router for other paths.
    ///
    /// Limits on connections and on slow requests are the application's, and `TCP_NODELAY` must be
    /// set on what it accepts, or streams wait 40 ms for each answer:
    /// `listener.tap_io(|io| drop(io.set_nodelay(true)))`, with `axum::serve::ListenerExt`.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::mcp::McpServer;
    /// use tool_runtime::http::HttpOptions;
    ///
    /// let pool = ToolPool::builder().build()?;
    /// let server = McpServer::new(pool, "notes", "1.2.0");
    /// let app: axum::Router =
    ///     axum::Router::new().nest("/tools", server.into_router(HttpOptions::default())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// State in an `Arc` is shared with the application's own handlers; a tool borrows it as
    /// `&Db`:
    ///
    /// ```
    /// use axum::extract::State;
    /// use axum::routing::get;
    /// use std::sync::{Arc, Mutex};
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::mcp::McpServer;
    /// use tool_runtime::http::HttpOptions;
    ///
    /// struct Db(Mutex<Vec<String>>);
    ///
    /// /// Add a row.
    /// #[tool(destructive = false)]
    /// async fn add_row(
    ///     /// The row's text.
    ///     text: String,
    ///     db: &Db,
    /// ) {
    ///     db.0.lock().unwrap().push(text);
    /// }
    ///
    /// async fn rows(State(db): State<Arc<Db>>) -> String {
    ///     db.0.lock().unwrap().join("\n")
    /// }
    ///
    /// let db = Arc::new(Db(Mutex::default()));
    /// let pool = ToolPool::builder().tool::<AddRowAction>().state(db.clone()).build()?;
    /// let server = McpServer::new(pool, "rows", "1.0.0");
    /// let app: axum::Router = axum::Router::new()
    ///     .route("/rows", get(rows))
    ///     .with_state(db)
    ///     .merge(server.into_router(HttpOptions::default())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// All invalid options.
    pub fn into_router(self, options: HttpOptions) -> io::Result<Router> {
        self.checked(options.problems())?;
        Ok(Service::new(&self.handler, options, None, CancellationToken::new()).router())
    }
}

/// [`McpServer::serve_http`] with a callback that gets the address of the listener.
///
/// # Errors
/// The errors of [`McpServer::serve_http`].
pub async fn serve(
    server: McpServer,
    address: &str,
    options: HttpOptions,
    on_listening: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = bind(address).await?;
    on_listening(checked_address(&server, &listener, &options)?);
    server.serve_http_on(listener, options).await
}

/// Serves an application within the limits of the options on connections, headers and writes, until their shutdown. The
/// application authenticates requests and limits their bodies.
pub async fn serve_router(listener: TcpListener, router: Router, options: HttpOptions) {
    listen::serve(listener, router, options, CancellationToken::new()).await;
}

/// Checks the form of an address for [`bind`].
///
/// # Errors
/// The text is not an address; the error says what to write.
pub fn check_address(address: &str) -> Result<(), String> {
    address::parse(address).map(drop)
}

/// Whether only this machine reaches a valid address for [`bind`].
pub fn is_local_address(address: &str) -> bool {
    address::parse(address).is_ok_and(|(host, _)| is_loopback(host))
}

/// Listens on `host:port`, or only a port, which means 127.0.0.1.
///
/// # Errors
/// The address is not valid or not available.
pub async fn bind(address: &str) -> io::Result<TcpListener> {
    let (host, port) = address::parse(address)
        .map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))?;
    TcpListener::bind((host, port)).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    })
}

/// The address of the listener, if it is loopback or clients authenticate: every client can call tools.
fn checked_address(
    server: &McpServer,
    listener: &TcpListener,
    options: &HttpOptions,
) -> io::Result<SocketAddr> {
    let bound = listener.local_addr()?;
    let mut problems = options.problems().to_vec();
    if !bound.ip().is_loopback() && options.auth.is_none() && !options.insecure_no_auth {
        problems.push(unauthenticated(bound));
    }
    server.checked(&problems)?;
    Ok(bound)
}

fn unauthenticated(bound: SocketAddr) -> String {
    format!(
        "other machines can reach {bound} without authentication: add `--auth-token-env VAR` or `--auth-token-file FILE` (in code `HttpOptions::auth`), or `--insecure-no-auth` if every client that reaches it may call every tool"
    )
}
