//! A shell at a terminal, which stays between calls.

use super::environment;
use super::marker::{Marker, Prompt};
use super::output::{Output, Text};
use super::scratch::{Scratch, ScratchFile};
use super::screen::{COLUMNS, ROWS, Screen};
use super::spawn::Launcher;
use super::stopper::{StopOnDrop, Stopper};
use crate::process::Spawned;
use crate::process_tree::KillOnDrop;
use crate::workspace::Environment;
use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use rustix::process::Pid;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tool_runtime::__seam::lock;

/// Bytes of output that are returned.
const OUTPUT: usize = 28_000;
/// Time for the shell to start.
const START: Duration = Duration::from_secs(20);
/// Time for a shell to end after its terminal was closed.
const ENDING: Duration = Duration::from_secs(1);

/// A shell at a terminal.
pub(super) struct Session {
    shared: Arc<Inner>,
    writer: OwnedWritePty,
    terminal: Arc<OwnedFd>,
    /// The file of [`Marker::prompt_script`].
    prompt_script: PathBuf,
    /// The file of the last command.
    script: Option<ScratchFile>,
    /// The process group of the shell itself.
    shell: Option<Pid>,
    /// Prompts when the last command began: it runs until there is another.
    started_at: u64,
    /// Whether the last wait ended before the command did.
    is_awaited: bool,
    /// Locked while the command of a dropped call is stopped.
    stopping: Arc<AsyncMutex<()>>,
    /// Ends the shell and all that it started.
    _tree: KillOnDrop,
    child: Child,
}

/// The settings of a new shell.
pub(super) struct Identity {
    /// The mark of its processes.
    pub(super) mark: String,
    /// The token of its prompts.
    pub(super) token: String,
    pub(super) secrets: Environment,
}

/// Why a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The command has ended.
    Prompt,
    /// Nothing was written for some time.
    Quiet,
    /// The time was up.
    TimeUp,
    /// The shell has ended.
    Closed,
}

/// How long to wait for a command.
pub(super) struct Patience {
    pub(super) total: Duration,
    /// Time without output.
    pub(super) quiet: Option<Duration>,
}

impl Patience {
    /// For a command that has ended.
    pub(super) const NONE: Self = Self { total: Duration::ZERO, quiet: None };
}

/// State that the reading task shares with the calls.
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    output: Output,
    screen: Screen,
    prompt: Option<Prompt>,
    prompts: u64,
    last_output: Instant,
    is_closed: bool,
}

impl Session {
    /// Starts a shell and waits for its first prompt.
    pub(super) async fn start(
        launcher: &Launcher,
        scratch: &Scratch,
        identity: Identity,
    ) -> io::Result<Self> {
        let Identity { mark, token, secrets } = identity;
        let (pty, pts) = pty_process::open().map_err(io::Error::other)?;
        pty.resize(Size::new(ROWS, COLUMNS)).map_err(io::Error::other)?;
        let terminal = Arc::new(pty.as_fd().try_clone_to_owned()?);
        let command = command(launcher, secrets, &mark)?;
        let start = move || command.spawn(pts).map_err(io::Error::other);
        let Spawned { child, tree } = launcher.start_on_thread(start, Child::id, mark).await?;
        let (reader, writer) = pty.into_split();
        let shared = Arc::new(Inner::new(scratch.file("terminal.txt")?));
        tokio::spawn(read(reader, Marker::new(&token), Arc::clone(&shared)));
        let prompt_script = scratch.file("prompt.sh")?;
        prompt_script.write(&Marker::prompt_script(&token))?;
        let mut session = Self {
            shared,
            writer,
            terminal,
            prompt_script: prompt_script.path,
            script: None,
            shell: None,
            started_at: 0,
            is_awaited: false,
            stopping: Arc::default(),
            _tree: tree,
            child,
        };
        session.prepare(scratch).await?;
        Ok(session)
    }

    /// Turns off echo and history, and waits for the first mark.
    async fn prepare(&mut self, scratch: &Scratch) -> io::Result<()> {
        self.run(scratch, "stty -echo\nunset HISTFILE").await?;
        let patience = Patience { total: START, quiet: None };
        if self.wait(&patience).await != Waited::Prompt {
            let text = self.take(true).text;
            return Err(io::Error::other(format!("the shell does not start: {text}")));
        }
        self.shell = rustix::termios::tcgetpgrp(&self.terminal).ok();
        // The echo of the first line.
        self.take(true);
        Ok(())
    }

    /// Runs a command. It is read from a file, since a terminal cuts long lines. The command may have changed what the
    /// shell does before a prompt, so that is set again after it; its trace, if there is one, is not shown.
    pub(super) async fn run(&mut self, scratch: &Scratch, command: &str) -> io::Result<()> {
        let script = scratch.file("command.sh")?;
        script.write(&format!("{command}\n"))?;
        self.started_at = self.shared.lock().prompts;
        let (command, prompt) = (script.path.display(), self.prompt_script.display());
        let line = format!(". '{command}'; {{ . '{prompt}'; }} 2>/dev/null\n");
        if let Some(old) = self.script.replace(script) {
            old.remove();
        }
        self.input(line.as_bytes()).await
    }

