//! The engine of one machine: records and blobs in a SQLite file, everything over HTTP.
//!
//! | File | Topic |
//! |---|---|
//! | `routes` | the answers, by method and path |
//! | `access` | the access rights of clients |
//! | `request`, `refusal` | clients, parameters and bodies; errors |
//! | `claims` | claims by their ids |
//! | `streams` | messages as server-sent events |
//!
//! Connections, their limits and the end of the server are those of the MCP server.

mod access;
mod claims;
mod refusal;
mod request;
mod routes;
mod streams;

use crate::local::{Engine, LocalBoard, MemoryStore, SqliteStore};
use crate::names::CallerName;
use axum::Router;
use claims::Claims;
use routes::Service;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tool_runtime_server::seam::{bind, serve_router};
use tool_runtime_server::{Authenticate, HttpOptions};
use tool_runtime_store::{ProcessLock, StoreError};

/// The time for requests in flight when the server ends.
const DRAIN: Duration = Duration::from_secs(5);

/// The engine of remote runners for one machine: in the process of a pool, or in one of its own.
///
/// Records and blobs are in a SQLite file, and a record is on the disk before its write is answered. Jobs and messages are
/// in memory: when the hub ends, jobs are lost, which callers notice and repair. One process has the file open.
///
/// [`board`](Self::board) is for callers and runners of this process, [`serve`](Self::serve) for those of others, which
/// connect by `HttpBoard`.
///
/// ```
/// use tokio_util::sync::CancellationToken;
/// use tool_runtime_remote::Hub;
/// use tool_runtime_server::BearerTokens;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hub.db");
/// let hub = Hub::open(&path)?;
/// let tokens = "pool1:8fQm2x scopes=call:web\nrunner1:1vXk9p scopes=run:web";
/// let server = hub.serve("127.0.0.1:0", BearerTokens::parse(tokens)?).await?;
/// println!("listening on {}", server.address());
///
/// let end = CancellationToken::new();
/// let serving = tokio::spawn(server.until(end.clone()));
/// end.cancel();
/// serving.await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Hub {
    engine: Engine,
    claims: Arc<Claims>,
    /// Locked until the last clone is dropped: jobs and messages are in the memory of one process.
    _locked: Option<Arc<ProcessLock>>,
}

/// The reason why a hub does not open or listen.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The file cannot be opened or written, is damaged, or is of a newer version.
    #[error("cannot open the records of the hub: {0}")]
    Store(#[from] StoreError),
    /// The file next to the database cannot be locked.
    #[error("cannot lock the records of the hub: {0}")]
    Lock(#[source] io::Error),
    /// Another hub has the file open.
    #[error("another hub has `{}` open; stop it, or name another file", .0.display())]
    InUse(PathBuf),
    /// The address is not valid or not available.
    #[error("the hub cannot listen: {0}")]
    Listen(#[source] io::Error),
}

tool_runtime_core::debug_as_message!(HubError);

impl Hub {
    /// Opens the file of a hub, and creates it only for its owner if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, is of a newer version, or another hub has it open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, HubError> {
        let path = path.as_ref();
        let engine = Engine::new(SqliteStore::open(path)?);
        let locked = Some(Arc::new(lock_file(path)?));
        Ok(Self { _locked: locked, ..Self::over(engine) })
    }

    /// A hub that keeps everything in memory. When it ends, calls that may run at most once may run again: for tests.
    pub fn memory() -> Self {
        Self::over(Engine::new(MemoryStore::default()))
    }

    /// A hub over an engine.
    pub(crate) fn over(engine: Engine) -> Self {
        Self { engine, claims: Arc::default(), _locked: None }
    }

    /// A board for a caller or a runner of this process, which may do everything.
    pub fn board(&self, name: CallerName) -> LocalBoard {
        self.engine.board(name)
    }

    /// Listens for callers and runners of other processes. [`HubServer::until`] serves them.
    ///
    /// The address is `host:port`, or only a port, which means 127.0.0.1; port 0 lets the system choose.
    ///
    /// Each client has a token: `NAME:TOKEN scopes=call:QUEUE,run:QUEUE`. Its name is a [`CallerName`]; `call:QUEUE` lets it
    /// call the tools of a queue, `run:QUEUE` lets it be a runner of one, and `*` instead of a queue means all. A caller
    /// reads and ends only its own calls; a runner sees all calls of its queues.
    ///
    /// The connection is not encrypted. For other machines, put a reverse proxy with TLS in front of it, which does not
    /// collect answers (events have to pass at once) and waits 30 seconds for an answer; otherwise everybody in between can
    /// read tokens, arguments and results.
    ///
    /// `GET /healthz` needs no token.
    ///
    /// # Errors
    /// The address is not valid or not available.
    pub async fn serve(
        &self,
        address: &str,
        tokens: impl Authenticate,
    ) -> Result<HubServer, HubError> {
        let listener = bind(address).await.map_err(HubError::Listen)?;
        let address = listener.local_addr().map_err(HubError::Listen)?;
        if !address.ip().is_loopback() {
            tracing::warn!(
                "other machines can reach {address}, and the connection is not encrypted: put a reverse proxy with TLS in front of it"
            );
        }
        Ok(HubServer { hub: self.clone(), listener, address, tokens: Box::new(tokens) })
    }
}

/// Locks the file of a hub: jobs and messages are in the memory of one process.
fn lock_file(database: &Path) -> Result<ProcessLock, HubError> {
    let lock = ProcessLock::take(database, ".lock").map_err(HubError::Lock)?;
    lock.ok_or_else(|| HubError::InUse(database.to_owned()))
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

/// A hub that listens.
#[must_use = "it answers nobody before `until` is awaited"]
pub struct HubServer {
    hub: Hub,
    listener: TcpListener,
    address: SocketAddr,
    tokens: Box<dyn Authenticate>,
}

impl HubServer {
    /// The address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `end` is cancelled. Then streams and waiting requests end, and others have 5 seconds to finish.
    pub async fn until(self, end: CancellationToken) {
        let Hub { engine, claims, _locked } = self.hub;
        let service = Service::new(engine, claims, self.tokens, end.clone());
        let router = Router::new().fallback(routes::answer).with_state(Arc::new(service));
        // A claim must not be given to a client that has gone.
        let options = HttpOptions::default().half_closed(Duration::ZERO).shutdown(end, DRAIN);
        serve_router(self.listener, router, options).await;
    }
}

impl fmt::Debug for HubServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubServer").field("address", &self.address).finish_non_exhaustive()
    }
}
