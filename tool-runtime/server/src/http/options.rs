//! Options of the HTTP server.

use super::auth::Authenticate;
use super::origins::Origins;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What can be set about serving over HTTP.
///
/// | What | Default | Beyond it |
/// |---|---|---|
/// | [`allow_host`](Self::allow_host) | this machine's own names | 403 |
/// | [`allow_origin`](Self::allow_origin) | pages of this machine | 403 |
/// | [`auth`](Self::auth) | nobody has to authenticate | 401, 403 |
/// | [`auth_timeout`](Self::auth_timeout) | 10 seconds | 503 |
/// | [`max_sessions`](Self::max_sessions) | 1000 | 503 |
/// | [`max_sessions_per_principal`](Self::max_sessions_per_principal) | half of all | 429 |
/// | [`session_idle`](Self::session_idle) | 5 minutes | the session ends, then 404 |
/// | [`resume_timeout`](Self::resume_timeout) | 10 seconds | the call is cancelled |
/// | [`max_stream_duration`](Self::max_stream_duration) | never | the client comes back for the answer |
/// | [`max_requests`](Self::max_requests) in flight | 512 | 503 |
/// | [`max_requests_per_principal`](Self::max_requests_per_principal) | half of all | 429 |
/// | messages that are arriving | as many as `max_requests`, 32 times `max_body` | 503 for the oldest |
/// | [`max_connections`](Self::max_connections) | 4096 | the longest idle connection is closed |
/// | [`max_body`](Self::max_body) | 4 MiB | 413 |
/// | [`max_headers`](Self::max_headers) | 32 KiB, 100 of them | 431 |
/// | [`body_timeout`](Self::body_timeout) | 30 seconds | 408 |
/// | [`idle_timeout`](Self::idle_timeout) | 75 seconds | the connection is closed |
/// | [`read_timeout`](Self::read_timeout) | 30 seconds | the connection is closed |
/// | [`shutdown`](Self::shutdown) | never; calls have 10 seconds | they are cancelled |
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::{BearerTokens, CancellationToken, HttpOptions};
///
/// let end = CancellationToken::new();
/// let options = HttpOptions::default()
///     .auth(BearerTokens::parse("ada:8fQm2x")?)
///     .allow_host("tools.example.com")
///     .max_requests_per_principal(64)
///     .sessions(false)
///     .shutdown(end.clone(), Duration::from_secs(5));
/// # Ok::<(), tool_runtime::TokensError>(())
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
    pub(super) insecure_no_auth: bool,
    pub(super) max_requests: usize,
    pub(super) max_requests_per_principal: Option<usize>,
    pub(super) max_connections: usize,
    pub(super) max_body: usize,
    pub(super) max_headers: usize,
    pub(super) body_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) shutdown: CancellationToken,
    pub(super) drain: Duration,
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
            insecure_no_auth: false,
            max_requests: 512,
            max_requests_per_principal: None,
            max_connections: 4096,
            max_body: 4 << 20,
            max_headers: 32 << 10,
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            read_timeout: Duration::from_secs(30),
            shutdown: CancellationToken::new(),
            drain: Duration::from_secs(10),
            problems: Vec::new(),
        }
    }
}

impl HttpOptions {
    /// Whether clients that `initialize` get a session, in which tools can ask them and
    /// notifications reach them. Default: true. Clients of 2026-07-28 never have one.
    #[must_use]
    pub fn sessions(mut self, sessions: bool) -> Self {
        self.sessions = sessions;
        self
    }

    /// Sets how many sessions there may be at once. Default: 1000.
    #[must_use]
    pub fn max_sessions(mut self, most: usize) -> Self {
        self.max_sessions = most;
        self
    }

    /// Sets how many sessions one [`Principal`](tool_runtime_core::Principal) may have at once. Default: half
    /// of [`max_sessions`](Self::max_sessions).
    ///
    /// Who has not authenticated cannot be told apart, and has no share: the addresses of clients
    /// behind one proxy are the same.
    #[must_use]
    pub fn max_sessions_per_principal(mut self, most: usize) -> Self {
        self.max_sessions_per_principal = Some(most);
        self
    }

    /// Sets how long a session lives in which nothing happens: no request, no call that runs, no
    /// client that listens. Default: 5 minutes.
    #[must_use]
    pub fn session_idle(mut self, limit: Duration) -> Self {
        self.session_idle = limit;
        self
    }

