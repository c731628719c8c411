//! A directory with files, and all tools over it.

use crate::out_of_time::out_of_time;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tool_runtime::pool::DeclaredTools;
use tool_runtime::prelude::*;
use tool_runtime::secret::Secrets;
use tool_runtime::shell::ShellMatcher;
use tool_runtime_builtins::shell::ShellParams;
use tool_runtime_builtins::{Builtins, Profile, Workspace};

/// More than any call takes.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Desk {
    _folder: TempDir,
    root: PathBuf,
    pub(crate) pool: ToolPool,
}

impl Desk {
    /// Files with their contents, from the oldest to the newest.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, ShellParams::default(), Secrets::new())
    }

    pub(crate) fn with(files: &[(&str, &str)], shell: ShellParams, secrets: Secrets) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        fs::create_dir(&root).unwrap();
        let variables =
            [("PATH", std::env::var("PATH").unwrap()), ("GREETING", "hello".to_owned())];
        let workspace = Workspace::builder().root(&root).environment(variables).build().unwrap();
        // `Glob` and `glob` differ only in case, so the tools for searches have one profile.
        let search = Builtins::new(workspace.clone()).search();
        let profiles = [Profile::Standard, Profile::OpenHands];
        let others = Builtins::new(workspace).profiles(profiles).files().shell(shell);
        let builder = ToolPool::builder().install(others).install(search);
        let builder = builder.argument_matcher(ShellMatcher);
        let pool = builder.secrets(secrets).check_outputs().build().unwrap();
        let desk = Self { _folder: folder, root, pool };
        for (age, (name, content)) in files.iter().enumerate() {
            let path = desk.put(name, content);
            let time = UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file, with its directories.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Observation {
        let call = self.pool.call(ToolCall::json(tool, arguments));
        let result = tokio::time::timeout(LIMIT, call).await.expect("the call hangs");
        result.observation().clone()
    }

    /// The text of a call that succeeds.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone()).await;
        assert!(!result.is_error(), "{tool} {arguments}: {}", result.to_text());
        result.to_text().to_string()
    }

    /// The text of a call that fails.
    pub(crate) async fn error(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone()).await;
        assert!(result.is_error(), "{tool} {arguments}: {}", result.to_text());
        result.to_text().to_string()
    }

    /// The structured value of a call.
    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        result.structured().unwrap_or_else(|| panic!("{}", result.to_text())).clone()
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        self.ok("Read", json!({ "file_path": path })).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Observation {
        let arguments = json!({ "file_path": path, "old_string": old, "new_string": new });
        self.call("Edit", arguments).await
    }

    pub(crate) async fn bash(&self, command: &str) -> String {
        self.ok("Bash", json!({ "command": command })).await
    }

    pub(crate) async fn terminal(&self, arguments: Value) -> Value {
        self.value("terminal", arguments).await
    }

    /// The text of `Bash` whose time is up when its command has opened the pipe `begun` and closed it again.
    pub(crate) async fn out_of_time(&self, command: &str) -> String {
        let result = out_of_time(&self.pool, command, self.pipe("begun")).await;
        assert!(result.is_error(), "{}", result.to_text());
        result.to_text()
    }

    /// A named pipe, and what is read from it once all its writers have ended.
    pub(crate) fn pipe(&self, name: &str) -> oneshot::Receiver<Vec<u8>> {
        let path = self.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (sender, receiver) = oneshot::channel();
        // Not a thread of the runtime, which would wait for it when a test fails.
        std::thread::spawn(move || drop(sender.send(fs::read(path).unwrap())));
        receiver
    }

    /// Starts a command in the terminal, which does not end by itself, and waits until it has shown a string.
    pub(crate) async fn begin_until(&self, text: &str, command: &str) -> Value {
        let mut command = command;
        let mut output = String::new();
        loop {
            let value = self.terminal(json!({ "command": command, "timeout": 0.2 })).await;
            assert_eq!(value["is_running"], true, "{value}");
            output.push_str(value["output"].as_str().unwrap());
            if output.contains(text) {
                return value;
            }
            command = "";
        }
    }

    /// Whether a command may run when only commands of a pattern are allowed.
    pub(crate) async fn is_allowed(&self, pattern: &str, command: &str) -> bool {
        let restriction = self.pool.restrict_declared(&DeclaredTools::allow(pattern));
        let result = self.call("Bash", json!({ "command": command })).await;
        drop(restriction);
        !result.is_error()
    }

    /// Runs a command in the background, and returns all its output.
    pub(crate) async fn job(&self, command: &str) -> String {
        let start = json!({ "command": command, "run_in_background": true });
        let id = self.value("Bash", start).await["job_id"].clone();
        let mut text = String::new();
        while !text.contains(" ended]") {
            text.push_str(&self.ok("BashOutput", json!({ "job_id": id })).await);
            tokio::task::yield_now().await;
        }
        text
    }
}
