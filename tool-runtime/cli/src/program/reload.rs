//! The configuration of a running program is read again.

use super::beside::Servers;
use crate::BoxError;
use crate::signals::HangUps;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tool_runtime_core::seam::{RELOADS, one_line};
use tool_runtime_core::vocabulary::BoxFuture;

/// Reads the configuration of a running [`Program`](super::Program) again: when SIGHUP arrives, and when a file of it has
/// changed and stays the same for an interval. External MCP servers are read afterwards.
pub trait Reload: Send + Sync + 'static {
    /// The files of the configuration, now.
    fn files(&self) -> Vec<PathBuf>;

    /// Checks the configuration, and applies it as a whole.
    ///
    /// # Errors
    /// All mistakes. Nothing was changed, but what must count whatever else is wrong: a rule that denies, a removed token.
    fn reload(&self) -> BoxFuture<'_, Result<(), BoxError>>;

    /// Called after a reload, when the entries of external MCP servers are replaced; they are being connected to.
    fn reloaded(&self) {}
}

/// The pause between looks at the files. A changed file is read once it stays the same for one: one that is still being
/// written may be valid, with less in it.
const INTERVAL: Duration = Duration::from_secs(2);

/// Limit on the characters of mistakes in a line of the log.
const MAX_MISTAKES: usize = 8_000;

/// Files, and their contents. `None`: it cannot be read, or what was read is not known.
type State = Vec<(PathBuf, Option<Vec<u8>>)>;

/// The configuration of a program, and its files as they were read.
pub(crate) struct Reloading {
    reload: Arc<dyn Reload>,
    state: State,
    hang_ups: HangUps,
}

impl Reloading {
    /// From now on SIGHUP does not end the process. `began`: when the program began to read its files.
    pub(super) fn new(reload: Arc<dyn Reload>, began: SystemTime) -> Self {
        let mut state = read(reload.files());
        // What was read of a file that has changed since is not known.
        let is_newer = |file: &Path| {
            std::fs::metadata(file).and_then(|it| it.modified()).is_ok_and(|time| time > began)
        };
        state.iter_mut().filter(|(file, _)| is_newer(file)).for_each(|(_, text)| *text = None);
        Self { reload, state, hang_ups: HangUps::install() }
    }

    /// Applies the configuration at each SIGHUP, and when a file of it has changed.
    pub(super) async fn follow(self, servers: Option<Servers<'_>>) -> Infallible {
        let Self { reload, state: mut applied, mut hang_ups } = self;
        let mut before = None;
        loop {
            let is_asked = tokio::select! {
                () = hang_ups.next() => true,
                () = tokio::time::sleep(INTERVAL) => false,
            };
            let now = read_apart(reload.files()).await;
            let is_stable = now != applied && before.as_ref() == Some(&now);
            if is_asked || is_stable {
                if apply(&*reload, servers).await {
                    reload.reloaded();
                }
                // Other files may belong to the new version.
                let after = read_apart(reload.files()).await;
                let is_same =
                    |file: &(PathBuf, _)| now.iter().all(|it| it.0 != file.0 || it == file);
                applied = if after.iter().all(is_same) { after } else { now };
                before = None;
            } else {
                before = Some(now);
            }
        }
    }
}

/// Whether the new version was taken.
async fn apply(reload: &dyn Reload, servers: Option<Servers<'_>>) -> bool {
    if let Err(error) = reload.reload().await {
        let mistakes = joined(&error.to_string());
        tracing::error!(target: RELOADS, "the configuration is not replaced by its new version: {mistakes}");
        return false;
    }
    #[cfg(feature = "mcp-client")]
    if let Some((files, manager)) = servers {
        let replaced = async { Ok::<_, BoxError>(manager.replace(files.load()?).await?) };
        let change = match replaced.await {
            Ok(change) => change,
            Err(error) => {
                let mistakes = joined(&error.to_string());
                tracing::error!("the external servers were not all replaced: {mistakes}");
                tool_runtime_client::McpChange::default()
            }
        };
        tracing::info!(
            target: RELOADS,
            servers_added = names(&change.added),
            servers_changed = names(&change.changed),
            servers_removed = names(&change.removed),
            "the configuration was read again"
        );
        return true;
    }
    #[cfg(not(feature = "mcp-client"))]
    let _ = servers;
    tracing::info!(target: RELOADS, "the configuration was read again");
    true
}

/// Names of servers, if there are any.
#[cfg(feature = "mcp-client")]
fn names(servers: &[String]) -> Option<String> {
    (!servers.is_empty()).then(|| servers.join(", "))
}

/// Mistakes on one line, each of which is a line of the error.
fn joined(error: &str) -> String {
    let mistakes = error.replace(":\n- ", ": ").replace("\n- ", "; ");
    one_line(&mistakes, MAX_MISTAKES)
}

/// Reads files in a thread for blocking work.
async fn read_apart(files: Vec<PathBuf>) -> State {
    tokio::task::spawn_blocking(|| read(files)).await.unwrap_or_default()
}

fn read(files: Vec<PathBuf>) -> State {
    let contents = |file: PathBuf| {
        let text = std::fs::read(&file).ok();
        (file, text)
    };
    files.into_iter().map(contents).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_the_log_are_one_line() {
        let error = "the configuration cannot be used:\n- a.toml:1: no\n  way\n- a.toml:2: no";
        assert_eq!(
            joined(error),
            "the configuration cannot be used: a.toml:1: no way; a.toml:2: no"
        );
    }
}
