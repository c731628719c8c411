//! The tools as a caller sees them.

mod bash;
mod jobs;
mod limits;
mod out_of_time;
mod outputs;
mod terminal;

use super::ShellParams;
use crate::{Builtins, Profile, SandboxParams, Workspace, hints};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot::{self, Receiver};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::govern::OutputLimits;
use tool_runtime::prelude::*;

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(60);

/// An empty directory, and a pool over it.
struct Fixture {
    directory: TempDir,
    pool: ToolPool,
}

impl Fixture {
    fn new() -> Self {
        Self::with(ShellParams::default(), &[])
    }

    fn with_limits(limits: Option<OutputLimits>) -> Self {
        Self::build(ShellParams::default(), &[], limits)
    }

    /// Settings, and variables besides the search path.
    fn with(params: ShellParams, variables: &[(&str, &str)]) -> Self {
        Self::build(params, variables, None)
    }

    fn build(
        params: ShellParams,
        variables: &[(&str, &str)],
        limits: Option<OutputLimits>,
    ) -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let path = std::env::var("PATH").unwrap();
        let variables = variables.iter().copied().chain([("PATH", path.as_str())]);
        let workspace = Workspace::builder().root(root).environment(variables).build().unwrap();
        let profiles = [Profile::Standard, Profile::OpenHands];
        let builtins = Builtins::new(workspace).profiles(profiles).shell(params);
        let pool = ToolPool::builder().install(builtins).check_outputs().repair().allow_empty();
        let pool = limits.into_iter().fold(pool, ToolPoolBuilder::output_limits).build().unwrap();
        Self { directory, pool }
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("root").canonicalize().unwrap()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Observation {
        let call = self.pool.call(ToolCall::json(tool, arguments));
        let result = tokio::time::timeout(LIMIT, call).await.expect("the call hangs");
        result.observation().clone()
    }

    /// The structured result of a call that succeeds.
    async fn value(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        result.structured().unwrap_or_else(|| panic!("{}", result.to_text())).clone()
    }

    /// A call of `Bash` whose time is up when its command has opened the pipe `begun` and closed it again.
    async fn out_of_time(&self, command: &str) -> Observation {
        out_of_time::out_of_time(&self.pool, command, ended(self.pipe("begun"))).await
    }

    async fn bash(&self, command: &str) -> Value {
        self.value("Bash", json!({ "command": command })).await
    }

    /// A named pipe in the root, and what is read from it once all its writers have ended.
    fn pipe(&self, name: &str) -> Receiver<String> {
        let path = self.root().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (sender, receiver) = oneshot::channel();
        // Not a thread of the runtime, which would wait for it when a test fails.
        std::thread::spawn(move || {
            let mut text = String::new();
            File::open(path).unwrap().read_to_string(&mut text).unwrap();
            let _ = sender.send(text);
        });
        receiver
    }

    async fn close(self) {
        tokio::time::timeout(LIMIT, self.pool.close()).await.expect("`close` hangs");
    }
}

/// Waits until all writers of a pipe have ended.
async fn ended(pipe: Receiver<String>) -> String {
    tokio::time::timeout(LIMIT, pipe).await.expect("a process lives on").unwrap()
}

#[tokio::test]
async fn hints_are_stated_and_outputs_have_schemas() {
    let fixture = Fixture::new();
    let expected =
        ["Bash -d-o core", "BashOutput r--- core", "KillBash -di- core", "terminal -d-o core"];
    assert_eq!(hints::rows(&fixture.pool), expected);
}

#[tokio::test]
async fn no_network_without_a_sandbox_is_refused() {
    let sandbox = SandboxParams { network: false, ..SandboxParams::default() };
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).sandbox(sandbox);
    let builtins = Builtins::new(workspace.build().unwrap()).shell(ShellParams::default());
    let pool = ToolPool::builder().install(builtins).allow_empty().build().unwrap();
    assert!(pool.tools().is_empty());
    let report = pool.report().to_string();
    assert!(report.contains("`network = false` needs a sandbox"), "{report}");
}
