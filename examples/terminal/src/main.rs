//! A shell session that lasts as long as the server: the directory and variables persist.
//!
//! ```text
//! cargo run -p terminal -- list
//! cargo run -p terminal -- call terminal.run command='cd /tmp && pwd'
//! cargo run -p terminal -- serve
//! ```

mod session;

use session::{Ended, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::Mutex;
use tool_runtime::prelude::*;

/// A shell that runs one command after the other.
struct Terminal {
    params: TerminalParams,
    /// The shell; `None` when it has ended.
    session: Mutex<Option<Session>>,
    /// The shell's process group, which can be signalled without the lock of the session.
    group: session::Group,
}

/// Settings of the shell.
#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
struct TerminalParams {
    /// The shell's program.
    #[serde(default = "sh")]
    shell: PathBuf,
    /// Initial working directory. Default: that of the server.
    cwd: Option<PathBuf>,
    /// Variables that are set in addition to those of the server.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn sh() -> PathBuf {
    "/bin/sh".into()
}

impl Toolset for Terminal {
    type Params = TerminalParams;

    fn is_usable(params: &TerminalParams) -> Result<(), String> {
        let shell = &params.shell;
        if shell.is_file() { Ok(()) } else { Err(format!("there is no {}", shell.display())) }
    }

    async fn create(params: TerminalParams, _: &ToolContext) -> Result<Self, ToolError> {
        let group = session::Group::default();
        let session = Mutex::new(Some(Session::start(&params, &group)?));
        Ok(Self { params, session, group })
    }

    /// Interrupts the command; the shell continues.
    fn interrupt(&self, _: &ToolContext) {
        self.group.interrupt();
    }

    async fn close(&self) {
        self.group.kill();
        if let Some(mut session) = self.session.lock().await.take() {
            session.kill().await;
        }
    }
}

/// The result of a command.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct CommandOutput {
    /// Standard output and standard error.
    output: String,
    /// Exit code; null if the command was stopped after its time limit.
    exit_code: Option<i32>,
}

#[toolset]
impl Terminal {
    /// Run a command in the shell. Directory and variables stay for the next command.
    #[tool(writes("terminal:session"))]
    async fn run(
        &self,
        /// The command, as one would type it.
        command: String,
        /// The time limit in seconds.
        #[arg(default = 120, range = 1..=600)]
        seconds: u64,
    ) -> Result<CommandOutput, ToolError> {
        let mut session = self.session.lock().await;
        let shell = session
            .as_mut()
            .ok_or_else(|| ToolError::user("the shell has ended; call `terminal.reset`"))?;
        let run = shell.run(&command);
        let ended = match tokio::time::timeout(Duration::from_secs(seconds), run).await {
            Ok(ended) => ended?,
            Err(_) => shell.interrupt().await?,
        };
        match ended {
            Ended::Command { output, exit_code } => Ok(CommandOutput { output, exit_code }),
            Ended::Shell { output } => {
                *session = None;
                Err(ToolError::user(format!(
                    "the shell has ended; call `terminal.reset`\n{output}"
                )))
            }
        }
    }

    /// Start the shell again. What it was doing is stopped.
    #[tool(idempotent)]
    async fn reset(&self) -> Result<&'static str, ToolError> {
        self.group.kill();
        let mut session = self.session.lock().await;
        if let Some(mut old) = session.take() {
            old.kill().await;
        }
        *session = Some(Session::start(&self.params, &self.group)?);
        Ok("a new shell is ready")
    }
}

tool_runtime::main!(
    tools = concat!(env!("CARGO_MANIFEST_DIR"), "/tools.toml"),
    instructions =
        "One shell session: commands run one after the other, directory and variables stay.",
);
