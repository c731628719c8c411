//! Keeps external MCP servers connected and their tools in a pool.

mod builder;
mod entry;
mod error;
mod replace;
mod resources;
mod settings;
mod slot;
mod statuses;

pub use builder::McpManagerBuilder;
pub use error::McpManagerError;
pub use replace::McpChange;
pub use statuses::McpStatuses;

use super::pins::{ApprovalOutcome, McpPins, McpUnapproved};
use super::server::{Server, Watchers};
use super::status::{McpServerStatus, McpState};
use entry::Entry;
use futures_util::future::join_all;
use resources::ResourceTools;
use settings::Settings;
use slot::Slot;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tool_runtime_config::{McpConfig, McpServerConfig};
use tool_runtime_core::pool::{AbsentSource, ToolPool};
use tool_runtime_core::seam::Absence;
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// External MCP servers whose tools are tools of a pool.
///
/// All servers are connected concurrently. Failed and lost connections are retried in the background, with delays
/// from one second to a minute. Tools of servers are listed, restricted, hooked and called like those of the
/// program itself, and are named `server.tool`. A server that was connected once keeps its tools in the pool
/// while it is disconnected; a call reconnects immediately, and reports the reason if that fails.
///
/// A call that a server runs as a task (the extension `io.modelcontextprotocol/tasks`) looks like any other
/// call: it waits until the task is done, and a dropped call cancels the task.
///
/// [`Self::resources`] and [`Self::read_resource`] return the resources of servers. Models read them by two
/// tools of the pool, `list_mcp_resources` and `read_mcp_resource`, which exist while an entry sets
/// `resources`, and show only those servers.
///
/// Servers are not trusted: schemas are bounded and fetch nothing, an invalid tool is left out and named in
/// [`ToolPool::report`](tool_runtime_core::pool::ToolPool::report). Annotations are listed only: tools count as neither
/// read-only nor idempotent for filters, concurrency and retries, unless the entry is
/// [`trusted`](McpServerConfig::trusted) or [`McpManagerBuilder::trust`] names the server.
///
/// A server's program ends with its connection: its input is closed, then its process group gets SIGTERM and at last
/// SIGKILL. Descendants outside the group are ended by a [`Subreaper`](crate::Subreaper) when this process ends. For
/// systems without signals see the front page of `tool-runtime`.
///
/// Clones share one manager. When the last is dropped, all servers are disconnected and their tools leave the pool;
/// [`Self::close`] also waits for that. Closing the pool disconnects them as well. A manager needs a tokio runtime with
/// I/O and time drivers, and keeps the pool alive.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::mcp::{McpManager, McpServer};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let remote = McpServer::new(ToolPool::builder().add(ping).build()?, "remote", "1.0.0");
///
/// let pool = ToolPool::builder().build()?;
/// let manager = McpManager::builder().in_process("remote", remote).connect(&pool).await?;
/// let result = pool.call(ToolCall::new("remote.ping", "{}")).await;
/// assert_eq!(result.observation().to_text(), "pong");
/// manager.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "the servers are disconnected when the manager is dropped"]
pub struct McpManager(Arc<Inner>);

struct Inner {
    pool: ToolPool,
    settings: Settings,
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
    /// Serializes changes of the set of servers.
    server_changes: tokio::sync::Mutex<()>,
    /// Cancelled to disconnect all servers.
    end: CancellationToken,
    watchers: Arc<Watchers>,
    resources: Mutex<Option<ResourceTools>>,
    /// The servers whose entries could not be used.
    left_out: Mutex<Vec<AbsentSource>>,
    /// Lists of tools wait for pending connections until this time.
    list_until: Instant,
}

impl Inner {
    fn left_out(&self) -> MutexGuard<'_, Vec<AbsentSource>> {
        lock(&self.left_out)
    }

    /// The status of each server whose entry cannot be used.
    fn unusable_servers(&self) -> Vec<McpServerStatus> {
        let mut reasons = BTreeMap::<String, Vec<String>>::new();
        for AbsentSource { source, reason, .. } in self.left_out().iter() {
            if let Source::Mcp(server) = source {
                reasons.entry(server.to_string()).or_default().push(reason.clone());
            }
        }
        let status = |(name, reasons): (String, Vec<String>)| {
            McpServerStatus::new(&name, McpState::Unusable { reason: reasons.join("; ") })
        };
        reasons.into_iter().map(status).collect()
    }

    /// The reason why a tool of a server with an invalid entry is absent.
    fn unusable(&self, tool: &str) -> Option<CallError> {
        let (server, _) = tool.split_once('.')?;
        let left_out = self.left_out();
        let absent = left_out.iter().find(|absent| absent.source == Source::mcp(server))?;
        let text = format!("the MCP server `{server}` is not connected: {}", absent.reason);
        Some(CallError::new(ErrorClass::Tool, text))
    }
}

