//! Options of the HTTP server.

use super::auth::Authenticate;
use super::hosts::Hosts;
use super::origins::Origins;
use super::protected_resource::ProtectedResource;
#[cfg(feature = "tls")]
use super::tls::Tls;
use axum::Router;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time that a request continues after its client has closed its sending side: the client may still read
/// the answer, or have disconnected.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// A condition of readiness, or why it does not hold.
type Readiness = dyn Fn() -> Result<(), String> + Send + Sync;

/// Writes metrics.
type Metrics = dyn Fn() -> String + Send + Sync;

/// Options of serving over HTTP.
///
/// | Option | Default | When exceeded |
/// |---|---|---|
/// | [`allow_host`](Self::allow_host) | this machine's own names | 403 |
/// | [`allow_origin`](Self::allow_origin) | pages of this machine | 403 |
/// | [`auth`](Self::auth) | no authentication | 401, 403 |
/// | [`auth_timeout`](Self::auth_timeout) | 10 seconds | 503 |
/// | [`max_sessions`](Self::max_sessions) | 1000 | 503 |
/// | [`max_sessions_per_principal`](Self::max_sessions_per_principal) | half of all | 429 |
/// | [`session_idle`](Self::session_idle) | 5 minutes | the session ends, then 404 |
/// | [`resume_timeout`](Self::resume_timeout) | 10 seconds | the call is cancelled |
/// | [`max_stream_duration`](Self::max_stream_duration) | no limit | the client resumes the stream |
/// | [`max_requests`](Self::max_requests) in flight | 512 | 503 |
/// | [`max_requests_per_principal`](Self::max_requests_per_principal) | half of all | 429 |
/// | unfinished bodies | `max_requests` bodies, 32 times `max_body` bytes | 503 for the oldest |
/// | [`max_connections`](Self::max_connections) | 4096 | the longest idle connection is closed |
/// | [`max_body`](Self::max_body) | 4 MiB | 413 |
/// | [`max_headers`](Self::max_headers) | 32 KiB, 100 of them | 431 |
/// | [`body_timeout`](Self::body_timeout) | 30 seconds | 408 |
/// | [`idle_timeout`](Self::idle_timeout) | 75 seconds | the connection is closed |
/// | [`write_timeout`](Self::write_timeout) | 30 seconds | the connection is closed |
/// | [`shutdown`](Self::shutdown) | never; calls have 10 seconds | they are cancelled |
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::CancellationToken;
/// use tool_runtime::http::{BearerTokens, HttpOptions};
///
/// let end = CancellationToken::new();
/// let options = HttpOptions::default()
///     .auth(BearerTokens::parse("ada:8fQm2x")?)
///     .allow_host("tools.example.com")
///     .max_requests_per_principal(64)
///     .sessions(false)
///     .shutdown(end.clone(), Duration::from_secs(5));
/// # Ok::<(), tool_runtime::http::TokensError>(())
/// ```
#[derive(Clone)]
pub struct HttpOptions {
    pub(super) sessions: bool,
    pub(super) max_sessions: usize,
    pub(super) max_sessions_per_principal: Option<usize>,
    pub(super) session_idle: Duration,
    pub(super) resume_timeout: Duration,
    pub(super) max_stream_duration: Option<Duration>,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Origins,
    pub(super) auth: Option<Arc<dyn Authenticate>>,
    pub(super) auth_timeout: Duration,
    pub(super) resource_metadata: Option<String>,
    pub(super) protected_resource: Option<ProtectedResource>,
    pub(super) insecure_no_auth: bool,
    pub(super) max_requests: usize,
    pub(super) max_requests_per_principal: Option<usize>,
    pub(super) max_connections: usize,
    pub(super) max_body: usize,
    pub(super) max_headers: usize,
    pub(super) body_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) write_timeout: Duration,
    pub(super) half_closed: Duration,
    pub(super) shutdown: CancellationToken,
    pub(super) readiness: Vec<Arc<Readiness>>,
    pub(super) metrics: Option<Arc<Metrics>>,
    pub(super) drain: Duration,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Tls>,
    pub(super) routes: Router,
    problems: Vec<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            sessions: true,
            max_sessions: 1000,
            max_sessions_per_principal: None,
            session_idle: Duration::from_secs(300),
            resume_timeout: Duration::from_secs(10),
            max_stream_duration: None,
            hosts: Vec::new(),
            origins: Origins::default(),
            auth: None,
            auth_timeout: Duration::from_secs(10),
            resource_metadata: None,
            protected_resource: None,
            insecure_no_auth: false,
            max_requests: 512,
            max_requests_per_principal: None,
            max_connections: 4096,
            max_body: 4 << 20,
            max_headers: 32 << 10,
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            half_closed: HALF_CLOSED,
            shutdown: CancellationToken::new(),
            readiness: Vec::new(),
            metrics: None,
            drain: Duration::from_secs(10),
            #[cfg(feature = "tls")]
            tls: None,
            routes: Router::new(),
            problems: Vec::new(),
        }
    }
}