    /// Sets how long a call in a session goes on after its connection was lost, so that the client
    /// can come back for the answer with `Last-Event-ID`. Default: 10 seconds. Without a session
    /// such a call is cancelled, and so is the 17th of a session.
    ///
    /// A connection counts as lost two seconds after its client has closed its sending side: until
    /// then the client gets its answer.
    #[must_use]
    pub fn resume_timeout(mut self, limit: Duration) -> Self {
        self.resume_timeout = limit;
        self
    }

    /// Closes the stream of a call in a session after this long, whatever the call still does: the
    /// client comes back for the rest with `Last-Event-ID`, some three seconds later, as often as
    /// it takes. For proxies that cut answers which take long. Default: never.
    #[must_use]
    pub fn max_stream_duration(mut self, limit: Duration) -> Self {
        self.max_stream_duration = Some(limit);
        self
    }

    /// Answers requests whose `Host` is this name, at any port or at the one given. Default:
    /// `localhost`, `127.0.0.1`, `::1`, and the address that is listened on; `*` is every name,
    /// which lets any page in a browser of this machine in.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Lets pages of this origin ask: `https://example.com`, with `:port`, or with `:*` for any
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

    /// Has everybody authenticate. Default: nobody has to, which is refused where others than this
    /// machine could ask, see [`Self::insecure_no_auth`].
    #[must_use]
    pub fn auth(mut self, auth: impl Authenticate) -> Self {
        self.auth = Some(Arc::new(auth));
        self
    }

    /// Sets how long it may take to find out who is asking. Default: 10 seconds.
    #[must_use]
    pub fn auth_timeout(mut self, limit: Duration) -> Self {
        self.auth_timeout = limit;
        self
    }

    /// Sets the address of the protected resource's metadata (RFC 9728) that challenges name, from
    /// which clients learn where to get a token. Default: none. An address with anything but visible
    /// ASCII, with quotes or with backslashes is reported when the server starts.
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

    /// Serves others than this machine although nobody has to authenticate: they can call every
    /// tool. For networks where something else decides who gets through.
    #[must_use]
    pub fn insecure_no_auth(mut self) -> Self {
        self.insecure_no_auth = true;
        self
    }

    /// Sets how many requests may be in flight, streams of calls among them; streams that only
    /// listen are not. Default: 512.
    ///
    /// A request is in flight once its message has arrived. As many messages may be arriving, with
    /// 32 times [`max_body`](Self::max_body) bytes together; beyond that the oldest are answered
    /// with 503, so that clients which announce messages and send none take no places.
    #[must_use]
    pub fn max_requests(mut self, most: usize) -> Self {
        self.max_requests = most;
        self
    }

    /// Sets how many requests of one [`Principal`](tool_runtime_core::Principal) may be in flight. Default: half of
    /// [`max_requests`](Self::max_requests). Who has not authenticated has no share, see
    /// [`max_sessions_per_principal`](Self::max_sessions_per_principal).
    #[must_use]
    pub fn max_requests_per_principal(mut self, most: usize) -> Self {
        self.max_requests_per_principal = Some(most);
        self
    }

    /// Sets how many connections there may be. Default: 4096. Beyond that the one that has been
    /// idle longest is closed for a new one: it is between requests, or has sent less than the whole
    /// head of one. If all are busy, the new one is answered with 503 and closed.
    #[must_use]
    pub fn max_connections(mut self, most: usize) -> Self {
        self.max_connections = most;
        self
    }

    /// Sets how many bytes a message may have. Default: 4 MiB.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets how many bytes the headers of a request may have together. Default: 32 KiB. There may
    /// be 100 of them.
    #[must_use]
    pub fn max_headers(mut self, bytes: usize) -> Self {
        self.max_headers = bytes;
        self
    }

    /// Sets in what time a message must have arrived, from the end of its headers. Default:
    /// 30 seconds.
    #[must_use]
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.body_timeout = limit;
        self
    }

    /// Sets how long a connection may go without the whole of a request's headers, be it idle or
    /// slow. Default: 75 seconds.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// Sets how long a connection may go without room for what is to be sent: a client must read.
    /// Default: 30 seconds.
    #[must_use]
    pub fn read_timeout(mut self, limit: Duration) -> Self {
        self.read_timeout = limit;
        self
    }

    /// The token that ends the server, and how long calls in flight may then go on. Default:
    /// nothing ends it, and 10 seconds. Streams that only listen end at once. Of
    /// [`into_router`](crate::McpServer::into_router) only these end: the rest is the
    /// application's.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken, drain: Duration) -> Self {
        self.shutdown = token;
        self.drain = drain;
        self
    }
}

/// Who may authenticate is not shown.
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