/// Ends the wait of callers for servers of a dropped manager.
impl Drop for Inner {
    fn drop(&mut self) {
        self.end.cancel();
        let slots = std::mem::take(self.slots.get_mut().unwrap_or_else(PoisonError::into_inner));
        slots.values().for_each(|slot| slot.retire());
    }
}

impl McpManager {
    /// Starts a manager.
    pub fn builder() -> McpManagerBuilder {
        McpManagerBuilder::default()
    }

    /// Connects to all servers of a configuration.
    ///
    /// # Errors
    /// As [`McpManagerBuilder::connect`].
    pub async fn connect(config: McpConfig, pool: &ToolPool) -> Result<Self, McpManagerError> {
        Self::builder().config(config).connect(pool).await
    }

    /// The managers that connect servers to a pool, the oldest first. Tools reach the servers of their pool by it.
    ///
    /// ```
    /// use tool_runtime::mcp::McpManager;
    /// use tool_runtime::prelude::*;
    ///
    /// /// List the servers.
    /// #[tool(read_only)]
    /// async fn servers(context: &ToolContext) -> Vec<String> {
    ///     let managers = context.pool().map(|pool| McpManager::of_pool(&pool)).unwrap_or_default();
    ///     let servers = managers.iter().flat_map(McpManager::status);
    ///     servers.map(|server| server.name).collect()
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<ServersAction>().build()?;
    /// let manager = McpManager::builder().connect(&pool).await?;
    /// assert_eq!(McpManager::of_pool(&pool).len(), 1);
    /// manager.close().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn of_pool(pool: &ToolPool) -> Vec<Self> {
        pool.absences_of::<Inner>().into_iter().map(Self).collect()
    }

    /// The status of all servers, sorted by name, also of those that were left out.
    pub fn status(&self) -> Vec<McpServerStatus> {
        let mut statuses: Vec<_> = self.slots().values().map(|slot| slot.server.status()).collect();
        statuses.extend(self.0.unusable_servers());
        statuses.sort_by(|one, other| one.name.cmp(&other.name));
        statuses
    }

    /// The status of one server.
    ///
    /// # Errors
    /// The server is unknown.
    pub fn server(&self, name: &str) -> Result<McpServerStatus, McpManagerError> {
        Ok(self.slot(name)?.server.status())
    }

    /// The status of all servers at each change from now on.
    pub fn statuses(&self) -> McpStatuses {
        McpStatuses::new(self)
    }

    /// Adds a server and connects to it in the background; see [`Self::settled`].
    ///
    /// # Errors
    /// The name or the prefix is taken, the entry is invalid, or this build lacks the transport.
    pub async fn add(
        &self,
        name: impl Into<String>,
        config: McpServerConfig,
    ) -> Result<(), McpManagerError> {
        let _lock = self.lock_servers().await?;
        self.insert_entry(Entry::from_config(&name.into(), config, &self.0.settings.callbacks)?)
    }

    /// Removes a server: disconnects it and removes its tools from the pool.
    ///
    /// # Errors
    /// The server is unknown.
    pub async fn remove(&self, name: &str) -> Result<(), McpManagerError> {
        let (manager, name) = (self.clone(), name.to_owned());
        run_to_end(async move {
            let _lock = manager.lock_servers().await?;
            manager.remove_entry(&name).await
        })
        .await
    }

    /// Connects to a disabled server. Does nothing for an enabled one.
    ///
    /// # Errors
    /// The server is unknown, or its entry lacks values of variables.
    pub async fn enable(&self, name: &str) -> Result<(), McpManagerError> {
        let _lock = self.lock_servers().await?;
        self.checked_slot(name)?.start(&self.0.end);
        Ok(())
    }

    /// Disconnects a server and removes its tools from the pool, until it is enabled again.
    ///
    /// # Errors
    /// The server is unknown.
    pub async fn disable(&self, name: &str) -> Result<(), McpManagerError> {
        let (manager, name) = (self.clone(), name.to_owned());
        run_to_end(async move {
            let _lock = manager.lock_servers().await?;
            let slot = manager.slot(&name)?;
            slot.stop(McpState::Disabled).await;
            slot.withdraw();
            Ok(())
        })
        .await
    }

    /// Disconnects a server and connects again, in any state. Its tools stay in the pool; running calls fail.
    ///
    /// # Errors
    /// The server is unknown, or its entry lacks values of variables.
    pub async fn reconnect(&self, name: &str) -> Result<(), McpManagerError> {
        let (manager, name) = (self.clone(), name.to_owned());
        run_to_end(async move {
            let _lock = manager.lock_servers().await?;
            let slot = manager.checked_slot(&name)?;
            slot.stop(McpState::Connecting).await;
            slot.start(&manager.0.end);
            Ok(())
        })
        .await
    }

    /// Pins of the definitions that servers list now, to be stored as approved.
    pub fn pins(&self) -> McpPins {
        self.0.settings.approvals.listed()
    }

    /// The tools whose definitions are not the approved ones, if [`McpManagerBuilder::pins`] or its siblings were set.
    pub fn unapproved(&self) -> Vec<McpUnapproved> {
        self.0.settings.approvals.unapproved()
    }

    /// Whether definitions are compared with approved ones.
    #[doc(hidden)]
    pub fn has_pins(&self) -> bool {
        self.0.settings.approvals.requires_approval()
    }

    /// Approves a definition of [`Self::unapproved`] that the user has reviewed. A tool that was
    /// left out is added to the pool when the server's list is read again.
    ///
    /// With [`McpManagerBuilder::pins_file`], it is written to the file.
    ///
    /// # Errors
    /// The server is unknown, it no longer lists the tool, its definition has changed again, or the file cannot be
    /// written.
    pub fn approve(&self, tool: &McpUnapproved) -> Result<(), McpManagerError> {
        let slot = self.slot(&tool.server)?;
        let listed = self.0.settings.approvals.approve(&tool.server, &tool.tool, &tool.pin);
        let (server, tool) = (tool.server.clone(), tool.tool.clone());
        match listed {
            ApprovalOutcome::Approved => slot.server.list_again(),
            ApprovalOutcome::NotKept(file, problem) => {
                return Err(McpManagerError::Pins { file, problem });
            }
            ApprovalOutcome::Changed => {
                return Err(McpManagerError::AnotherDefinition { server, tool });
            }
            ApprovalOutcome::NotListed => {
                return Err(McpManagerError::UnknownTool { server, tool });
            }
        }
        Ok(())
    }

    /// Waits until a connection to every server was attempted since its last start: the server is ready, or its status has
    /// the reason.
    pub async fn settled(&self) {
        let servers: Vec<_> = self.slots().values().map(|slot| Arc::clone(&slot.server)).collect();
        join_all(servers.iter().map(|server| server.settled())).await;
    }

    /// Disconnects all servers and removes their tools from the pool, within a time limit: programs that do not end are
    /// killed. Further calls wait for the same end.
    pub async fn close(&self) {
        self.0.end.cancel();
        let manager = self.clone();
        run_to_end(async move {
            let _lock = manager.0.server_changes.lock().await;
            let slots = std::mem::take(&mut *manager.slots());
            join_all(slots.values().map(|slot| slot.stop(McpState::Closed))).await;
            slots.values().for_each(|slot| slot.retire());
            manager.0.left_out().clear();
            manager.withdraw_resources();
        })
        .await;
    }

    /// Locks the set of servers for a change.
    async fn lock_servers(&self) -> Result<tokio::sync::MutexGuard<'_, ()>, McpManagerError> {
        let lock = self.0.server_changes.lock().await;
        if self.0.end.is_cancelled() { Err(McpManagerError::Closed) } else { Ok(lock) }
    }

    /// Adds a server, and starts it if it is enabled.
    fn insert_entry(&self, entry: Entry) -> Result<(), McpManagerError> {
        self.launch(&*self.add_slot(entry)?);
        Ok(())
    }

    fn launch(&self, slot: &Slot) {
        if slot.server.status().state != McpState::Disabled {
            slot.start(&self.0.end);
        }
    }

    /// Adds a server without starting it.
    fn add_slot(&self, entry: Entry) -> Result<Arc<Slot>, McpManagerError> {
        let mut slots = self.slots();
        let name = entry.name.clone();
        if slots.contains_key(&*name) {
            return Err(McpManagerError::Known { name: name.to_string() });
        }
        let taken: Vec<(&str, &str)> =
            slots.iter().map(|(name, slot)| (&**name, slot.prefix())).collect();
        let slot = entry.into_slot(&self.0.settings, &self.0.pool, &self.0.watchers, &taken)?;
        let has_resources = slot.resources() == Some(true);
        let slot = Arc::new(slot);
        slots.insert(name.to_string(), Arc::clone(&slot));
        drop(slots);
        if has_resources {
            self.offer_resources();
        }
        Ok(slot)
    }

    async fn remove_entry(&self, name: &str) -> Result<(), McpManagerError> {
        let slot = self.slot(name)?;
        slot.stop(McpState::Closed).await;
        slot.retire();
        self.slots().remove(name);
        Ok(())
    }

    /// A server with a valid entry.
    fn checked_slot(&self, name: &str) -> Result<Arc<Slot>, McpManagerError> {
        let slot = self.slot(name)?;
        if let Some(config) = &slot.config {
            entry::check(name, config)?;
        }
        Ok(slot)
    }

    /// The servers that came from configurations.
    fn configs(&self) -> Vec<(String, McpServerConfig)> {
        let slots = self.slots();
        let configured = slots.iter().filter_map(|(name, slot)| {
            slot.config.as_ref().map(|config| (name.clone(), config.clone()))
        });
        configured.collect()
    }

    fn slot(&self, name: &str) -> Result<Arc<Slot>, McpManagerError> {
        let slots = self.slots();
        slots.get(name).cloned().ok_or_else(|| McpManagerError::Unknown {
            name: name.to_owned(),
            known: slots.keys().cloned().collect(),
        })
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Slot>>> {
        lock(&self.0.slots)
    }
}

