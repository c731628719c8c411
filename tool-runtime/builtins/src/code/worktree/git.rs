//! Runs git: without prompts, without variables of other calls of git, and without programs that the repository names.

use super::repository::{self, FORMAT};
use crate::confine::Child;
use crate::process::{Started, start};
use crate::process_tree::KillOnDrop;
use crate::workspace::{Repository, Workspace};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tool_runtime::ToolError;

/// Time limit of one command: a checkout of a large repository takes a while.
const LIMIT: Duration = Duration::from_secs(120);
/// Bytes of output that are read.
const MAX_OUTPUT: u64 = 16 << 20;
/// Characters of an error of git in ours.
const MAX_ERROR: usize = 600;

/// Variables of every call.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    // Looking at a worktree does not write to it.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
];

/// Settings of the user by which programs would run in every repository, and what they are here.
const INERT: &[(&str, &str)] =
    &[("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false"), ("submodule.recurse", "false")];

/// The program git, over the repository of the first root.
#[derive(Debug)]
pub(super) struct Git {
    program: PathBuf,
    workspace: Workspace,
    environment: Vec<(OsString, OsString)>,
    /// Whether programs run that the repository names.
    runs_hooks: bool,
}

/// The end of a command.
pub(super) struct Ended {
    pub(super) success: bool,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Git {
    /// Git for the first root.
    ///
    /// # Errors
    /// The program is missing.
    pub(super) fn new(
        workspace: &Workspace,
        program: &Path,
        runs_hooks: bool,
    ) -> Result<Self, String> {
        let found = workspace.confinement().find_program(program, workspace.environment());
        let found = found.map_err(|missing| missing.message(program, "install git"))?;
        let is_of_git = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let given = workspace.environment().iter().filter(|(name, _)| !is_of_git(name));
        let given = given.map(|(name, value)| (name.clone(), value.clone()));
        let own = VARIABLES.iter().map(|(name, value)| (name.into(), value.into()));
        let own = own.chain(user_settings(workspace));
        Ok(Self {
            program: found,
            workspace: workspace.clone(),
            environment: given.chain(own).collect(),
            runs_hooks,
        })
    }

    /// Whether programs run that the repository names.
    pub(super) fn runs_hooks(&self) -> bool {
        self.runs_hooks
    }

    /// Runs a command in the root that must succeed, and returns its output.
    pub(super) async fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, ToolError> {
        self.test(arguments).await?.check()
    }

    /// Runs a command in the root, and returns how it ended.
    pub(super) async fn test<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Ended, ToolError> {
        let repository = repository::find(&self.workspace)?;
        let root = self.workspace.roots()[0].canonical_path();
        let mut command = self.command(root)?;
        command.env("GIT_DIR", &repository.git_dir);
        self.end(command, &repository, arguments).await
    }

    /// Runs a command in a worktree, and returns how it ended.
    pub(super) async fn attempt<A: AsRef<OsStr>>(
        &self,
        worktree: &Path,
        arguments: &[A],
    ) -> Result<Ended, ToolError> {
        let repository = repository::find(&self.workspace)?;
        let mut command = self.command(worktree)?;
        // Without its own repository, the worktree would be taken for a part of the root.
        command.env("GIT_CEILING_DIRECTORIES", worktree.parent().unwrap_or(worktree));
        self.end(command, &repository, arguments).await
    }

    /// Runs a command over a repository to its end.
    async fn end<A: AsRef<OsStr>>(
        &self,
        mut command: Command,
        repository: &Repository,
        arguments: &[A],
    ) -> Result<Ended, ToolError> {
        command.args(arguments);
        if self.runs_hooks {
            return self.execute(command).await;
        }
        let settings = self.format(repository).await?;
        let stand_in = repository::stand_in(repository, &settings)?;
        command.env("GIT_COMMON_DIR", stand_in.path());
        self.execute(command).await
    }

    /// The settings of a repository that say how its data is stored, read as data.
    async fn format(&self, repository: &Repository) -> Result<Vec<u8>, ToolError> {
        let mut command = self.command(&repository.common)?;
        let file = repository.common.join("config");
        command.args(["config", "--no-includes", "--null", "--file"]).arg(file);
        command.args(["--get-regexp", FORMAT]).env("GIT_DIR", "/dev/null");
        // `git config` fails if no setting matches.
        Ok(self.execute(command).await?.stdout)
    }

    /// A command without its arguments.
    fn command(&self, directory: &Path) -> Result<Command, ToolError> {
        let child = Child::Git { hooks: self.runs_hooks };
        let confinement = self.workspace.confinement();
        let (program, arguments) = confinement.program(&child, self.program.clone())?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg("--no-pager")
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !self.runs_hooks {
            // Missing objects would be fetched by programs that the repository names.
            command.env("GIT_NO_LAZY_FETCH", "1");
            command.env("GIT_CONFIG_COUNT", INERT.len().to_string());
            for (number, (key, value)) in INERT.iter().enumerate() {
                command.env(format!("GIT_CONFIG_KEY_{number}"), key);
                command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
            }
        }
        Ok(command)
    }

    async fn execute(&self, command: Command) -> Result<Ended, ToolError> {
        let child = Child::Git { hooks: self.runs_hooks };
        let started = start(self.workspace.confinement(), child, command).await?;
        let Started { mut child, tree } = started;
        let guard = KillOnDrop(Some(tree));
        let (stdout, stderr) = (read(child.stdout().take()), read(child.stderr().take()));
        let ended =
            tokio::time::timeout(LIMIT, async { tokio::join!(stdout, stderr, child.wait()) });
        let (stdout, stderr, status) = ended.await.map_err(|_| {
            ToolError::user(format!("git was ended after {} seconds", LIMIT.as_secs()))
        })?;
        guard.disarm();
        Ok(Ended { success: status?.success(), stdout, stderr })
    }
}

/// Turns off the settings of the user where tools could write them.
fn user_settings(workspace: &Workspace) -> Vec<(OsString, OsString)> {
    let variable = |name: &str| workspace.environment().get(OsStr::new(name)).map(PathBuf::from);
    let home = variable("HOME");
    let config = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [home.map(|home| home.join(".gitconfig")), config.map(|it| it.join("git/config"))];
    let is_changeable =
        |file: &PathBuf| workspace.roots().iter().any(|root| root.below(file).is_some());
    match files.iter().flatten().any(is_changeable) {
        true => vec![
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_ATTR_NOSYSTEM".into(), "1".into()),
            ("XDG_CONFIG_HOME".into(), "/nonexistent".into()),
        ],
        false => Vec::new(),
    }
}

impl Ended {
    /// The output of a command that succeeded, or what git says about its failure.
    pub(super) fn check(self) -> Result<Vec<u8>, ToolError> {
        if self.success {
            return Ok(self.stdout);
        }
        let text = String::from_utf8_lossy(&self.stderr);
        let text: String = text.trim().chars().take(MAX_ERROR).collect();
        Err(ToolError::user(format!("git: {}", if text.is_empty() { "failed" } else { &text })))
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // The bytes before an error are kept.
        let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    }
    bytes
}

/// Output as text, without the line ending.
pub(super) fn line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end().to_owned()
}
