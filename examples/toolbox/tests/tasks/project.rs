//! A small crate, and the program that serves tools over it.

use crate::model::{ReactingModel, Script};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;
use tool_runtime::mcp::McpConfig;
use tool_runtime::prelude::*;
use tool_runtime_agent::{Agent, AgentEvent, StopReason};

/// Sources may be changed, and nothing else; cargo may test and check.
const POLICY: &str = "
default: deny
rules:
  - id: read
    when: {annotations: {read_only: true}}
    then: allow
  - id: sources
    when: {tools: [Write, Edit, MultiEdit], arguments: {file_path: {inside: src}}}
    then: allow
  - id: cargo
    when: {tools: [Bash], arguments: {command: {command: 'cargo test --offline *'}}}
    then: allow
  - id: check
    when: {tools: [Bash], arguments: {command: {command: 'cargo check --offline *'}}}
    then: allow
";

/// A crate without dependencies, next to the policy.
pub(crate) struct Project(TempDir);

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(TempDir::new().unwrap());
        fs::write(project.0.path().join("policy.yaml"), POLICY).unwrap();
        let manifest = "[package]\nname = \"project\"\nedition = \"2021\"\n[workspace]\n";
        for (name, content) in files.iter().chain(&[("Cargo.toml", manifest)]) {
            let path = project.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("project")
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    pub(crate) fn cargo(&self, words: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(words).arg("--offline").current_dir(self.root()).env_remove("CARGO_TARGET_DIR");
        cargo.output().unwrap()
    }

    /// An agent that works through the program, served over MCP. Returns the calls it made and its last message.
    pub(crate) async fn work<F>(
        &self,
        task: &str,
        script: impl FnOnce(Script) -> F,
    ) -> (Vec<String>, String)
    where
        F: Future<Output = String> + Send + 'static,
    {
        let pool = ToolPool::builder().build().unwrap();
        let agent = Agent::new(ReactingModel::new(script), pool).mcp_servers(self.server());
        let (mut run, mut calls, mut last) = (agent.run(task), Vec::new(), String::new());
        while let Some(event) = run.next().await {
            match event {
                AgentEvent::Servers(servers) => assert!(servers[0].is_ready(), "{servers:?}"),
                AgentEvent::Call(call) => calls.push(call.name().replace("toolbox.", "")),
                AgentEvent::Message(text) => last = text,
                AgentEvent::Stopped(reason) => {
                    assert!(matches!(reason, StopReason::Done), "{reason}, after {calls:?}");
                }
                _ => {}
            }
        }
        run.close().await;
        (calls, last)
    }

    fn server(&self) -> McpConfig {
        let policy = self.0.path().join("policy.yaml");
        // Variables by which a rustup proxy finds its toolchain; a build directory of its own.
        let names = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
        let environment = names.iter().filter_map(|name| Some((*name, std::env::var(name).ok()?)));
        let environment: serde_json::Map<_, _> =
            environment.map(|(name, value)| (name.to_owned(), value.into())).collect();
        let arguments = json!([
            "serve",
            "--root",
            self.root(),
            "--families",
            "files,search,shell",
            "--policy",
            policy
        ]);
        let command = env!("CARGO_BIN_EXE_toolbox");
        let entry = json!({ "command": command, "args": arguments, "env": environment });
        let file = json!({ "mcpServers": { "toolbox": entry } });
        McpConfig::from_json(&file.to_string()).unwrap()
    }
}
