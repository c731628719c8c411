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
    pub(super) async fn get(
        &self,
        language: &str,
        root: &Arc<Root>,
    ) -> Result<Arc<Server>, ToolError> {
        let params = self.languages.get(language).ok_or_else(|| {
            ToolError::user(format!("no language server is set up for `{language}`"))
        })?;
        let program = find_server(params, &self.workspace).map_err(ToolError::user)?;
        let slot = self.slot(language, root);
        let mut slot = slot.lock().await;
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
        match Server::start(program, params, root, &self.workspace, self.limit).await {
            Ok(server) => Ok(Arc::clone(slot.server.insert(Arc::new(server)))),
            Err(reason) => {
                slot.failures.push(Instant::now());
                Err(failed(language, &format!("did not start: {reason}")))
            }
        }
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
