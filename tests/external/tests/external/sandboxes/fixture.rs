//! The tools of the shell in a sandbox, over an empty directory.

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot::{self, Receiver};
use tool_runtime::content::ResourceLink;
use tool_runtime::prelude::*;
use tool_runtime::{ContentBlock, ErrorClass};
use tool_runtime_builtins::shell::ShellParams;
use tool_runtime_builtins::{
    Builtins, Profile, Sandbox, SandboxParams, Workspace, WorkspaceBuilder,
};

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) struct Fixture {
    directory: TempDir,
    pub(crate) pool: ToolPool,
}

impl Fixture {
    pub(crate) fn confined(sandbox: Sandbox, network: bool) -> Self {
        Self::with(SandboxParams { network, ..SandboxParams::new(sandbox) })
    }

    pub(crate) fn with(params: SandboxParams) -> Self {
        Self::of(|workspace| workspace.sandbox(params), |builtins| builtins)
    }

    /// The tools for commands, and others, over a workspace with the search path alone.
    pub(crate) fn of(
        workspace: impl FnOnce(WorkspaceBuilder) -> WorkspaceBuilder,
        others: impl FnOnce(Builtins) -> Builtins,
    ) -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("root");
        fs::create_dir(&root).unwrap();
        Self::over(directory, workspace, others)
    }

    /// The same over the directory `root` of a directory.
    pub(crate) fn over(
        directory: TempDir,
        workspace: impl FnOnce(WorkspaceBuilder) -> WorkspaceBuilder,
        others: impl FnOnce(Builtins) -> Builtins,
    ) -> Self {
        let path = std::env::var("PATH").unwrap();
        let root = directory.path().join("root");
        let builder = Workspace::builder().root(root).environment([("PATH", path)]);
        let workspace = workspace(builder.unread_edits(true)).build().unwrap();
        let profiles = [Profile::Standard, Profile::OpenHands];
        let builtins = Builtins::new(workspace).profiles(profiles).shell(ShellParams::default());
        let pool = ToolPool::builder().install(others(builtins)).allow_empty().build().unwrap();
        Self { directory, pool }
    }

    /// Tools in bubblewrap over the directory `root` of a directory that belongs to another fixture.
    pub(crate) fn beside(directory: &Path) -> Self {
        let own = TempDir::new().unwrap();
        std::os::unix::fs::symlink(directory.join("root"), own.path().join("root")).unwrap();
        let sandbox = SandboxParams::new(Sandbox::Bubblewrap);
        Self::over(own, |workspace| workspace.sandbox(sandbox), |builtins| builtins)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("root").canonicalize().unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Observation {
        let call = self.pool.call(ToolCall::json(tool, arguments));
        let result = tokio::time::timeout(LIMIT, call).await.expect("the call hangs");
        result.observation().clone()
    }

    /// The structured result of a call that succeeds.
    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        result.structured().unwrap_or_else(|| panic!("{}", result.to_text())).clone()
    }

    pub(crate) async fn bash(&self, command: &str) -> Value {
        self.value("Bash", json!({ "command": command })).await
    }

    /// Starts a command in the background.
    pub(crate) async fn start(&self, command: &str) -> String {
        let arguments = json!({ "command": command, "run_in_background": true });
        self.value("Bash", arguments).await["job_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn wait_for_job(&self, id: &str) {
        while self.value("BashOutput", json!({ "job_id": id })).await["status"] == "running" {
            tokio::task::yield_now().await;
        }
    }

    /// The link to the whole output of a call.
    pub(crate) async fn link(&self, tool: &str, arguments: Value) -> ResourceLink {
        let observation = self.call(tool, arguments).await;
        let link = observation.content().iter().find_map(|block| match block {
            ContentBlock::ResourceLink(link) => Some((**link).clone()),
            _ => None,
        });
        link.unwrap_or_else(|| panic!("{observation:?}"))
    }

    pub(crate) async fn resource(
        &self,
        uri: &str,
        context: &ToolContext,
    ) -> Result<String, ErrorClass> {
        let read = tokio::time::timeout(LIMIT, self.pool.read_resource(uri, context));
        let contents = read.await.expect("the read hangs").map_err(|error| error.class())?;
        Ok(contents[0].text.clone().unwrap())
    }

    /// A named pipe in the root, and what is read from it once all its writers have ended.
    pub(crate) fn pipe(&self, name: &str) -> Receiver<String> {
        self.opened_pipe(name).1
    }

    /// The same, and a message when it has its first writer.
    pub(crate) fn opened_pipe(&self, name: &str) -> (Receiver<String>, Receiver<String>) {
        let path = self.root().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (opened, is_open) = oneshot::channel();
        let (sender, receiver) = oneshot::channel();
        // Not a thread of the runtime, which would wait for it when a test fails.
        std::thread::spawn(move || {
            let mut text = String::new();
            let mut pipe = File::open(path).unwrap();
            let _ = opened.send(String::new());
            pipe.read_to_string(&mut text).unwrap();
            let _ = sender.send(text);
        });
        (is_open, receiver)
    }

    pub(crate) async fn close(self) {
        tokio::time::timeout(LIMIT, self.pool.close()).await.expect("`close` hangs");
    }
}

/// Waits until all writers of a pipe have ended.
pub(crate) async fn ended(pipe: Receiver<String>) -> String {
    tokio::time::timeout(LIMIT, pipe).await.expect("a process lives on").unwrap()
}
