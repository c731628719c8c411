//! Tools that run commands.
//!
//! `Bash` starts a new shell for each command, in the first root: neither the directory nor variables stay, as in
//! Claude Code's background jobs and scripts. `terminal` is one shell for each principal, at a terminal, in which both
//! stay.
//!
//! A command ends with all that it started: when its time is up, when its call is cancelled, by `KillBash`, and when the
//! pool closes. A process that a command leaves in the background stays until the pool closes; a background job runs as
//! long as one of its processes does. The module `process_tree` says how processes are found, and which are not.
//!
//! | Module | Topic |
//! |---|---|
//! | `params` | settings of the operator |
//! | `spawn`, `before_exec`, `environment` | how commands start, their ties to this process and limits, their variables |
//! | `command`, `capture`, `output`, `scratch` | one command, its streams, output and files |
//! | `kept` | how much of an output a result keeps |
//! | `outputs` | the files as resources of a pool |
//! | `jobs` | commands in the background |
//! | `terminal`, `session`, `stopper`, `marker`, `keys`, `screen` | calls of a terminal, its shell, its interruption, the end of a command, keys, text |
//! | `result` | what the tools return |

#[cfg(target_os = "linux")]
mod before_exec;
mod capture;
mod command;
mod environment;
mod jobs;
mod kept;
mod keys;
mod marker;
mod output;
mod outputs;
mod params;
mod result;
mod scratch;
mod screen;
mod session;
mod spawn;
mod stopper;
mod terminal;
#[cfg(test)]
mod tests;

pub use params::{CommandLimits, ShellParams};
pub use result::{CommandOutput, JobOutput, JobStatus, TerminalOutput};

