//! Reads the configuration again while the program serves.

use super::Files;
use crate::BoxError;
use crate::program::Reload;
use crate::signals::HangUps;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_client::McpManager;

/// The pause between looks at the files. A changed file is read once it stays the same for one: one that is still being
/// written may be valid, with less in it.
const INTERVAL: Duration = Duration::from_secs(2);

/// Files, and their contents. `None`: it cannot be read.
type State = Vec<(PathBuf, Option<Vec<u8>>)>;

/// The configuration of a program, and its files as they were read.
pub(super) struct Reloading {
    reload: Arc<dyn Reload>,
    state: State,
}

impl Reloading {
    pub(super) fn new(reload: Arc<dyn Reload>) -> Self {
        let state = read(reload.files());
        Self { reload, state }
    }
}

/// Applies the configuration at each SIGHUP, and when a file of it has changed.
pub(super) async fn follow(files: &Files, manager: &McpManager) -> Infallible {
    let Some(Reloading { reload, state }) = &files.reload else { return pending().await };
    let mut hang_ups = HangUps::install();
    let (mut applied, mut before) = (state.clone(), None);
    loop {
        let is_asked = tokio::select! {
            () = hang_ups.next() => true,
            () = tokio::time::sleep(INTERVAL) => false,
        };
        let names = reload.files();
        let now = tokio::task::spawn_blocking(|| read(names)).await.unwrap_or_default();
        let is_stable = now != applied && before.as_ref() == Some(&now);
        if is_asked || is_stable {
            apply(files, &**reload, manager).await;
            // Other files may belong to the new version.
            let names = reload.files();
            let read_now = tokio::task::spawn_blocking(|| read(names)).await.unwrap_or_default();
            let is_same = |file: &(PathBuf, _)| now.iter().all(|it| it.0 != file.0 || it == file);
            applied = if read_now.iter().all(is_same) { read_now } else { now };
            before = None;
        } else {
            before = Some(now);
        }
    }
}

async fn apply(files: &Files, reload: &dyn Reload, manager: &McpManager) {
    let applied = async {
        reload.reload().await?;
        let change = manager.replace(files.load()?).await?;
        Ok::<_, BoxError>(change)
    };
    match applied.await {
        Ok(change) => tracing::info!(
            servers_added = change.added.len(),
            servers_changed = change.changed.len(),
            servers_removed = change.removed.len(),
            "the configuration was read again"
        ),
        Err(error) => {
            tracing::error!("the configuration is not replaced by its new version: {error}");
        }
    }
}

fn read(files: Vec<PathBuf>) -> State {
    let contents = |file: PathBuf| {
        let text = std::fs::read(&file).ok();
        (file, text)
    };
    files.into_iter().map(contents).collect()
}
