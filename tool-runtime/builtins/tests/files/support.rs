//! A directory of a test, and a pool over it.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::govern::OutputLimits;
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Profile, Workspace};

/// A directory that is deleted at the end of its test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("builtins-files-{}-{number}", std::process::id());
        let path = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, with its directories.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.get(name)).unwrap()
    }

    /// The names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The tools over a directory.
pub(crate) struct Tools(pub(crate) ToolPool);

impl Tools {
    /// Over the directory `root` of a folder.
    pub(crate) fn over(root: impl AsRef<Path>) -> Self {
        let workspace = Workspace::builder().root(root.as_ref()).build().unwrap();
        Self::of(workspace)
    }

    /// Over a directory, with the default limits on results.
    pub(crate) fn limited(root: impl AsRef<Path>) -> Self {
        let workspace = Workspace::builder().root(root.as_ref()).build().unwrap();
        let builder = ToolPool::builder().install(builtins(workspace));
        Self(builder.output_limits(OutputLimits::default()).build().unwrap())
    }

    /// Over a directory, in a pool that repairs calls.
    pub(crate) fn repairing(root: impl AsRef<Path>) -> Self {
        let workspace = Workspace::builder().root(root.as_ref()).build().unwrap();
        Self(ToolPool::builder().install(builtins(workspace)).repair().build().unwrap())
    }

    pub(crate) fn of(workspace: Workspace) -> Self {
        Self(ToolPool::builder().install(builtins(workspace)).build().unwrap())
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.0.call(ToolCall::new(tool, arguments.to_string())).await
    }

    /// The text of a call that succeeds.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await;
            let text = result.observation().to_text();
            assert!(!result.is_error(), "{caller}: {text}");
            text
        }
    }

    /// The text of a call that fails.
    #[track_caller]
    pub(crate) fn error(&self, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await;
            let text = result.observation().to_text();
            assert!(result.is_error(), "{caller}: {text}");
            text
        }
    }

    /// The structured value of a call that succeeds.
    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert!(!result.is_error(), "{}", result.observation().to_text());
        result.observation().structured().unwrap().clone()
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        self.ok("Read", json!({ "file_path": path })).await
    }

    /// Reads a file, then replaces text in it.
    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> String {
        self.read(path).await;
        self.ok("Edit", edit(path, old, new)).await
    }
}

fn builtins(workspace: Workspace) -> Builtins {
    Builtins::new(workspace).profiles([Profile::Standard, Profile::OpenHands]).files()
}

/// Arguments of `Edit`.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

/// A folder with files, and the tools over it.
pub(crate) fn tools(files: &[(&str, &str)]) -> (Folder, Tools) {
    let folder = Folder::new();
    for (name, content) in files {
        folder.put(name, content);
    }
    let tools = Tools::over(folder.path(""));
    (folder, tools)
}