use crate::background::check_not_scheduled;
use crate::builtins::{Builtins, Family, Profile};
use crate::process_tree::Tree;
use crate::random;
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use command::Running;
use jobs::Jobs;
use kept::Kept;
use outputs::Outputs;
use regex::RegexBuilder;
use rustix::process::Signal;
use scratch::Scratch;
use session::Identity;
use spawn::{Invocation, Launcher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use terminal::{MAX_TIME, Request, Terminals};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

/// Time limits of a command, in milliseconds.
const DEFAULT_TIMEOUT: u64 = 120_000;
const MAX_TIMEOUT: u64 = 600_000;
/// Bytes that the compiled filter of `BashOutput` may take.
const MAX_FILTER: usize = 1 << 20;

/// Tools that run commands. See [`Builtins::shell`](crate::Builtins::shell).
pub struct Shell {
    launcher: Launcher,
    /// The beginning of the marks of all processes.
    id: String,
    commands: AtomicU64,
    scratch: Arc<Scratch>,
    outputs: Outputs,
    jobs: Jobs,
    terminals: Terminals,
}

#[toolset(prefix = "", register = false)]
impl Shell {
    /// Run a command in a new shell that begins in the workspace's directory. Its input is empty, and programs
    /// do not ask. Of the server's variables commands get those that say where things are; the operator adds others by
    /// `pass_variables` (`--env NAME` of `toolbox`). After the time limit it is ended with all that it started. For servers and other commands that do
    /// not end by themselves use `run_in_background`. Of a long output the first and the last 50,000 bytes are returned, or
    /// what the host allows; a file has all of it.
    #[tool(
        name = "Bash",
        read_only = false,
        destructive,
        idempotent = false,
        open_world,
        tags("core"),
        timeout = "620s",
        progress
    )]
    async fn bash(
        &self,
        /// The command, in the syntax of bash.
        #[arg(match_as = "shell", length = 1..=100_000)]
        command: String,
        /// Milliseconds after which the command is ended. Not for background jobs.
        #[arg(default = DEFAULT_TIMEOUT, range = 1..=MAX_TIMEOUT, alias = "timeout")]
        timeout_ms: u64,
        /// Purpose of the command in five to ten words, for people.
        #[arg(default)]
        description: String,
        /// Whether the command runs as a job, whose output `BashOutput` returns.
        #[arg(default)]
        run_in_background: bool,
        context: &ToolContext,
    ) -> Result<CommandOutput, ToolError> {
        // Shown to people who approve the call.
        drop(description);
        if run_in_background {
            check_not_scheduled(context, "a command")?;
            return self.start_job(command, context).await;
        }
        let invocation = self.invocation(command, self.next(), context)?;
        let kept = Kept::for_context(context);
        let running =
            Running::start(&self.launcher, &self.scratch, invocation, kept, false).await?;
        let finished = running.finish(Duration::from_millis(timeout_ms), context).await?;
        let (timed_out, has_survivors) = (finished.status.is_none(), finished.has_survivors);
        let output = CommandOutput::from_finished(finished).with_links(&self.outputs, context);
        let output = match self.launcher.workspace.confinement().keeps_git_settings() {
            true => output.with_git_settings(),
            false => output,
        };
        let output = match timed_out {
            true => output.after_timeout(timeout_ms, has_survivors),
            false => output,
        };
        Ok(output.with_kept(kept))
    }

    /// Read the new output of a background job, and whether it still runs.
    #[tool(
        name = "BashOutput",
        read_only,
        destructive = false,
        idempotent = false,
        open_world = false,
        tags("core")
    )]
    async fn bash_output(
        &self,
        /// Id of the job, as `Bash` returned it.
        #[arg(alias("bash_id", "id"))]
        job_id: String,
        /// Regular expression: only lines that match are returned, and others cannot be read later.
        filter: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<JobOutput>, ToolError> {
        let filter = filter.map(|filter| RegexBuilder::new(&filter).size_limit(MAX_FILTER).build());
        let filter = filter.transpose().map_err(|error| {
            ToolError::user(format!("`filter` is not a valid regular expression: {error}"))
        })?;
        let job = self.jobs.find(&job_id, context)?;
        Ok(self.linked(job.read(filter.as_ref()), context))
    }

    /// End a background job and all that it started. Returns the rest of its output.
    #[tool(
        name = "KillBash",
        read_only = false,
        destructive,
        idempotent,
        open_world = false,
        tags("core"),
        timeout = "30s"
    )]
    async fn kill_bash(
        &self,
        /// Id of the job, as `Bash` returned it.
        #[arg(alias("shell_id", "id"))]
        job_id: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<JobOutput>, ToolError> {
        let job = self.jobs.find(&job_id, context)?;
        job.kill().await?;
        Ok(self.linked(job.read(None), context))
    }

    /// Run a command in a shell that stays: its directory and variables are those of the command before. Without
    /// `timeout` a call returns with exit code -1 once there was no output for 30 seconds; the command runs on, and
    /// the next call waits for it, sends it input, or stops it by `C-c`.
    #[tool(
        name = "terminal",
        read_only = false,
        destructive,
        idempotent = false,
        open_world,
        tags("core"),
        timeout = "630s",
        progress
    )]
    async fn terminal(
        &self,
        /// The command, or the input of the one that runs: a string, or a key: `C-c`, `C-d`, `C-z`, `UP`, `DOWN`,
        /// `LEFT`, `RIGHT`, `HOME`, `END`, `PGUP`, `PGDN`, `TAB`, `ESC`, `BS`, `ENTER`. Empty to wait for more output.
        #[arg(match_as = "shell", length = 0..=100_000)]
        command: String,
        /// Whether `command` is input of the command that runs.
        #[arg(default)]
        is_input: bool,
        /// Seconds after which the call returns; the command runs on.
        #[arg(range = 0.0..=600.0)]
        timeout: Option<f64>,
        /// Whether a new shell is started first, which ends the old one and all that it started.
        #[arg(default)]
        reset: bool,
        context: &ToolContext,
    ) -> Result<ToolOutput<TerminalOutput>, ToolError> {
        let timeout = timeout.map(|seconds| Duration::from_secs_f64(seconds.min(MAX_TIME as f64)));
        let request = Request { command, is_input, timeout, reset };
        let slot = self.terminals.for_context(context, self.launcher.params.max_terminals);
        let mut slot = slot.lock().await;
        let secrets = environment::secrets(&self.launcher.params, None, context)?;
        let identity = Identity { mark: self.mark(self.next()), token: random::hex(32), secrets };
        let output = request.run(&mut slot, &self.launcher, &self.scratch, identity, context);
        output.await.map(|output| {
            self.outputs.link(output.output_file.clone(), ToolOutput::from_display(output), context)
        })
    }

    fn linked(&self, output: JobOutput, context: &ToolContext) -> ToolOutput<JobOutput> {
        self.outputs.link(
            output.output.output_files.clone(),
            ToolOutput::from_display(output),
            context,
        )
    }

    async fn start_job(
        &self,
        command: String,
        context: &ToolContext,
    ) -> Result<CommandOutput, ToolError> {
        let permit = self.jobs.permit(context)?;
        let number = self.next();
        let invocation = self.invocation(command.clone(), number, context)?;
        let kept = Kept::for_context(context);
        let running = Running::start(&self.launcher, &self.scratch, invocation, kept, true).await?;
        let id = self.jobs.add(number, command, running, permit, context).id();
        let notice = format!(
            "started as `{id}`, at most until this program ends; read its output by `BashOutput`, end it by `KillBash`"
        );
        Ok(CommandOutput { job_id: Some(id), notice: Some(notice), ..CommandOutput::default() })
    }

    fn invocation(
        &self,
        command: String,
        number: u64,
        context: &ToolContext,
    ) -> Result<Invocation, ToolError> {
        let secrets = environment::secrets(&self.launcher.params, Some(&command), context)?;
        Ok(Invocation { command, mark: self.mark(number), secrets })
    }

    fn next(&self) -> u64 {
        self.commands.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The mark of the processes of one command.
    fn mark(&self, number: u64) -> String {
        format!("{}.{number}.", self.id)
    }

    fn all_processes(&self) -> Tree {
        Tree { leader: None, mark: format!("{}.", self.id) }
    }

    pub(crate) fn new(workspace: Workspace, params: ShellParams) -> Self {
        let stored = match params.limits.stored_output {
            0 => u64::MAX,
            limit => limit,
        };
        let scratch = Arc::new(Scratch::new(stored / 4));
        Self {
            jobs: Jobs::new(params.max_jobs),
            launcher: Launcher::new(workspace, params),
            id: random::hex(32),
            commands: AtomicU64::new(0),
            outputs: Outputs::over(Arc::clone(&scratch), stored),
            scratch,
            terminals: Terminals::default(),
        }
    }
}