/// The servers of a configuration that have invalid entries, with their problems for the pool's report.
fn left_out(config: &McpConfig) -> Vec<AbsentSource> {
    let absent = |problem: &tool_runtime_config::McpConfigProblem| {
        absent(problem.server.as_deref().unwrap_or_default(), problem)
    };
    config.left_out().iter().map(absent).collect()
}

/// A server whose entry cannot be used.
fn absent(server: &str, problem: &dyn fmt::Display) -> AbsentSource {
    tracing::warn!(server, "an MCP server is left out: {problem}");
    AbsentSource::new(Source::mcp(server), format!("its entry cannot be used: {problem}"))
}

/// Runs `work` to its end even if the future is dropped: an interrupted change could leave a server without supervisor.
async fn run_to_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    match tokio::spawn(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and this future with it.
            Err(_) => pending().await,
        },
    }
}

impl Absence for Inner {
    fn why(&self, name: &str) -> Option<CallError> {
        let slots = lock(&self.slots);
        if let Some(reason) = slots.values().find_map(|slot| slot.why_left_out(name)) {
            let text = format!("`{name}` cannot be called: {reason}");
            return Some(CallError::new(ErrorClass::Denied, text));
        }
        let mut servers = slots.values().filter(|slot| {
            let rest = name.strip_prefix(slot.prefix());
            !slot.prefix().is_empty() && rest.is_some_and(|rest| rest.starts_with('.'))
        });
        servers.find_map(|slot| slot.server.absence()).or_else(|| self.unusable(name))
    }

