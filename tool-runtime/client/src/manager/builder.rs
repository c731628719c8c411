//! Builds a manager.

use super::entry::Entry;
use super::settings::Settings;
use super::{Inner, McpManager, McpManagerError};
use super::{absent, left_out};
use crate::backoff::Backoff;
use crate::pins::{Approvals, McpPins};
use crate::status::McpState;
use crate::transport::{Custom, McpReader, McpWriter};
#[cfg(feature = "http")]
use crate::transport::{HeaderSource, McpHeaderRequest};
#[cfg(feature = "oauth")]
use crate::transport::{McpAuthPage, McpTokens};
use rmcp::model::Implementation;
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tool_runtime_config::{McpConfig, McpServerConfig};
use tool_runtime_core::pool::{AbsentSource, ToolPool};
use tool_runtime_core::tool::Secrets;
use tool_runtime_core::tool::peer::Peer;
#[cfg(feature = "http")]
use tool_runtime_core::vocabulary::Secret;
use tool_runtime_mcp::InProcessServer;

/// Limit on a wait: an `Instant` overflows.
const MAX_WAIT: Duration = Duration::from_secs(86_400);

/// Builds a manager of external MCP servers.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::mcp::{McpConfig, McpManager};
///
/// let config = McpConfig::from_json(r#"{"mcpServers": {"time": {"command": "mcp-server-time"}}}"#)?;
/// let builder = McpManager::builder()
///     .config(config)
///     .client("my-agent", "1.0.0")
///     .call_timeout(Duration::from_secs(60));
/// # let _ = builder;
/// # Ok::<(), tool_runtime::mcp::McpConfigError>(())
/// ```
#[must_use = "nothing is connected to before `connect`"]
pub struct McpManagerBuilder {
    settings: Settings,
    entries: Vec<Result<Entry, McpManagerError>>,
    left_out: Vec<AbsentSource>,
    start_timeout: Duration,
    list_wait: Duration,
    pins_file: Option<PathBuf>,
}

impl Default for McpManagerBuilder {
    fn default() -> Self {
        let start_timeout = Duration::from_secs(10);
        Self {
            settings: Settings::default(),
            entries: Vec::new(),
            left_out: Vec::new(),
            start_timeout,
            list_wait: Duration::from_secs(5),
            pins_file: None,
        }
    }
}

impl McpManagerBuilder {
    /// Adds all servers of a configuration. Those whose entries cannot be used are left out; their status has the reason.
    pub fn config(mut self, config: McpConfig) -> Self {
        for warning in config.warnings() {
            tracing::warn!("{warning}");
        }
        self.left_out.extend(left_out(&config));
        for (name, server) in config.servers {
            let is_required = server.required;
            match Entry::from_config(&name, server, &self.settings.callbacks) {
                Err(McpManagerError::NoTransport { name, problem }) if !is_required => {
                    self.left_out.push(absent(&name, &problem));
                }
                entry => self.entries.push(entry),
            }
        }
        self
    }

    /// Adds a server.
    pub fn server(mut self, name: impl AsRef<str>, config: McpServerConfig) -> Self {
        self.entries.push(Entry::from_config(name.as_ref(), config, &self.settings.callbacks));
        self
    }

    /// Adds a server of this process, for example another pool with its own rules.
    pub fn in_process(mut self, name: impl AsRef<str>, server: impl InProcessServer) -> Self {
        let factory = crate::transport::InProcess(Box::new(server));
        self.entries.push(Ok(Entry::from_factory(name.as_ref(), Box::new(factory))));
        self
    }

