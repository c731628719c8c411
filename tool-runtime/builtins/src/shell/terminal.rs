//! The tool `terminal`: commands, inputs and keys for a shell that stays.

use super::keys;
use super::marker::Prompt;
use super::result::TerminalOutput;
use super::scratch::Scratch;
use super::screen;
use super::session::{self, Identity, Patience, Session, Waited};
use super::spawn::Launcher;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tool_runtime::__seam::lock;
use tool_runtime::{ToolContext, ToolError};

/// Time without output after which a call returns, if the model sets no limit.
const QUIET: Duration = Duration::from_secs(30);
/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_secs(1);
/// Time in which a program must read an input.
const INPUT_TIME: Duration = Duration::from_secs(10);
/// Bytes of a line that a terminal passes on, while it waits for whole lines.
const MAX_LINE: usize = 4095;
/// The most time of one call.
pub(super) const MAX_TIME: u64 = 600;

/// The terminals of all principals.
#[derive(Default)]
pub(super) struct Terminals(std::sync::Mutex<HashMap<String, Terminal>>);

struct Terminal {
    session: Arc<Mutex<Option<Session>>>,
    last_use: Instant,
}

/// One call of the tool.
pub(super) struct Request {
    pub(super) command: String,
    pub(super) is_input: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) reset: bool,
}

impl Terminals {
    /// The terminal of a caller. A new one replaces the one that was idle for the longest time if there are too many.
    pub(super) fn for_context(
        &self,
        context: &ToolContext,
        limit: usize,
    ) -> Arc<Mutex<Option<Session>>> {
        let owner = context.principal().id();
        let mut terminals = lock(&self.0);
        if !terminals.contains_key(owner) && terminals.len() >= limit {
            let idle = terminals.iter().min_by_key(|(_, terminal)| terminal.last_use);
            if let Some(owner) = idle.map(|(owner, _)| owner.clone()) {
                terminals.remove(&owner);
            }
        }
        let terminal = terminals
            .entry(owner.to_owned())
            .or_insert_with(|| Terminal { session: Arc::default(), last_use: Instant::now() });
        terminal.last_use = Instant::now();
        Arc::clone(&terminal.session)
    }

    /// Ends all terminals.
    pub(super) fn close(&self) {
        lock(&self.0).clear();
    }
}

impl Request {
    /// Runs the request on a terminal, which is started if there is none.
    pub(super) async fn run(
        &self,
        slot: &mut Option<Session>,
        launcher: &Launcher,
        scratch: &Scratch,
        identity: Identity,
        context: &ToolContext,
    ) -> Result<TerminalOutput, ToolError> {
        if self.reset && self.is_input {
            return Err(ToolError::user(
                "`reset` starts a new shell, which awaits no input; leave `is_input` out",
            ));
        }
        let rest = match slot {
            Some(session) if !self.reset => rest(session, launcher).await,
            _ => None,
        };
        let old = slot.take_if(|session| self.reset || session.is_closed());
        let notice = old.map(|_| "a new shell was started");
        match rest {
            Some(rest) if self.is_input => {
                Ok(rest.with_notice(Some("the command ended before the input, which was not sent")))
            }
            Some(rest) if self.is_wait() => Ok(rest),
            rest => {
                let session = match slot {
                    Some(session) => session,
                    None => slot.insert(Session::start(launcher, scratch, identity).await?),
                };
                let (waited, output) = self.run_on(session, launcher, scratch, context).await?;
                slot.take_if(|_| waited == Waited::Closed);
                Ok(output.after(rest).with_notice(notice))
            }
        }
    }

    /// Runs the request on a terminal whose last command was reported or runs.
    async fn run_on(
        &self,
        session: &mut Session,
        launcher: &Launcher,
        scratch: &Scratch,
        context: &ToolContext,
    ) -> Result<(Waited, TerminalOutput), ToolError> {
        if self.reset && self.command.is_empty() {
            return Ok((Waited::Prompt, output(session, launcher, Waited::Prompt).await));
        }
        self.send(session, scratch).await?;
        let patience = self.patience();
        let waited = tokio::select! {
            waited = session.wait(&patience) => waited,
            never = report(context, patience.total) => match never {},
        };
        Ok((waited, output(session, launcher, waited).await))
    }

