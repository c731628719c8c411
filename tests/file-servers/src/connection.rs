//! A server that runs, and the operations of the cases in its words.

use crate::server::Server;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// More than any call takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A server over standard input and output.
pub(crate) struct Connection {
    server: Server,
    client: RunningService<RoleClient, ()>,
    id: u32,
}

/// The text of a call, or of its error.
pub(crate) type Answer = Result<String, String>;

impl Connection {
    /// Starts a server for a directory.
    ///
    /// # Panics
    /// The server does not start.
    pub(crate) async fn start(server: &Server, root: &Path, is_limited: bool) -> Self {
        let command = server.command(root, is_limited);
        let process = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn();
        let (process, _) = process.unwrap_or_else(|error| panic!("{server:?}: {error}"));
        let id = process.id().expect("the process runs");
        let client = ().serve(process).await.unwrap_or_else(|error| panic!("{server:?}: {error}"));
        Self { server: server.clone(), client, id }
    }

    /// The most memory that the server has used, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id));
        let status = status.expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes.and_then(|number| number.parse::<u64>().ok()).expect("a number") << 10
    }

    /// Reads a text file.
    pub(crate) async fn read(&self, path: &Path) -> Answer {
        match self.server {
            Server::Toolbox(_) => self.call("Read", json!({ "file_path": path })).await,
            _ => self.call("read_text_file", json!({ "path": path })).await,
        }
    }

    /// Reads the first lines of a text file.
    pub(crate) async fn head(&self, path: &Path, lines: u32) -> Answer {
        match self.server {
            Server::Toolbox(_) => {
                self.call("Read", json!({ "file_path": path, "limit": lines })).await
            }
            Server::Reference => {
                self.call("read_text_file", json!({ "path": path, "head": lines })).await
            }
            Server::RustMcp => {
                self.call("head_file", json!({ "path": path, "lines": lines })).await
            }
        }
    }

    /// Replaces the whole content, or creates the file.
    pub(crate) async fn write(&self, path: &Path, content: &str) -> Answer {
        match self.server {
            Server::Toolbox(_) => {
                self.call("Write", json!({ "file_path": path, "content": content })).await
            }
            _ => self.call("write_file", json!({ "path": path, "content": content })).await,
        }
    }

    /// Replaces a string.
    pub(crate) async fn edit(&self, path: &Path, old: &str, new: &str) -> Answer {
        match self.server {
            Server::Toolbox(_) => {
                let arguments = json!({ "file_path": path, "old_string": old, "new_string": new });
                self.call("Edit", arguments).await
            }
            _ => {
                let edits = json!([{ "oldText": old, "newText": new }]);
                self.call("edit_file", json!({ "path": path, "edits": edits })).await
            }
        }
    }

    /// A failure of the connection is an error as well.
    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        let Value::Object(arguments) = arguments else { unreachable!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = tokio::time::timeout(LIMIT, self.client.call_tool(request)).await;
        let result = result.map_err(|_| "no answer in time".to_owned())?;
        let result = result.map_err(|error| error.to_string())?;
        let blocks = result.content.iter().filter_map(|block| block.as_text());
        let text: String = blocks.map(|text| text.text.as_str()).collect();
        if result.is_error == Some(true) { Err(text) } else { Ok(text) }
    }

    /// Ends the server.
    pub(crate) async fn close(self) {
        drop(self.client.cancel().await);
    }
}
