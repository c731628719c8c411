//! The programs of runners.

#[path = "../../../../../examples/fleet/src/files.rs"]
mod files;
#[path = "../../../../../examples/fleet/src/math.rs"]
mod math;

use rustix::process::{Pid, Signal, kill_process};
use std::fmt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tool_runtime::remote::{NatsBoard, NatsOptions, Runner};
use tool_runtime::{CancellationToken, ToolPool};

/// The first argument of the runner in Rust.
const SERVE: &str = "serve-as-runner";

/// The time in which a runner ends that is told to stop.
const END: Duration = Duration::from_secs(20);

/// The languages of runners.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    Rust,
    Python,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "rust",
            Self::Python => "python",
        })
    }
}

pub(super) fn python() -> String {
    std::env::var("TOOL_NATS_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

pub(crate) fn check_python() -> Result<(), String> {
    let output = std::process::Command::new(python()).args(["-c", "import nats, nkeys"]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("needs the Python package nats-py with keys (pip install nats-py[nkeys] in an environment whose Python `TOOL_NATS_PYTHON` names)".to_owned()),
    }
}

/// The folder of the example.
pub(crate) fn fleet() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fleet"))
}

/// A runner in a process of its own. Dropping it kills the process.
pub(super) struct Running(Child);

impl Program {
    /// Starts a runner of the queue `fleet` with all tools.
    pub(super) fn start(
        self,
        (address, credentials): (&str, &Path),
        slots: usize,
        files: &Path,
    ) -> Running {
        let mut command = match self {
            Self::Rust => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg(SERVE);
                command
            }
            Self::Python => {
                let mut command = Command::new(python());
                command.arg("-B").arg(fleet().join("runner.py"));
                command
            }
        };
        command.args(["--connect", &format!("nats://{address}"), "--queue", "fleet"]);
        command.arg("--credentials").arg(credentials);
        command.args(["--slots", &slots.to_string()]).env("FLEET_FILES", files);
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        Running(command.spawn().unwrap())
    }
}

impl Running {
    /// Ends the process at once.
    pub(super) async fn kill(mut self) {
        self.0.kill().await.unwrap();
    }

    /// Tells the runner to end in order.
    pub(super) fn terminate(&self) {
        let pid = self.0.id().and_then(|id| Pid::from_raw(id.try_into().unwrap()));
        kill_process(pid.unwrap(), Signal::TERM).unwrap();
    }

    pub(super) async fn ended(mut self) -> ExitStatus {
        timeout(END, self.0.wait()).await.expect("it ends").unwrap()
    }
}

/// Whether this process is the runner in Rust.
pub(crate) fn is_program() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == SERVE)
}

/// `serve-as-runner --connect URL --queue QUEUE --credentials FILE --slots N` serves until it is told to stop.
pub(crate) fn serve() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name).expect("an option");
        arguments[at + 1].clone()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let files = files::Folder::new(std::env::var("FLEET_FILES").unwrap());
        let pool = ToolPool::builder().linked().state(files).build().unwrap();
        let options = NatsOptions::default().credentials(value("--credentials"));
        let board = NatsBoard::connect(&value("--connect"), options).await.unwrap();
        let token = CancellationToken::new();
        tokio::spawn(cancel_on_sigterm(token.clone()));
        let runner = Runner::new(board).queue(value("--queue").parse().unwrap());
        let served = runner.slots(value("--slots").parse().unwrap()).serve_until(&pool, &token);
        served.await.unwrap();
    });
    // A tool that blocks its thread must not keep the process.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

async fn cancel_on_sigterm(token: CancellationToken) {
    let kind = tokio::signal::unix::SignalKind::terminate();
    tokio::signal::unix::signal(kind).unwrap().recv().await;
    token.cancel();
}
