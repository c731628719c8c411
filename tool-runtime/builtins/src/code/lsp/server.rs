//! One language server: a process, its connection, its documents.

use super::connection::Connection;
use super::documents::{Documents, Synced};
use super::error::LspError;
use super::hits;
use super::host::Host;
use super::position::Encoding;
use super::uri;
use super::watch::Watch;
use crate::code::params::LanguageServer;
use crate::confine::Child;
use crate::process::{Started, start};
use crate::process_tree::{KillOnDrop, Tree};
use crate::workspace::{Root, Workspace};
use process_wrap::tokio::ChildWrapper;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tool_runtime::__seam::lock;

/// Bytes of the error output that are kept.
const MAX_STDERR: usize = 2 << 10;
/// Time to read a document that was just opened: until its diagnostics are published, for servers that do so, or else
/// until work is reported. A server that has done neither is silent, unless it surely publishes, and is asked at once
/// from then on.
const READING: Duration = Duration::from_secs(15);
const SILENT: Duration = Duration::from_secs(2);
const REPORTING: Duration = Duration::from_millis(500);
/// Time to wait for a server that reads the project. After it, requests are sent anyway.
const MAX_BUSY: Duration = Duration::from_secs(30);
/// Time to end by itself, for the response to `shutdown` and for the process.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// A server that runs.
pub(super) struct Server {
    pub(super) connection: Connection,
    pub(super) encoding: Encoding,
    pub(super) documents: tokio::sync::Mutex<Documents>,
    capabilities: Value,
    /// Whether diagnostics of a document may be published when it is opened. Servers that are asked for them need not.
    publishes: AtomicBool,
    /// Whether the configuration says that they are.
    surely_publishes: bool,
    stderr: Arc<Mutex<Vec<u8>>>,
    child: Mutex<Option<Box<dyn ChildWrapper>>>,
    tree: Tree,
    _processes: KillOnDrop,
}

impl Server {
    /// Starts a server for a root.
    ///
    /// # Errors
    /// The program does not start, or does not become ready in time.
    pub(super) async fn start(
        program: PathBuf,
        params: &LanguageServer,
        root: &Arc<Root>,
        workspace: &Workspace,
        limit: Duration,
    ) -> Result<Self, String> {
        let started = spawn(program, params, root, workspace).await;
        let started = started.map_err(|error| format!("`{}`: {error}", params.command.display()));
        let Started { mut child, tree } = started?;
        let processes = KillOnDrop(Some(tree.clone()));
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(stream) = child.stderr().take() {
            tokio::spawn(keep_end(stream, Arc::clone(&stderr)));
        }
        let (Some(input), Some(output)) = (child.stdout().take(), child.stdin().take()) else {
            return Err("the process has no streams".to_owned());
        };
        let folder = json!({"uri": uri::from_path(root.canonical_path()), "name": "root"});
        let host = Host { settings: params.settings.clone(), folder: folder.clone() };
        let connection = Connection::open(input, output, host);
        let options = params.initialization_options.clone();
        let ready = initialize(&connection, folder, options, limit).await;
        let capabilities = ready.map_err(|error| with_stderr(&error.to_string(), &stderr))?;
        if !params.settings.is_null() {
            let settings = json!({"settings": params.settings});
            let sent = connection.notify("workspace/didChangeConfiguration", settings).await;
            sent.map_err(|error| with_stderr(&error.to_string(), &stderr))?;
        }
        let watch = Watch::new(params.extensions.keys().cloned());
        Ok(Self {
            connection,
            encoding: Encoding::from_name(capabilities["positionEncoding"].as_str()),
            documents: tokio::sync::Mutex::new(Documents::new(Arc::clone(root), watch)),
            publishes: AtomicBool::new(capabilities["diagnosticProvider"].is_null()),
            surely_publishes: params.publishes_diagnostics,
            capabilities,
            stderr,
            child: Mutex::new(Some(child)),
            tree,
            _processes: processes,
        })
    }

    /// Whether the server has a capability.
    pub(super) fn can(&self, capability: &str) -> bool {
        let value = &self.capabilities[capability];
        !value.is_null() && *value != false
    }

