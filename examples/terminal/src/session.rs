//! A shell on pipes. Lines with marks in its output delimit the output of each command.

use crate::TerminalParams;
use rustix::process::{Pid, Signal, kill_process_group};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Limit on the interrupts of a command that does not end: a list of commands needs one for each.
const MAX_INTERRUPTS: usize = 20;
/// Time for the command to end after an interrupt.
const INTERRUPT_PAUSE: Duration = Duration::from_millis(100);

/// Limit on the kept bytes of output.
const MAX_OUTPUT: usize = 1 << 20;

/// The process group of the shell, which can be signalled while a command runs.
#[derive(Clone, Default)]
pub(crate) struct Group(Arc<AtomicI32>);

impl Group {
    /// Stops the command; the shell has a trap.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Ends the shell and everything in it.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.0.load(Ordering::SeqCst)) {
            // Fails only for a group that has ended.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// A running shell.
pub(crate) struct Session {
    /// Killed when it is dropped.
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// Output after the last mark.
    rest: Vec<u8>,
    mark: u64,
    /// Whether a command was started whose end mark was not read.
    is_running: bool,
    group: Group,
}

/// The outcome of a command.
pub(crate) enum Ended {
    Command { output: String, exit_code: Option<i32> },
    Shell { output: String },
}

impl Session {
    pub(crate) fn start(params: &TerminalParams, group: &Group) -> std::io::Result<Self> {
        let mut command = Command::new(&params.shell);
        command
            .envs(&params.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = &params.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        group.0.store(id, Ordering::SeqCst);
        let missing = || std::io::Error::other("the shell has no pipes");
        Ok(Self {
            input: child.stdin.take().ok_or_else(missing)?,
            output: child.stdout.take().ok_or_else(missing)?,
            child,
            rest: Vec::new(),
            mark: 0,
            is_running: false,
            group: group.clone(),
        })
    }

    /// Runs a command to its end. A command that was abandoned before is interrupted first.
    pub(crate) async fn run(&mut self, command: &str) -> std::io::Result<Ended> {
        if self.is_running
            && let Ended::Shell { output } = self.interrupt().await?
        {
            return Ok(Ended::Shell { output });
        }
        self.mark += 1;
        self.is_running = true;
        // Commands do not inherit a trap with an action; they would inherit an ignored signal.
        let line = format!(
            "trap : INT\nprintf '\\n{begin}\\n'\n{{ {command}\n}} </dev/null 2>&1\nprintf '\\n{end}%d\\n' $?\n",
            begin = self.begin(),
            end = self.end(),
        );
        if self.input.write_all(line.as_bytes()).await.is_err() {
            return Ok(Ended::Shell { output: String::new() });
        }
        self.wait().await
    }

    /// Interrupts the running command. If it does not end, the shell is killed.
    pub(crate) async fn interrupt(&mut self) -> std::io::Result<Ended> {
        for _ in 0..MAX_INTERRUPTS {
            self.group.interrupt();
            match tokio::time::timeout(INTERRUPT_PAUSE, self.wait()).await {
                Ok(Ok(Ended::Command { output, .. })) => {
                    let output = format!("{output}\n(its time was up)");
                    return Ok(Ended::Command { output, exit_code: None });
                }
                Ok(other) => return other,
                Err(_) => {}
            }
        }
        self.kill().await;
        Ok(Ended::Shell { output: "(its time was up and it did not end)".to_owned() })
    }

    /// Ends the shell and everything in it.
    pub(crate) async fn kill(&mut self) {
        self.group.kill();
        // Fails only for a process that was reaped before.
        let _ = self.child.wait().await;
    }

    async fn wait(&mut self) -> std::io::Result<Ended> {
        let mut buffer = vec![0; 8192];
        loop {
            if let Some(ended) = self.ended() {
                return Ok(ended);
            }
            match self.output.read(&mut buffer).await? {
                0 => return Ok(Ended::Shell { output: text(&self.rest) }),
                read => self.rest.extend_from_slice(&buffer[..read]),
            }
            self.truncate();
        }
    }

    /// The command's output and exit code, once its end mark was read.
    fn ended(&mut self) -> Option<Ended> {
        let end = format!("\n{}", self.end());
        let at = find(&self.rest, end.as_bytes())?;
        let after = at + end.len();
        let newline = after + find(&self.rest[after..], b"\n")?;
        let exit_code = text(&self.rest[after..newline]).parse().ok();
        let begin = format!("{}\n", self.begin());
        let start = find(&self.rest[..at], begin.as_bytes()).map_or(0, |start| start + begin.len());
        let output = text(&self.rest[start.min(at)..at]);
        self.rest.drain(..=newline);
        self.is_running = false;
        Some(Ended::Command { output, exit_code })
    }

    /// A command that writes forever must not fill the memory: its last bytes are kept.
    fn truncate(&mut self) {
        if self.rest.len() > 2 * MAX_OUTPUT {
            self.rest.drain(..MAX_OUTPUT);
        }
    }

    fn begin(&self) -> String {
        format!("<begin-{}-{}>", std::process::id(), self.mark)
    }

    fn end(&self) -> String {
        format!("<end-{}-{}>", std::process::id(), self.mark)
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches('\n').to_owned()
}
