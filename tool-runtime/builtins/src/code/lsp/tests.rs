//! The tool over a scripted server.

mod answers;
mod failures;
mod processes;
mod without_server;

use crate::code::{CodeParams, LanguageServer};
use crate::test_time::{in_time, skip_time};
use crate::{Builtins, Workspace};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tool_runtime::prelude::*;

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(60);
/// The limit of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The server of `server.py`, with the encoding of its positions. `kind` is `push`, `pull` or `silent`: how it gives
/// diagnostics.
fn scripted(encoding: &str, kind: &str) -> LanguageServer {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/code/lsp/tests/server.py");
    LanguageServer::new("python3", [script.to_str().unwrap(), encoding, kind], [("x", "fake")])
}

/// A directory, and a pool over it with one server.
struct Fixture {
    directory: TempDir,
    pool: ToolPool,
}

impl Fixture {
    fn new() -> Self {
        Self::with(scripted("utf-16", "push"))
    }

    fn with(server: LanguageServer) -> Self {
        Self::limited(server, TIMEOUT)
    }

    fn limited(server: LanguageServer, timeout: Duration) -> Self {
        let directory = TempDir::new().unwrap();
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let params = CodeParams {
            language_servers: [("fake".to_owned(), server)].into(),
            language_server_timeout: timeout.as_secs(),
            ..CodeParams::default()
        };
        let builtins = Builtins::new(workspace).code(params);
        let pool = ToolPool::builder().install(builtins).check_outputs().build().unwrap();
        Self { directory, pool }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    async fn call(&self, arguments: Value) -> Result<Value, String> {
        let call = self.pool.call(ToolCall::json("LSP", arguments));
        let result = tokio::time::timeout(LIMIT, call).await.expect("the call hangs");
        let observation = result.observation();
        match observation.structured().filter(|_| !result.is_error()) {
            Some(value) => Ok(value.clone()),
            None => Err(observation.to_text()),
        }
    }

    /// The capabilities of the scripted server.
    async fn state(&self, path: &str) -> Result<Value, String> {
        let response = self.call(at("hover", path, 1, 1)).await?;
        Ok(serde_json::from_str(response["hover"].as_str().unwrap()).unwrap())
    }

    /// The error of a server that does not respond in time, which is skipped when it has closed a pipe.
    async fn out_of_time(&self, path: &str, pipe: oneshot::Receiver<String>) -> String {
        let is_over = Cell::new(false);
        let call = async {
            let response = self.pool.call(ToolCall::json("LSP", at("hover", path, 1, 1))).await;
            is_over.set(true);
            response
        };
        let expire = async {
            ended(pipe).await;
            // The server may be there before the tool waits for it.
            while !is_over.get() {
                skip_time(TIMEOUT).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let (response, ()) = in_time(async { tokio::join!(call, expire) }).await;
        assert!(response.is_error(), "{}", response.observation().to_text());
        response.observation().to_text()
    }

    /// A named pipe in the root, and what is read from it once all its writers have ended.
    fn pipe(&self, name: &str) -> oneshot::Receiver<String> {
        let path = self.make_pipe(name);
        let (sender, receiver) = oneshot::channel();
        // Not a thread of the runtime, which would wait for it when a test fails.
        std::thread::spawn(move || drop(sender.send(fs::read_to_string(path).unwrap())));
        receiver
    }

    fn make_pipe(&self, name: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        path
    }

    async fn close(&self) {
        tokio::time::timeout(LIMIT, self.pool.close()).await.expect("`close` hangs");
    }
}

fn at(operation: &str, path: &str, line: usize, character: usize) -> Value {
    json!({"operation": operation, "file_path": path, "line": line, "character": character})
}

async fn ended(pipe: oneshot::Receiver<String>) -> String {
    tokio::time::timeout(LIMIT, pipe).await.expect("a process lives on").unwrap()
}