impl HttpOptions {
    /// Whether clients that send `initialize` get a session, in which tools can send them questions
    /// and notifications. Default: true. Clients of 2026-07-28 never have one.
    #[must_use]
    pub fn sessions(mut self, sessions: bool) -> Self {
        self.sessions = sessions;
        self
    }

    /// Limits the open sessions. Default: 1000.
    #[must_use]
    pub fn max_sessions(mut self, limit: usize) -> Self {
        self.max_sessions = limit;
        self
    }

    /// Limits the open sessions of one [`Principal`](tool_runtime_core::vocabulary::Principal). Default: half of
    /// [`max_sessions`](Self::max_sessions).
    ///
    /// Anonymous clients are indistinguishable, so no per-principal limit applies: behind one proxy,
    /// all have the same address.
    #[must_use]
    pub fn max_sessions_per_principal(mut self, limit: usize) -> Self {
        self.max_sessions_per_principal = Some(limit);
        self
    }

    /// Ends a session after this time without a request, a running call or an open event stream. Default: 5
    /// minutes.
    #[must_use]
    pub fn session_idle(mut self, limit: Duration) -> Self {
        self.session_idle = limit;
        self
    }

    /// Sets how long a call in a session continues after its connection was lost, so that the client
    /// can resume the stream with `Last-Event-ID`. Default: 10 seconds. A session
    /// keeps at most 16 such calls; others are cancelled immediately, as are calls without a session.
    ///
    /// A connection counts as lost two seconds after its client has closed its sending side: until
    /// then the client gets its answer.
    #[must_use]
    pub fn resume_timeout(mut self, limit: Duration) -> Self {
        self.resume_timeout = limit;
        self
    }

    /// Limits the duration of the stream of a call in a session. The call continues, and the client resumes
    /// the stream with `Last-Event-ID`, about three seconds later, repeatedly if necessary. For proxies that
    /// cut long responses. Default: no limit.
    #[must_use]
    pub fn max_stream_duration(mut self, limit: Duration) -> Self {
        self.max_stream_duration = Some(limit);
        self
    }