impl Builtins {
    /// Adds the tools that run commands. An output that is cut is a resource, `output://shell/{id}/{part}`, only for
    /// the caller and until the pool closes; the result has a link to it. If a program is missing, or the system lacks
    /// the sandbox, the tools are hidden, and the pool's report says what to install.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::shell::ShellParams;
    /// use tool_runtime_builtins::{Builtins, Sandbox, SandboxParams, Workspace};
    ///
    /// let sandbox = SandboxParams::new(Sandbox::Landlock);
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).sandbox(sandbox).build()?;
    /// let builtins = Builtins::new(workspace).shell(ShellParams::default());
    /// let pool = ToolPool::builder().install(builtins).allow_empty().build()?;
    /// println!("{}", pool.report());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shell(self, params: ShellParams) -> Self {
        self.family(|builtins, pool| {
            let workspace = builtins.workspace().clone();
            let usable = workspace.confinement().check().and_then(|()| params.check());
            let shell = usable.map(|()| Shell::new(workspace, params));
            let resource =
                shell.as_ref().ok().map(|shell| shell.outputs.resource(&builtins.named("shell")));
            let pool = pool.add_from(&Source::Custom, builtins.tools(shell));
            resource.into_iter().fold(pool, ToolPoolBuilder::add_resource)
        })
    }
}

impl Family for Shell {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["Bash", "BashOutput", "KillBash"],
            Profile::OpenHands => &["terminal"],
        }
    }

    /// The name in earlier versions of OpenHands.
    fn other_names(tool: &str) -> &'static [&'static str] {
        if tool == "terminal" { &["execute_bash"] } else { &[] }
    }
}

impl Toolset for Shell {
    type Params = ShellParams;

    /// The workspace is state of the pool.
    async fn create(params: ShellParams, context: &ToolContext) -> Result<Self, ToolError> {
        let workspace = Workspace::from_context(context)?;
        workspace.confinement().check().map_err(ToolError::user)?;
        Ok(Self::new(workspace, params))
    }

    fn is_usable(params: &ShellParams) -> Result<(), String> {
        params.check()
    }

    /// Ends all processes that the tools started.
    async fn close(&self) {
        self.jobs.kill_all().await;
        self.terminals.close();
        let tree = self.all_processes();
        // Fails only if the runtime shuts down; `drop` ends the processes then.
        let _ = tokio::task::spawn_blocking(move || tree.kill()).await;
        self.outputs.clear();
        self.scratch.remove();
    }
}

/// A value that was not closed, because the runtime ended first, leaves no processes either.
impl Drop for Shell {
    fn drop(&mut self) {
        if *self.commands.get_mut() > 0 {
            self.all_processes().signal(Signal::KILL);
        }
    }
}