    /// Adds a server with a transport of your own: `open` opens a pair of streams for each connection, which carry messages
    /// as lines of JSON.
    ///
    /// ```no_run
    /// use tool_runtime::mcp::McpManager;
    ///
    /// let builder = McpManager::builder().custom("far", || async {
    ///     let stream = tokio::net::UnixStream::connect("/run/far.sock").await?;
    ///     let (reader, writer) = stream.into_split();
    ///     Ok((Box::new(reader) as _, Box::new(writer) as _))
    /// });
    /// # let _ = builder;
    /// ```
    pub fn custom<O, F>(mut self, name: impl AsRef<str>, open: O) -> Self
    where
        O: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(McpReader, McpWriter), Box<dyn Error + Send + Sync>>>
            + Send
            + 'static,
    {
        self.entries.push(Ok(Entry::from_factory(name.as_ref(), Box::new(Custom::new(open)))));
        self
    }

    /// Sets a source of headers for each request to a server over HTTP, such as a token that is refreshed.
    /// The headers replace headers of the entry with the same name. After status 401, `source` is called again,
    /// with the server's challenge. Other servers ignore it; a second source for a server replaces the first.
    ///
    /// ```
    /// use tool_runtime::mcp::{McpHeaderRequest, McpManager, McpServerConfig};
    /// use tool_runtime::Secret;
    ///
    /// let builder = McpManager::builder()
    ///     .server("issues", McpServerConfig::http("https://example.com/mcp"))
    ///     .headers("issues", |request: McpHeaderRequest| async move {
    ///         let token = if request.rejected.is_some() { "a new one" } else { "8fQm2x" };
    ///         let value = Secret::from(format!("Bearer {token}"));
    ///         Ok(vec![("Authorization".to_owned(), value)])
    ///     });
    /// # let _ = builder;
    /// ```
    #[cfg(feature = "http")]
    pub fn headers<S, F>(self, server: impl AsRef<str>, source: S) -> Self
    where
        S: Fn(McpHeaderRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Vec<(String, Secret)>, Box<dyn Error + Send + Sync>>>
            + Send
            + 'static,
    {
        let source: Arc<HeaderSource> = Arc::new(move |request| Box::pin(source(request)));
        self.settings.callbacks.headers.set(server.as_ref(), source);
        self
    }

    /// Sets how the user is shown the authorization page of a server whose `auth` is OAuth, for example in their
    /// browser. `show` returns `None`, or the redirect address if the program receives it. Default: no page is shown,
    /// and such servers need authorization.
    ///
    /// A call waits three seconds for the authorization, then fails. [`Self::connect`] waits at most for
    /// [`Self::start_timeout`]. The server connects when the user is done, within ten minutes.
    ///
    /// ```
    /// use tool_runtime::mcp::{McpAuthPage, McpManager};
    ///
    /// let builder = McpManager::builder().oauth(|page: McpAuthPage| async move {
    ///     println!("Let me in at {}: {}", page.server, page.url);
    ///     Ok(None)
    /// });
    /// # let _ = builder;
    /// ```
    #[cfg(feature = "oauth")]
    pub fn oauth<S, F>(self, show: S) -> Self
    where
        S: Fn(McpAuthPage) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Option<String>, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.settings.callbacks.oauth.show_pages(Arc::new(move |page| Box::pin(show(page))));
        self
    }

    /// Sets the store of OAuth tokens. Default: in memory, until the manager is dropped.
    #[cfg(feature = "oauth")]
    pub fn tokens(self, tokens: Arc<dyn McpTokens>) -> Self {
        self.settings.callbacks.oauth.keep_tokens(tokens);
        self
    }

    /// Sets the handler of server requests: forms and pages for the user, sampling, roots. The handshake announces its
    /// capabilities. Default: none, and elicitation is declined.
    pub fn peer(mut self, peer: Arc<dyn Peer>) -> Self {
        self.settings.answerer.host = Some(peer);
        self
    }

    /// Passes requests of a server to the caller of the tool if the peer does not answer. Default: no. A
    /// person is shown text of a foreign server: enable this for trusted servers.
    pub fn ask_callers(mut self) -> Self {
        self.settings.answerer.asks_callers = true;
        self
    }