    /// Answers requests whose `Host` is this name, at any port or at the one given. Default:
    /// `localhost`, `127.0.0.1`, `::1`, and the address of the listener. `*` allows every name, and with it
    /// DNS rebinding by any page in a browser on this machine. An invalid host is reported when the server
    /// starts.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        let host = host.into();
        self.problems.extend(Hosts::check(&host).err());
        self.hosts.push(host);
        self
    }

    /// Allows requests of pages of this origin: `https://example.com`, with `:port`, or with `:*` for any
    /// port; `null`, or `*` for all. Default: pages of `localhost` and loopback addresses.
    /// Requests without an `Origin` do not come from a page. An invalid origin is reported when the
    /// server starts.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl AsRef<str>) -> Self {
        self.problems.extend(self.origins.allow(origin.as_ref()).err());
        self
    }

    /// The invalid options.
    #[doc(hidden)]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Authenticates all requests. Default: no authentication, which is an error if other machines can
    /// connect, see [`Self::insecure_no_auth`].
    #[must_use]
    pub fn auth(mut self, auth: impl Authenticate) -> Self {
        self.auth = Some(Arc::new(auth));
        self
    }

    /// Limits the time of one authentication. Default: 10 seconds. A timeout is answered with 503.
    #[must_use]
    pub fn auth_timeout(mut self, limit: Duration) -> Self {
        self.auth_timeout = limit;
        self
    }

    /// Sets the URL of the protected resource's metadata (RFC 9728) in challenges, from which clients find out how
    /// to get a token. Default: none. A URL may contain only
    /// visible ASCII without quotes and backslashes; others are reported when the server starts.
    #[must_use]
    pub fn resource_metadata(mut self, url: impl Into<String>) -> Self {
        let url: String = url.into();
        let is_plain = url.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\');
        if is_plain {
            self.resource_metadata = Some(url);
        } else {
            let problem = format!("`{url}` is not an address; write `https://example.com/...`");
            self.problems.push(problem);
        }
        self
    }

    /// Serves the metadata of the server as a protected resource (RFC 9728), and names its URL in challenges.
    /// Default: none.
    #[must_use]
    pub fn protected_resource(mut self, resource: ProtectedResource) -> Self {
        match resource.metadata_url() {
            Some(url) => {
                self.protected_resource = Some(resource);
                self.resource_metadata(url)
            }
            None => {
                let problem =
                    "the protected resource is not a valid URL; write `https://example.com/mcp`";
                self.problems.push(problem.to_owned());
                self
            }
        }
    }

    /// Serves other machines without authentication: they can call every tool. For networks with access control.
    #[must_use]
    pub fn insecure_no_auth(mut self) -> Self {
        self.insecure_no_auth = true;
        self
    }

    /// Limits the requests in flight, including the streams of calls, without streams that only listen.
    /// Default: 512.
    ///
    /// A request is in flight once its body has arrived. The same limit applies to requests whose body is still
    /// arriving, which may have 32 times [`max_body`](Self::max_body) bytes in total. Beyond either limit, the oldest
    /// of them are answered with 503: clients that never send a body do not block others.
    #[must_use]
    pub fn max_requests(mut self, limit: usize) -> Self {
        self.max_requests = limit;
        self
    }

    /// Limits the requests in flight of one [`Principal`](tool_runtime_core::vocabulary::Principal). Default: half of
    /// [`max_requests`](Self::max_requests). Does not apply to anonymous clients, see
    /// [`max_sessions_per_principal`](Self::max_sessions_per_principal).
    #[must_use]
    pub fn max_requests_per_principal(mut self, limit: usize) -> Self {
        self.max_requests_per_principal = Some(limit);
        self
    }

    /// Limits the open connections. Default: 4096. Beyond that, the connection that has been idle
    /// longest is closed for a new one: it is between requests, or has sent incomplete headers. If all are
    /// busy, the new one is answered with 503 and closed.
    #[must_use]
    pub fn max_connections(mut self, limit: usize) -> Self {
        self.max_connections = limit;
        self
    }

    /// Limits the bytes of a message. Default: 4 MiB.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Limits the bytes of all headers of a request. Default: 32 KiB. A request may have 100 headers.
    #[must_use]
    pub fn max_headers(mut self, bytes: usize) -> Self {
        self.max_headers = bytes;
        self
    }

    /// Limits the time in which a message arrives, from the end of its headers. Default: 30 seconds.
    #[must_use]
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.body_timeout = limit;
        self
    }

    /// Limits the time until a connection has sent the headers of a request, whether it is idle or slow.
    /// Default: 75 seconds.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// Limits the time of a pending write to a client that does not read. Default: 30 seconds.
    #[must_use]
    pub fn write_timeout(mut self, limit: Duration) -> Self {
        self.write_timeout = limit;
        self
    }

    /// Sets how long a request continues after its client has closed its sending side. Default: 2 seconds.
    #[doc(hidden)]
    #[must_use]
    pub fn half_closed(mut self, limit: Duration) -> Self {
        self.half_closed = limit;
        self
    }

    /// Adds a condition of readiness: `GET /readyz` is answered with 200 while all hold, and else with 503 and the reasons,
    /// which everybody can read. Two conditions are always there: the server is not shutting down, and calls can be
    /// recorded. `GET /healthz` says only that the server runs.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use tool_runtime::http::HttpOptions;
    ///
    /// let is_loaded = Arc::new(AtomicBool::new(false));
    /// let check = Arc::clone(&is_loaded);
    /// let options = HttpOptions::default().ready_when(move || match check.load(Ordering::Relaxed) {
    ///     true => Ok(()),
    ///     false => Err("the index is being loaded".to_owned()),
    /// });
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn ready_when(
        mut self,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.readiness.push(Arc::new(check));
        self
    }

    /// Serves metrics in the text format of Prometheus at `GET /metrics`. With authentication, callers need the scope
    /// `metrics`. Default: no metrics.
    ///
    /// ```
    /// use tool_runtime::http::HttpOptions;
    ///
    /// let options = HttpOptions::default().metrics(|| "jobs_total 5\n".to_owned());
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn metrics(mut self, text: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Arc::new(text));
        self
    }

    /// Serves over TLS. Default: without, so that a proxy must encrypt. Routes in an application are encrypted by that.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// `https` or `http`.
    #[doc(hidden)]
    pub fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return "https";
        }
        "http"
    }

    /// Serves routes beside `/mcp`, such as a page for people. Host and origin of their requests are checked, and they are
    /// logged; the origin of the server itself is allowed. They authenticate and limit bodies themselves. Not with
    /// [`into_router`](crate::McpServer::into_router): an application has routes of its own.
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use tool_runtime::http::HttpOptions;
    ///
    /// let options = HttpOptions::default().routes(Router::new().route("/about", get(|| async { "Notes" })));
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn routes(mut self, routes: Router) -> Self {
        self.routes = self.routes.merge(routes);
        self
    }

    /// Sets the token that shuts the server down, and the time for calls in flight to finish. Default: no
    /// token, and 10 seconds. Streams that only listen end immediately. With
    /// [`into_router`](crate::McpServer::into_router), only these end: the application ends the rest.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken, drain: Duration) -> Self {
        self.shutdown = token;
        self.drain = drain;
        self
    }
}

/// Omits the authentication.
impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("sessions", &self.sessions)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("has_auth", &self.auth.is_some())
            .finish_non_exhaustive()
    }
}