    /// Types a command or an input, unless the call only waits.
    async fn send(&self, session: &mut Session, scratch: &Scratch) -> Result<(), ToolError> {
        session.stopped().await;
        match (session.is_running(), self.is_input) {
            (true, _) if self.command.is_empty() => Ok(()),
            (true, true) => input(session, &keys::bytes(&self.command)).await,
            (true, false) => Err(ToolError::user(
                "a command still runs; send an empty `command` to wait for it, a string or a key such as `C-c` with `is_input: true`, or `reset: true`",
            )),
            (false, true) => {
                Err(ToolError::user("no command runs that awaits input; leave `is_input` out"))
            }
            (false, false) if self.is_wait() => {
                Err(ToolError::user("no command runs to wait for; give a `command`"))
            }
            (false, false) => {
                // The output of background processes since the last call belongs to no command.
                session.take(false);
                Ok(session.run(scratch, &self.command).await?)
            }
        }
    }

    fn is_wait(&self) -> bool {
        self.command.trim().is_empty()
    }

    fn patience(&self) -> Patience {
        match self.timeout {
            Some(total) => Patience { total, quiet: None },
            None => Patience { total: Duration::from_secs(MAX_TIME), quiet: Some(QUIET) },
        }
    }
}

/// Reports progress as long as a command runs.
async fn report(context: &ToolContext, limit: Duration) -> Infallible {
    let started = Instant::now();
    loop {
        tokio::time::sleep(PROGRESS).await;
        let seconds = started.elapsed().as_secs();
        context.progress(seconds, limit.as_secs(), format_args!("the command runs"));
    }
}

/// Types an input.
async fn input(session: &mut Session, bytes: &[u8]) -> Result<(), ToolError> {
    let longest = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).map(<[u8]>::len).max();
    if longest > Some(MAX_LINE) && session.reads_lines() {
        return Err(ToolError::user(format!(
            "a line of the input has more than {MAX_LINE} bytes, and the terminal would cut it; write it to a file, and let the program read that"
        )));
    }
    match tokio::time::timeout(INPUT_TIME, session.input(bytes)).await {
        Ok(written) => Ok(written?),
        Err(_) => Err(ToolError::user(format!(
            "the program does not read its input: after {} seconds a part of it was not read; stop the program by `C-c`, or use `reset: true`",
            INPUT_TIME.as_secs()
        ))),
    }
}

/// The end of a command that ran on when the last call returned, if it has ended since.
async fn rest(session: &mut Session, launcher: &Launcher) -> Option<TerminalOutput> {
    session.stopped().await;
    if !session.is_awaited() || session.is_running() {
        return None;
    }
    let waited = session.wait(&Patience::NONE).await;
    Some(output(session, launcher, waited).await)
}

async fn output(session: &mut Session, launcher: &Launcher, waited: Waited) -> TerminalOutput {
    let text = session.take(waited == Waited::Closed);
    let prompt = session.prompt();
    let exit_code = match waited {
        Waited::Prompt => prompt.as_ref().map_or(0, |prompt: &Prompt| prompt.exit_code),
        Waited::Closed => session.exit_code().await.unwrap_or(-1),
        Waited::Quiet | Waited::TimeUp => -1,
    };
    let notice = match waited {
        Waited::Prompt => None,
        Waited::Quiet => Some("no output for 30 seconds"),
        Waited::TimeUp => Some("the time is up"),
        Waited::Closed => Some("the shell has ended; the next call starts a new one"),
    };
    let running = "the command still runs; send an empty `command` to wait, a string or a key such as `C-c` with `is_input: true`, or `reset: true`";
    let is_running = matches!(waited, Waited::Quiet | Waited::TimeUp);
    TerminalOutput {
        output: screen::plain(&text.text).trim_end_matches('\n').to_owned(),
        screen: session.screen().filter(|_| is_running),
        exit_code,
        is_running,
        working_directory: session::directory(prompt.as_ref(), &launcher.directory()),
        output_file: text.file.map(|file| file.display().to_string()),
        notice: notice.map(|notice| {
            if is_running { format!("{notice}; {running}") } else { notice.to_owned() }
        }),
    }
}
