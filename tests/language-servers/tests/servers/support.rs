//! A project, and the tool over it.

use crate::install::{node, packages};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_builtins::code::{CodeParams, LanguageServer};
use tool_runtime_builtins::{Builtins, Workspace};

/// A directory with files, and a pool over it.
pub(crate) struct Project {
    directory: TempDir,
    pool: ToolPool,
}

impl Project {
    /// The server is the default one of a language, run by the installed Node.js from a script of the packages.
    pub(crate) fn new(language: &str, script: &str, files: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let mut server = LanguageServer::defaults()[language].clone();
        server.command = node();
        server.arguments.insert(0, packages().join(script).display().to_string());
        let tsserver = packages().join("typescript/lib/tsserver.js");
        server.initialization_options["tsserver"]["path"] = json!(tsserver);
        let params = CodeParams {
            language_servers: [(language.to_owned(), server)].into(),
            ..CodeParams::default()
        };
        let pool =
            ToolPool::builder().install(Builtins::new(workspace).code(params)).check_outputs();
        Self { directory, pool: pool.build().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Asks again while the server starts, for which the tool does not wait for long.
    pub(crate) async fn ask(&self, arguments: Value) -> Value {
        loop {
            let result = self.pool.call(ToolCall::json("LSP", arguments.clone())).await;
            let text = result.observation().to_text();
            assert!(!result.is_error(), "{text}");
            if !text.contains("ask again later") {
                return result.observation().structured().unwrap().clone();
            }
        }
    }

    /// The question about the position of a string in a file: `before` ends where the symbol begins.
    pub(crate) async fn ask_at(&self, operation: &str, path: &str, before: &str) -> Value {
        self.ask(self.position(operation, path, before)).await
    }

    pub(crate) fn position(&self, operation: &str, path: &str, before: &str) -> Value {
        let text = fs::read_to_string(self.path(path)).unwrap();
        let end = text.find(before).unwrap_or_else(|| panic!("`{before}` is not in `{path}`"))
            + before.len();
        let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let line = text[..end].matches('\n').count() + 1;
        let character = text[start..end].chars().count() + 1;
        json!({"operation": operation, "file_path": path, "line": line, "character": character})
    }

    pub(crate) async fn error(&self, arguments: Value) -> String {
        let result = self.pool.call(ToolCall::json("LSP", arguments)).await;
        assert!(result.is_error());
        result.observation().to_text()
    }

    pub(crate) async fn close(self) {
        self.pool.close().await;
    }
}

/// `path:line:character` of all items, sorted.
pub(crate) fn places(value: &Value) -> Vec<String> {
    let items = value["items"].as_array().unwrap().iter();
    let place = |item: &Value| {
        format!("{}:{}:{}", item["path"].as_str().unwrap(), item["line"], item["character"])
    };
    let mut places: Vec<String> = items.map(place).collect();
    places.sort();
    places
}

/// `kind name` of all items, sorted.
pub(crate) fn names(value: &Value) -> Vec<String> {
    let items = value["items"].as_array().unwrap().iter();
    let name = |item: &Value| {
        format!("{} {}", item["kind"].as_str().unwrap(), item["name"].as_str().unwrap())
    };
    let mut names: Vec<String> = items.map(name).collect();
    names.sort();
    names
}
