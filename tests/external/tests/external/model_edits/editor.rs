//! The tools for files over a directory with one file.

use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Profile, Workspace};

pub(crate) const FILE: &str = "file.rs";

pub(crate) struct Editor {
    directory: TempDir,
    pool: ToolPool,
}

impl Editor {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let builtins =
            Builtins::new(workspace).profiles([Profile::Standard, Profile::OpenHands]).files();
        let pool = ToolPool::builder().install(builtins).build().unwrap();
        Self { directory, pool }
    }

    /// Replaces the content of the file, and reads it, as the tools ask for.
    pub(crate) async fn write(&self, content: &str) {
        fs::write(self.directory.path().join(FILE), content).unwrap();
        let result = self.call("Read", json!({ "file_path": FILE })).await;
        assert!(!result.is_error(), "{}", result.observation().to_text());
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.pool.call(ToolCall::json(tool, arguments)).await
    }

    pub(crate) fn content(&self) -> String {
        fs::read_to_string(self.directory.path().join(FILE)).unwrap()
    }
}