    /// Writes to the terminal, as a person who types.
    pub(super) async fn input(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.shared.lock().last_output = Instant::now();
        self.writer.write_all(bytes).await
    }

    /// Waits for the end of the command. If the call is dropped meanwhile, the command is stopped.
    pub(super) async fn wait(&mut self, patience: &Patience) -> Waited {
        self.is_awaited = false;
        let guard = StopOnDrop(Some(self.stopper().await));
        let deadline = Instant::now() + patience.total;
        let waited = loop {
            let (is_running, is_closed, last_output) = {
                let state = self.shared.lock();
                (state.prompts == self.started_at, state.is_closed, state.last_output)
            };
            let now = Instant::now();
            let quiet_at = patience.quiet.map(|quiet| last_output + quiet);
            match () {
                () if !is_running => break Waited::Prompt,
                () if is_closed => break Waited::Closed,
                () if now >= deadline => break Waited::TimeUp,
                () if quiet_at.is_some_and(|at| now >= at) => break Waited::Quiet,
                () => {}
            }
            let until = quiet_at.map_or(deadline, |at| at.min(deadline));
            // Either way the state says more.
            let _ = tokio::time::timeout(until - now, self.shared.changed.notified()).await;
        };
        guard.disarm();
        self.is_awaited = matches!(waited, Waited::Quiet | Waited::TimeUp);
        waited
    }

    /// Whether the terminal collects whole lines, and cuts long ones.
    pub(super) fn reads_lines(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.terminal).map(|state| state.local_modes);
        modes.is_ok_and(|modes| modes.contains(rustix::termios::LocalModes::ICANON))
    }

    /// Whether the last command runs.
    pub(super) fn is_running(&self) -> bool {
        let state = self.shared.lock();
        state.prompts == self.started_at && !state.is_closed
    }

    /// Whether the end of the last command was not reported yet.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// Whether the shell has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.shared.lock().is_closed
    }

    /// The exit code of a shell that has ended. Its terminal closes a moment before.
    pub(super) async fn exit_code(&mut self) -> Option<i32> {
        let status = tokio::time::timeout(ENDING, self.child.wait()).await;
        status.ok()?.ok()?.code()
    }

    /// The output since the last call.
    pub(super) fn take(&self, is_last: bool) -> Text {
        self.shared.lock().output.take_with_sequences(is_last)
    }

    /// The screen, if a program fills it.
    pub(super) fn screen(&self) -> Option<String> {
        self.shared.lock().screen.of_program()
    }

    /// Exit code and directory of the last command that has ended.
    pub(super) fn prompt(&self) -> Option<Prompt> {
        self.shared.lock().prompt.clone()
    }

    /// Waits until the command of a dropped call is stopped.
    pub(super) async fn stopped(&self) {
        drop(self.stopping.lock().await);
    }

    async fn stopper(&self) -> Stopper {
        let stopping = Arc::clone(&self.stopping).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        let started_at = self.started_at;
        let has_ended = Box::new(move || {
            let state = shared.lock();
            state.prompts != started_at || state.is_closed
        });
        Stopper {
            terminal: Arc::clone(&self.terminal),
            shell: self.shell,
            has_ended,
            _stopping: stopping,
        }
    }
}

/// The command of an interactive shell that reads no files of the user.
fn command(
    launcher: &Launcher,
    secrets: Environment,
    mark: &str,
) -> io::Result<pty_process::Command> {
    let (program, arguments) = launcher.program()?;
    let command = pty_process::Command::new(program)
        .args(arguments)
        .args(["--noprofile", "--norc", "--noediting", "-i"])
        .env_clear()
        .envs(environment::variables(&launcher.workspace, secrets, mark, "xterm-256color"))
        .current_dir(launcher.existing_directory()?)
        .kill_on_drop(true);
    #[cfg(target_os = "linux")]
    let command = super::before_exec::prepare_terminal(command, &launcher.params.limits);
    Ok(command)
}

/// Reads the terminal until no process has it open.
async fn read(mut reader: OwnedReadPty, mut marker: Marker, shared: Arc<Inner>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = reader.read(&mut buffer).await {
        shared.lock().receive(&mut marker, &buffer[..length]);
        shared.changed.notify_one();
    }
    shared.lock().is_closed = true;
    shared.changed.notify_one();
}

impl Inner {
    fn new(file: ScratchFile) -> Self {
        let mut output = Output::new(OUTPUT, file);
        output.store();
        let state = State {
            output,
            screen: Screen::new(),
            prompt: None,
            prompts: 0,
            last_output: Instant::now(),
            is_closed: false,
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn receive(&mut self, marker: &mut Marker, bytes: &[u8]) {
        self.last_output = Instant::now();
        let (output, screen) = (&mut self.output, &mut self.screen);
        let prompt = marker.scan(bytes, |bytes| {
            output.push(bytes);
            screen.process(bytes);
        });
        if let Some(prompt) = prompt {
            self.prompt = Some(prompt);
            self.prompts += 1;
        }
    }
}

/// The directory of a terminal before its first command.
pub(super) fn directory(prompt: Option<&Prompt>, start: &Path) -> String {
    prompt.map_or(start, |prompt| prompt.directory.as_path()).display().to_string()
}