    /// Waits until the server has read the project. Returns whether it has.
    pub(super) async fn idle(&self) -> bool {
        self.connection.status().idle(MAX_BUSY).await
    }

    /// Waits until the server has read a document that was just opened. Servers accept requests before, and respond
    /// without the rest of the project.
    pub(super) async fn settle(&self, opened: &Synced) {
        let publishes = self.publishes.load(Ordering::Relaxed);
        let status = self.connection.status();
        let published = |limit| status.published(&opened.path, opened.published_before, limit);
        let may_follow = || publishes && (self.surely_publishes || status.is_working());
        let is_published = published(if publishes { SILENT } else { REPORTING }).await
            || may_follow() && published(READING - SILENT).await;
        if !is_published {
            self.publishes.store(false, Ordering::Relaxed);
        }
    }

    /// The reason why the server ended, with the end of its error output.
    pub(super) fn closed(&self) -> Option<String> {
        self.connection.closed().map(|reason| with_stderr(&reason, &self.stderr))
    }

    /// Ends the server and all that it started.
    pub(super) async fn shut_down(&self) {
        if self.connection.request("shutdown", Value::Null, SHUTDOWN).await.is_ok() {
            let _ = self.connection.notify("exit", Value::Null).await;
            let child = lock(&self.child).take();
            if let Some(mut child) = child {
                let _ = tokio::time::timeout(SHUTDOWN, child.wait()).await;
            }
        }
        let tree = self.tree.clone();
        // Fails only if the runtime shuts down; the guard ends the processes then.
        let _ = tokio::task::spawn_blocking(move || tree.kill()).await;
    }
}

async fn spawn(
    program: PathBuf,
    params: &LanguageServer,
    root: &Root,
    workspace: &Workspace,
) -> io::Result<Started> {
    let confinement = workspace.confinement();
    let (program, arguments) = confinement.program(&Child::LanguageServer, program)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(&params.arguments)
        .env_clear()
        .envs(workspace.environment())
        .current_dir(root.canonical_path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if confinement.is_on() {
        // The project and the home directory cannot be written.
        let user = rustix::process::getuid().as_raw();
        let caches = std::env::temp_dir().join(format!("language-servers-{user}"));
        command.env("XDG_CACHE_HOME", &caches).env("CARGO_TARGET_DIR", caches.join("cargo"));
    }
    start(confinement, Child::LanguageServer, command).await
}

async fn initialize(
    connection: &Connection,
    folder: Value,
    options: Value,
    limit: Duration,
) -> Result<Value, LspError> {
    let params = json!({
        "processId": std::process::id(),
        "clientInfo": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folder["uri"],
        "workspaceFolders": [folder],
        "initializationOptions": options,
        "capabilities": client_capabilities(),
    });
    let mut result = connection.request("initialize", params, limit).await?;
    connection.notify("initialized", json!({})).await?;
    Ok(hits::member(&mut result, "capabilities"))
}

fn client_capabilities() -> Value {
    json!({
        "general": {"positionEncodings": Encoding::OFFERED},
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
        },
        "window": {"workDoneProgress": true},
        "textDocument": {
            "synchronization": {},
            "definition": {"linkSupport": true},
            "implementation": {"linkSupport": true},
            "references": {},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "callHierarchy": {},
            "rename": {},
            "diagnostic": {},
            "publishDiagnostics": {"versionSupport": true},
        },
        "experimental": {"serverStatusNotification": true},
    })
}

/// Keeps the end of what a server writes to its error output.
async fn keep_end(mut stream: impl AsyncRead + Unpin, end: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        let mut end = lock(&end);
        end.extend_from_slice(&buffer[..length]);
        let excess = end.len().saturating_sub(MAX_STDERR);
        end.drain(..excess);
    }
}

fn with_stderr(reason: &str, stderr: &Mutex<Vec<u8>>) -> String {
    let stderr = lock(stderr);
    let text = String::from_utf8_lossy(&stderr);
    match text.trim() {
        "" => reason.to_owned(),
        text => format!("{reason}; it wrote: {text}"),
    }
}
