//! The servers of a pool: one for each language and root, started when it is first needed.

use super::server::Server;
use crate::code::installed::find_server;
use crate::code::params::{CodeParams, LanguageServer};
use crate::workspace::{Location, Root, Workspace};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tool_runtime::__seam::lock;
use tool_runtime::ToolError;

/// Ends of a server within the period after which it is not started again.
const MAX_FAILURES: usize = 3;
const PERIOD: Duration = Duration::from_secs(600);

/// The servers.
pub(super) struct Servers {
    pub(super) workspace: Workspace,
    pub(super) languages: BTreeMap<String, LanguageServer>,
    pub(super) limit: Duration,
    /// Directory of the worktrees, as the operator wrote it.
    pub(super) worktrees: PathBuf,
    /// By language and root.
    slots: Mutex<HashMap<(String, PathBuf), SharedSlot>>,
    /// Servers that start, also after the call that needs them has ended.
    starts: Mutex<JoinSet<()>>,
}

/// A slot that is locked while its server starts.
type SharedSlot = Arc<tokio::sync::Mutex<Slot>>;

/// The slot of one server.
#[derive(Default)]
struct Slot {
    server: Option<Arc<Server>>,
    /// When it ended or did not start.
    failures: Vec<Instant>,
}

impl Servers {
    /// Servers that do not run yet.
    pub(super) fn new(workspace: Workspace, params: CodeParams) -> Self {
        Self {
            workspace,
            languages: params.language_servers,
            limit: Duration::from_secs(params.language_server_timeout.max(1)),
            worktrees: params.worktrees.directory,
            slots: Mutex::default(),
            starts: Mutex::default(),
        }
    }

    /// The project of a file, and the file's path in it: a worktree, or else the root.
    pub(super) fn project(&self, location: &Location) -> io::Result<(Arc<Root>, PathBuf)> {
        let root = location.root();
        let path = root.dir().canonicalize(location.path())?;
        let Ok(worktrees) = self.workspace.resolve(&self.worktrees.to_string_lossy()) else {
            return Ok((Arc::clone(root), path));
        };
        let is_same = worktrees.root().canonical_path() == root.canonical_path();
        let below = path.strip_prefix(worktrees.path()).ok().filter(|_| is_same);
        let mut parts = below.unwrap_or(Path::new("")).components();
        match (parts.next(), parts.as_path()) {
            (Some(name), rest) if rest != Path::new("") => {
                let worktree = root.canonical_path().join(worktrees.path()).join(name);
                Ok((
                    Arc::new(Root::open(&worktree, Arc::clone(root.protected()))?),
                    rest.to_owned(),
                ))
            }
            _ => Ok((Arc::clone(root), path)),
        }
    }

    /// The server of a language for a root. One that has ended is started again, a few times.
    ///
    /// # Errors
    /// It is not installed, or not ready within `patience`. In this case it goes on starting.
    pub(super) async fn get(
        &self,
        language: &str,
        root: &Arc<Root>,
        patience: Duration,
    ) -> Result<Arc<Server>, ToolError> {
        let params = self.languages.get(language).ok_or_else(|| {
            ToolError::user(format!("no language server is set up for `{language}`"))
        })?;
        let program = find_server(params, &self.workspace).map_err(ToolError::user)?;
        let ready = async {
            let slot = self.slot(language, root).lock_owned().await;
            self.start(slot, language, program, params, root).await
        };
        timeout(patience, ready).await.unwrap_or_else(|_| {
            let reason = format!("still starts after {} s; ask again later", patience.as_secs());
            Err(failed(language, &reason))
        })
    }

    /// The server of a slot. It is started unless it runs.
    async fn start(
        &self,
        mut slot: OwnedMutexGuard<Slot>,
        language: &str,
        program: PathBuf,
        params: &LanguageServer,
        root: &Arc<Root>,
    ) -> Result<Arc<Server>, ToolError> {
        let mut reason = None;
        if let Some(server) = &slot.server {
            reason = server.closed();
            if reason.is_none() {
                return Ok(Arc::clone(server));
            }
            slot.server = None;
            slot.failures.push(Instant::now());
        }
        slot.failures.retain(|failure| failure.elapsed() < PERIOD);
        if slot.failures.len() >= MAX_FAILURES {
            let reason = reason.unwrap_or_else(|| "it did not start".to_owned());
            return Err(failed(
                language,
                &format!(
                    "has ended {MAX_FAILURES} times and is not started again for some minutes: {reason}"
                ),
            ));
        }
        self.end_orphans();
        let (params, root, workspace) = (params.clone(), Arc::clone(root), self.workspace.clone());
        let limit = self.limit;
        let (sender, started) = oneshot::channel();
        let start = async move {
            let server = Server::start(program, &params, &root, &workspace, limit).await;
            let server = server.map(Arc::new);
            match &server {
                Ok(server) => slot.server = Some(Arc::clone(server)),
                Err(_) => slot.failures.push(Instant::now()),
            }
            drop(slot);
            let _ = sender.send(server);
        };
        self.spawn(start);
        let server = started.await.unwrap_or_else(|_| Err("the pool closes".to_owned()));
        server.map_err(|reason| failed(language, &format!("did not start: {reason}")))
    }

    fn spawn(&self, start: impl Future<Output = ()> + Send + 'static) {
        let mut starts = lock(&self.starts);
        while starts.try_join_next().is_some() {}
        starts.spawn(start);
    }

    fn slot(&self, language: &str, root: &Root) -> SharedSlot {
        let key = (language.to_owned(), root.canonical_path().to_owned());
        let mut slots = lock(&self.slots);
        Arc::clone(slots.entry(key).or_default())
    }

    /// Ends servers whose worktree was removed.
    fn end_orphans(&self) {
        let mut slots = lock(&self.slots);
        slots.retain(|(_, root), slot| {
            let server = match slot.try_lock() {
                Ok(mut slot) if !root.exists() => slot.server.take(),
                _ => return true,
            };
            if let Some(server) = server {
                tokio::spawn(async move { server.shut_down().await });
            }
            false
        });
    }

    /// Ends all servers.
    pub(super) async fn close(&self) {
        let mut starts = std::mem::take(&mut *lock(&self.starts));
        starts.shutdown().await;
        let slots = std::mem::take(&mut *lock(&self.slots));
        for slot in slots.into_values() {
            if let Some(server) = slot.lock().await.server.take() {
                server.shut_down().await;
            }
        }
    }
}

/// An error about the server of a language.
pub(super) fn failed(language: &str, reason: &str) -> ToolError {
    ToolError::user(format!("the language server for `{language}` {reason}"))
}
