//! The tools over real repositories.

mod entering;
mod leaving;
mod programs;
mod sequences;

use crate::code::CodeParams;
use crate::{Builtins, Workspace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tool_runtime::prelude::*;

/// A repository with one commit, and a pool over it.
struct Fixture {
    directory: TempDir,
    pool: ToolPool,
}

impl Fixture {
    fn new() -> Self {
        Self::with(CodeParams::default(), &[])
    }

    /// Settings, and variables besides `PATH` and `HOME`.
    fn with(params: CodeParams, variables: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("root");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "--quiet", "--initial-branch=main"]);
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        commit(&root, "first");
        let pool = pool(directory.path(), params, variables);
        Self { directory, pool }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("root").join(name)
    }

    /// A path in a worktree.
    fn tree(&self, name: &str) -> PathBuf {
        self.path(".worktrees").join(name)
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(""), arguments)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let result = self.pool.call(ToolCall::json(tool, arguments)).await;
        let observation = result.observation();
        match observation.structured().filter(|_| !result.is_error()) {
            Some(value) => Ok(value.clone()),
            None => Err(observation.to_text()),
        }
    }

    async fn enter(&self, name: &str) -> Result<Value, String> {
        self.call("EnterWorktree", json!({ "name": name })).await
    }

    async fn exit(&self, name: &str, action: &str, discards: bool) -> Result<Value, String> {
        let arguments = json!({"name": name, "action": action, "discard_changes": discards});
        self.call("ExitWorktree", arguments).await
    }

    fn branches(&self) -> Vec<String> {
        let found = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        found.lines().map(str::to_owned).collect()
    }
}

/// A pool over the directory `root` of a directory.
fn pool(directory: &Path, params: CodeParams, variables: &[(&str, &str)]) -> ToolPool {
    let (path, home) = (std::env::var("PATH").unwrap(), directory.to_str().unwrap());
    let own = [("PATH", path.as_str()), ("HOME", home)];
    let variables = own.into_iter().chain(variables.iter().copied());
    let workspace = Workspace::builder().root(directory.join("root")).environment(variables);
    let builtins = Builtins::new(workspace.build().unwrap()).code(params);
    #[cfg(feature = "search")]
    let builtins = builtins.search();
    ToolPool::builder().install(builtins).check_outputs().build().unwrap()
}

/// Runs git apart from the settings of this machine.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"]);
    command.args(arguments).current_dir(directory);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn commit(directory: &Path, message: &str) {
    git(directory, &["add", "--all"]);
    git(directory, &["commit", "--quiet", "--message", message]);
}