    fn settling(&self) -> Option<BoxFuture<'static, ()>> {
        let until = self.list_until;
        if Instant::now() >= until {
            return None;
        }
        let slots = lock(&self.slots);
        let servers = slots.values().map(|slot| &slot.server);
        let is_connecting = |server: &&Arc<Server>| server.status().state == McpState::Connecting;
        let connecting: Vec<_> = servers.filter(is_connecting).cloned().collect();
        if connecting.is_empty() {
            return None;
        }
        Some(Box::pin(async move {
            let tried = join_all(connecting.iter().map(|server| server.settled()));
            drop(timeout_at(until, tried).await);
        }))
    }

    fn absent(&self) -> Vec<AbsentSource> {
        let slots = lock(&self.slots);
        let absent = slots.iter().filter_map(|(name, slot)| {
            let reason = match slot.server.status().state {
                McpState::Ready | McpState::Disabled => return None,
                McpState::Connecting => "it is still being connected to".to_owned(),
                state => state.reason().map_or_else(|| state.to_string(), str::to_owned),
            };
            Some(AbsentSource::new(Source::mcp(name), reason))
        });
        absent.chain(self.left_out().iter().cloned()).collect()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}

impl fmt::Debug for McpManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = self.status().into_iter().map(|status| (status.name, status.state));
        f.debug_map().entries(states).finish()
    }
}
