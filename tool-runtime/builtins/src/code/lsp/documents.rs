//! Documents of a server, which have the content of their files whenever a request is sent.

use super::connection::Connection;
use super::error::LspError;
use super::uri;
use super::watch::Watch;
use crate::workspace::Root;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime::ToolError;

/// Documents that are open at a time. The one that was not used for the longest time is closed.
const MAX_OPEN: usize = 50;
/// Bytes of a file.
const MAX_FILE: u64 = 8 << 20;

/// The documents of one server.
pub(super) struct Documents {
    root: Arc<Root>,
    /// By paths relative to the root.
    open: BTreeMap<PathBuf, Document>,
    watch: Watch,
    syncs: u64,
}

struct Document {
    text: Arc<str>,
    version: i32,
    last_used: u64,
    /// How often its diagnostics had been published when it was opened, and when its text was sent last.
    opened_after: u64,
    published_before: u64,
    /// Whether the server has had time to read it.
    is_settled: bool,
}

/// A document that the server has.
pub(super) struct Synced {
    pub(super) path: PathBuf,
    pub(super) uri: String,
    pub(super) text: Arc<str>,
    /// Whether diagnostics were published since it was opened.
    pub(super) has_diagnostics: bool,
    pub(super) published_before: u64,
    /// How often its diagnostics had been published when the server was told of changed files, if there were any.
    pub(super) changed_after: Option<u64>,
}

impl Document {
    /// A document that was opened when its diagnostics had been published `published` times.
    fn new(text: Arc<str>, published: u64) -> Self {
        Self {
            text,
            version: 1,
            last_used: 0,
            opened_after: published,
            published_before: published,
            is_settled: false,
        }
    }
}

/// A failed synchronisation.
pub(super) enum SyncError {
    /// The file cannot be used.
    File(ToolError),
    /// The server cannot be reached.
    Server(LspError),
}

impl From<LspError> for SyncError {
    fn from(error: LspError) -> Self {
        Self::Server(error)
    }
}

impl Documents {
    pub(super) fn new(root: Arc<Root>, watch: Watch) -> Self {
        Self { root, open: BTreeMap::new(), watch, syncs: 0 }
    }

    /// Tells the server about all files that changed, and opens one.
    pub(super) async fn sync(
        &mut self,
        connection: &Connection,
        path: &Path,
        language_id: &str,
    ) -> Result<Synced, SyncError> {
        self.syncs += 1;
        let text = read(&self.root, path).map_err(SyncError::File)?;
        let published = connection.status().published_count(&self.absolute(path));
        self.refresh(connection).await?;
        let changes = self.watch.changes(&self.root).await;
        let changed_after = (!changes.is_empty()).then_some(published);
        if !changes.is_empty() {
            connection
                .notify("workspace/didChangeWatchedFiles", json!({"changes": changes}))
                .await?;
        }
        if !self.open.contains_key(path) {
            self.make_room(connection).await?;
            let document = json!({"uri": self.uri(path), "languageId": language_id, "version": 1, "text": &*text});
            let document = json!({"textDocument": document});
            let published = connection.status().published_count(&self.absolute(path));
            connection.notify("textDocument/didOpen", document).await?;
            self.open.insert(path.to_owned(), Document::new(Arc::clone(&text), published));
        }
        let syncs = self.syncs;
        let (opened_after, published_before) = self.open.get_mut(path).map_or((0, 0), |document| {
            document.last_used = syncs;
            (document.opened_after, document.published_before)
        });
        Ok(Synced {
            path: self.absolute(path),
            uri: self.uri(path),
            text,
            has_diagnostics: published > opened_after,
            published_before,
            changed_after,
        })
    }

    /// Whether a document is open, and the server has had time to read it.
    pub(super) fn is_settled(&self, path: &Path) -> bool {
        self.open.get(path).is_some_and(|document| document.is_settled)
    }

    /// The server has had time to read a document.
    pub(super) fn settled(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.is_settled = true;
        }
    }

    /// Sends the content of open documents whose files changed, and closes those whose files are gone.
    async fn refresh(&mut self, connection: &Connection) -> Result<(), LspError> {
        let paths: Vec<PathBuf> = self.open.keys().cloned().collect();
        for path in paths {
            let (uri, absolute) = (self.uri(&path), self.absolute(&path));
            let Ok(text) = read(&self.root, &path) else {
                self.open.remove(&path);
                close(connection, &uri).await?;
                continue;
            };
            let Some(document) = self.open.get_mut(&path).filter(|document| document.text != text)
            else {
                continue;
            };
            let (version, published) =
                (document.version + 1, connection.status().published_count(&absolute));
            let identity = json!({"uri": uri, "version": version});
            // A change without a range is the whole content, also for servers that take parts.
            let change = json!({"textDocument": identity, "contentChanges": [{"text": &*text}]});
            connection.notify("textDocument/didChange", change).await?;
            // After the notification: a call that is dropped before it changes nothing.
            (document.version, document.published_before, document.text) =
                (version, published, text);
        }
        Ok(())
    }

    async fn make_room(&mut self, connection: &Connection) -> Result<(), LspError> {
        while self.open.len() >= MAX_OPEN {
            let oldest = self.open.iter().min_by_key(|(_, document)| document.last_used);
            let Some(path) = oldest.map(|(path, _)| path.clone()) else { break };
            self.open.remove(&path);
            close(connection, &self.uri(&path)).await?;
        }
        Ok(())
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.root.canonical_path().join(path)
    }

    fn uri(&self, path: &Path) -> String {
        uri::from_path(&self.absolute(path))
    }
}

async fn close(connection: &Connection, uri: &str) -> Result<(), LspError> {
    let document: Value = json!({"textDocument": {"uri": uri}});
    connection.notify("textDocument/didClose", document).await
}

/// The text of a file below a root.
///
/// # Errors
/// It cannot be read, is too large, or is not text in UTF-8.
pub(super) fn read(root: &Root, path: &Path) -> Result<Arc<str>, ToolError> {
    let failed = |reason: String| ToolError::user(format!("`{}`: {reason}", path.display()));
    let file = root.open_file(path).map_err(|error| failed(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(failed(format!("has more than {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map(Arc::from).map_err(|_| failed("is not text in UTF-8".to_owned()))
}