    /// Trusts the annotations of a server's tools, as the setting [`trusted`](McpServerConfig::trusted) of an entry does.
    /// Default: only if the entry is trusted.
    ///
    /// ```
    /// use tool_runtime::mcp::{McpManager, McpServerConfig};
    ///
    /// let files = McpServerConfig::stdio("mcp-server-files");
    /// let builder = McpManager::builder().server("files", files).trust("files");
    /// # let _ = builder;
    /// ```
    pub fn trust(mut self, server: impl Into<String>) -> Self {
        self.settings.trusted.insert(server.into());
        self
    }

    /// Sets the name and version of this program for servers. Default: those of this library.
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.settings.client = Implementation::new(name.into(), version.into());
        self
    }

    /// Shares the secrets of all entries with a pool, which then masks them in the results of its other
    /// tools, too: variables, headers and credentials that look like secrets or are marked by `secrets` of
    /// their entry. Default: each server's secrets are masked in what that server sends.
    ///
    /// rmcp logs what servers say about themselves. A program with a `tracing` subscriber of its own masks
    /// these lines by [`Secrets::redactor`], or turns the target `rmcp` off.
    ///
    /// ```
    /// use tool_runtime::mcp::McpManager;
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::secret::Secrets;
    ///
    /// let secrets = Secrets::new();
    /// let pool = ToolPool::builder().secrets(secrets.clone()).allow_empty().build()?;
    /// let builder = McpManager::builder().secrets(secrets);
    /// # let _ = (pool, builder);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.settings.secrets = Some(secrets);
        self
    }

    /// Resolves conflicts of ids and prefixes by a suffix from a hash of the names, the same in every run. Default:
    /// conflicting prefixes are an error, and a tool with a taken id is left out and named in the pool's report.
    pub fn suffix_collisions(mut self) -> Self {
        self.settings.suffixes = true;
        self
    }

    /// Compares definitions of servers with approved ones. Changed and new ones are problems in the server's
    /// [status](McpManager::status) and in [`McpManager::unapproved`]. Default: nothing is compared.
    pub fn pins(self, approved: McpPins) -> Self {
        self.compared(approved, false)
    }

    /// Like [`Self::pins`], and leaves unapproved tools out of the pool until [`McpManager::approve`]. The pool reports
    /// them.
    pub fn only_approved(self, approved: McpPins) -> Self {
        self.compared(approved, true)
    }

    /// Like [`Self::only_approved`], with the pins of a file, to which [`McpManager::approve`] adds. Without the file, no
    /// tool is approved. The file is read by [`Self::start`] and [`Self::connect`].
    ///
    /// ```
    /// use tool_runtime::mcp::McpManager;
    ///
    /// let builder = McpManager::builder().pins_file("mcp-pins.json");
    /// # let _ = builder;
    /// ```
    pub fn pins_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.pins_file = Some(file.into());
        self
    }

    fn compared(mut self, approved: McpPins, requires_approval: bool) -> Self {
        self.settings.approvals = Arc::new(Approvals::new(Some(approved), requires_approval));
        self
    }

    /// Sets the time limit of connecting and listing tools, for entries without one. Default: 30 seconds.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = limit;
        self
    }

    /// Sets the limit on the time of a call without progress, for entries without one. Default: 5 minutes.
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.settings.call_timeout = limit;
        self
    }

    /// Sets the limit on a call, regardless of progress. A longer `call_timeout` of an entry extends it. Default: an hour.
    pub fn max_call_duration(mut self, limit: Duration) -> Self {
        self.settings.max_call_duration = limit;
        self
    }

    /// Sets the delay between attempts to connect: `first` after the first failure, doubled after each later one up to
    /// `max`, with jitter between half and all of it. Default: a second, and a minute.
    pub fn retry(mut self, first: Duration, max: Duration) -> Self {
        self.settings.backoff = Backoff { first, max };
        self
    }

    /// Sets the time that [`Self::connect`] waits for pending connections, which continue in the background. Default: 10
    /// seconds.
    pub fn start_timeout(mut self, limit: Duration) -> Self {
        self.start_timeout = limit;
        self
    }

    /// Sets the time from the start of the manager during which a `tools/list` to an MCP server of the pool
    /// waits for pending connections. Later lists do not wait, and all clients are notified of later tools.
    /// Default: 5 seconds.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_runtime::mcp::McpManager;
    ///
    /// let builder = McpManager::builder().list_wait(Duration::from_secs(2));
    /// # let _ = builder;
    /// ```
    pub fn list_wait(mut self, limit: Duration) -> Self {
        self.list_wait = limit;
        self
    }

    /// Connects to all servers concurrently and adds their tools to the pool. Waits until each connection was attempted, or for
    /// [`Self::start_timeout`]. Failed and pending connections continue in the background; [`McpManager::status`] has the
    /// reasons. A server that cannot be connected to is an error only if its entry is `required`.
    ///
    /// # Errors
    /// Invalid entries from code; a required server is not connected; the file of pins cannot be used. Everything is closed
    /// then.
    pub async fn connect(self, pool: &ToolPool) -> Result<McpManager, McpManagerError> {
        let limit = self.start_timeout;
        let manager = self.start(pool)?;
        drop(timeout(limit, manager.settled()).await);
        match manager.failure() {
            None => Ok(manager),
            Some(error) => {
                manager.close().await;
                Err(error)
            }
        }
    }

    /// Connects to all servers in the background.
    ///
    /// # Errors
    /// All invalid entries from code, and those whose name or prefix another server of the pool has; the file of pins
    /// cannot be used. No server is started then.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(mut self, pool: &ToolPool) -> Result<McpManager, McpManagerError> {
        if let Some(file) = self.pins_file.take() {
            let approvals = Approvals::in_file(file.clone());
            let approvals = approvals.map_err(|problem| McpManagerError::Pins { file, problem })?;
            self.settings.approvals = Arc::new(approvals);
        }
        let end = pool.closing().child_token();
        let manager = McpManager(Arc::new(Inner {
            pool: pool.clone(),
            settings: self.settings,
            slots: std::sync::Mutex::default(),
            server_changes: tokio::sync::Mutex::default(),
            end,
            watchers: Arc::new(watch::Sender::new(0)),
            resources: std::sync::Mutex::default(),
            left_out: std::sync::Mutex::new(self.left_out),
            list_until: Instant::now() + self.list_wait.min(MAX_WAIT),
        }));
        let absence: Weak<Inner> = Arc::downgrade(&manager.0);
        pool.ask_of_absence(absence);
        let add = |entry: Result<Entry, _>| entry.and_then(|entry| manager.add_slot(entry));
        let mut problems: Vec<_> =
            self.entries.into_iter().filter_map(|entry| add(entry).err()).collect();
        match problems.len() {
            0 => manager.slots().values().for_each(|slot| manager.launch(slot)),
            1 => return Err(problems.remove(0)),
            _ => return Err(McpManagerError::Several(problems)),
        }
        Ok(manager)
    }
}

impl McpManager {
    /// The error if required servers are not connected.
    fn failure(&self) -> Option<McpManagerError> {
        let slots = self.slots();
        let reason = |state: &McpState| match state.reason() {
            Some(reason) => reason.to_owned(),
            None => "it did not answer in time".to_owned(),
        };
        let missing =
            slots.values().filter(|slot| slot.is_required).map(|slot| slot.server.status());
        let reasons: Vec<_> = missing
            .filter(|status| !status.is_ready() && status.state != McpState::Disabled)
            .map(|status| (status.name, reason(&status.state)))
            .collect();
        (!reasons.is_empty()).then_some(McpManagerError::RequiredFailed { reasons })
    }
}
