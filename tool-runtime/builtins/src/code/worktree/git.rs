//! Runs git: without prompts, without variables of other calls of git, and without programs that the repository names.

use crate::process::{Started, find_program, start};
use crate::process_tree::KillOnDrop;
use crate::workspace::Workspace;
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

/// The program git, over the repository of a directory.
#[derive(Debug)]
pub(super) struct Git {
    program: PathBuf,
    directory: PathBuf,
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
        let found = find_program(program, workspace.environment())
            .ok_or_else(|| format!("`{}` is missing; install git", program.display()))?;
        let is_of_git = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let given = workspace.environment().iter().filter(|(name, _)| !is_of_git(name));
        let given = given.map(|(name, value)| (name.clone(), value.clone()));
        let own = VARIABLES.iter().map(|(name, value)| (name.into(), value.into()));
        Ok(Self {
            program: found,
            directory: workspace.roots()[0].canonical_path().to_owned(),
            environment: given.chain(own).collect(),
            runs_hooks,
        })
    }

    /// Runs a command that must succeed, and returns its output.
    pub(super) async fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, ToolError> {
        let ended = self.attempt(&self.directory, arguments).await?;
        ended.checked()
    }

    /// Runs a command in a directory, and returns how it ended.
    pub(super) async fn attempt<A: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: &[A],
    ) -> Result<Ended, ToolError> {
        let settings = self.settings(&[directory]).await?;
        self.execute(directory, arguments, &settings).await
    }

    /// Runs a command in the root that must succeed, and starts git in a worktree: the repository may name other programs
    /// there.
    pub(super) async fn run_for<A: AsRef<OsStr>>(
        &self,
        worktree: &Path,
        arguments: &[A],
    ) -> Result<Vec<u8>, ToolError> {
        let directories = [&self.directory, worktree];
        let known = if worktree.is_dir() { &directories[..] } else { &directories[..1] };
        let settings = self.settings(known).await?;
        self.execute(&self.directory, arguments, &settings).await?.checked()
    }

    /// Settings of a command that starts git in these directories.
    async fn settings(&self, directories: &[&Path]) -> Result<Vec<(String, String)>, ToolError> {
        let mut settings = Vec::new();
        if !self.runs_hooks {
            for directory in directories {
                settings.extend(self.inert(directory).await?);
            }
        }
        Ok(settings)
    }

    /// Whether programs run that the repository names.
    pub(super) fn runs_hooks(&self) -> bool {
        self.runs_hooks
    }

    /// Runs a command in the root, and returns how it ended.
    pub(super) async fn test<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Ended, ToolError> {
        self.attempt(&self.directory, arguments).await
    }

    /// Settings by which no program runs that the repository names: hooks, file monitors, filters, transports.
    async fn inert(&self, directory: &Path) -> Result<Vec<(String, String)>, ToolError> {
        let fixed = [
            ("core.hooksPath", "/dev/null"),
            ("core.fsmonitor", "false"),
            ("submodule.recurse", "false"),
        ];
        let mut settings: Vec<(String, String)> =
            fixed.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let pattern = r"^(filter\..*\.(clean|smudge|process|required)|hook\..*\.(command|event))$";
        let list = ["config", "--show-scope", "--null", "--name-only", "--get-regexp", pattern];
        let found = self.execute(directory, &list, &settings).await?.stdout;
        let mut parts = found.split(|byte| *byte == 0);
        while let (Some(scope), Some(key)) = (parts.next(), parts.next()) {
            // Those of the user and of the system are the operator's.
            if matches!(scope, b"local" | b"worktree") {
                settings.push(disabled(&String::from_utf8_lossy(key)));
            }
        }
        Ok(settings)
    }

    async fn execute<A: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: &[A],
        settings: &[(String, String)],
    ) -> Result<Ended, ToolError> {
        let mut command = Command::new(&self.program);
        command
            .arg("--no-pager")
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("GIT_CONFIG_COUNT", settings.len().to_string())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !self.runs_hooks {
            // Missing objects would be fetched by programs that the repository names.
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        for (number, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        let Started { mut child, tree } = start(command)?;
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

impl Ended {
    /// The output of a command that succeeded, or what git says about its failure.
    pub(super) fn checked(self) -> Result<Vec<u8>, ToolError> {
        if self.success {
            return Ok(self.stdout);
        }
        let text = String::from_utf8_lossy(&self.stderr);
        let text: String = text.trim().chars().take(MAX_ERROR).collect();
        Err(ToolError::user(format!("git: {}", if text.is_empty() { "failed" } else { &text })))
    }
}

/// The setting by which the filter or hook of a setting does not run.
fn disabled(key: &str) -> (String, String) {
    let hook = key.strip_prefix("hook.").and_then(|rest| rest.rsplit_once('.'));
    match hook {
        // Configured hooks exist since git 2.54.
        Some((name, _)) => (format!("hook.{name}.enabled"), "false".to_owned()),
        None if key.ends_with(".required") => (key.to_owned(), "false".to_owned()),
        None => (key.to_owned(), String::new()),
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

#[cfg(test)]
mod tests {
    use super::disabled;

    #[test]
    fn filters_and_configured_hooks_are_turned_off() {
        for (key, off, value) in [
            ("filter.mine.clean", "filter.mine.clean", ""),
            ("filter.mine.required", "filter.mine.required", "false"),
            ("hook.my.lint.command", "hook.my.lint.enabled", "false"),
            ("hook.Lint.event", "hook.Lint.enabled", "false"),
        ] {
            assert_eq!(disabled(key), (off.to_owned(), value.to_owned()));
        }
    }
}
