//! The results of commands.

use super::command::Finished;
use super::kept::Kept;
use super::output::Text;
use super::outputs::Outputs;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use tool_runtime::content::ResourceLink;
use tool_runtime::{ContentBlock, IntoObservation, Observation, ToolContext, ToolError};

/// Result of a command.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CommandOutput {
    /// Standard output; the middle of a long one is left out.
    pub stdout: String,
    /// Standard error; the middle of a long one is left out.
    pub stderr: String,
    /// Exit code; null if a signal ended the command, or if it still runs.
    pub exit_code: Option<i32>,
    /// Number of the signal that ended the command.
    pub signal: Option<i32>,
    /// Whether the command was ended because its time was up.
    pub timed_out: bool,
    /// Id of the background job, for `BashOutput` and `KillBash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// Files with the output, as far as it is stored, where `stdout` or `stderr` is not all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub output_files: Vec<String>,
    /// Remarks, for instance what to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Links to these files as resources of the pool.
    #[serde(skip)]
    pub(super) links: Vec<ResourceLink>,
}

/// Notice about processes that could not be ended.
pub(super) const SURVIVORS: &str =
    "some processes could not be ended and may still run: those of another user, for instance";

impl CommandOutput {
    pub(super) fn from_finished(finished: Finished) -> Self {
        let notice = finished.is_open.then_some(
            "a process in the background keeps the output open; what it writes from now on is not shown; use `run_in_background` for such commands",
        );
        Self { notice: notice.map(str::to_owned), ..Self::default() }
            .with_texts(finished.stdout, finished.stderr)
            .with_status(finished.status)
    }

    /// The result of a command that was ended.
    pub(super) fn after_timeout(mut self, limit: u64, has_survivors: bool) -> Self {
        self.timed_out = true;
        let ended = match has_survivors {
            true => format!("the time of {limit} ms is up, and {SURVIVORS}"),
            false => format!("ended after {limit} ms with all that it started"),
        };
        self.notice =
            Some(format!("{ended}; set a longer `timeout_ms`, or use `run_in_background`"));
        self
    }

    pub(super) fn with_texts(mut self, stdout: Text, stderr: Text) -> Self {
        let files = stdout.file.into_iter().chain(stderr.file);
        self.output_files = files.map(|file| file.display().to_string()).collect();
        (self.stdout, self.stderr) = (stdout.text, stderr.text);
        self
    }

    /// Says what is kept of an output that was cut.
    pub(super) fn with_kept(mut self, kept: Kept) -> Self {
        if !self.output_files.is_empty() {
            self.notice = join_notices(self.notice.take().into_iter().chain(kept.notice()));
        }
        self
    }

    /// Offers the files to the caller.
    pub(super) fn with_links(mut self, outputs: &Outputs, context: &ToolContext) -> Self {
        let offer = |file: &String| outputs.offer(Path::new(file), context);
        self.links = self.output_files.iter().filter_map(offer).collect();
        self
    }

    /// Says why git could not change its settings, if it says that it could not.
    pub(super) fn with_git_settings(mut self) -> Self {
        let is_kept = |line: &str| {
            [".git/config", ".git/hooks", ".git\": Device"].iter().any(|name| line.contains(name))
                && ["busy", "Read-only file system"].iter().any(|reason| line.contains(reason))
        };
        if self.stderr.lines().any(is_kept) {
            let text = "`.git/config` and `.git/hooks` are read-only to commands, since they name programs that run outside the sandbox; the operator allows changes by `git_settings`, in `toolbox` by `--git-settings`";
            self.notice = join_notices(self.notice.take().into_iter().chain([text.to_owned()]));
        }
        self
    }

    pub(super) fn with_status(mut self, status: Option<ExitStatus>) -> Self {
        self.exit_code = status.and_then(|status| status.code());
        self.signal = status.and_then(|status| status.signal());
        self
    }
}

impl fmt::Display for CommandOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (text, title) in [(&self.stdout, ""), (&self.stderr, "[stderr]\n")] {
            let text = text.trim_end_matches('\n');
            if !text.is_empty() {
                parts.push(format!("{title}{text}"));
            }
        }
        match (self.exit_code, self.signal) {
            (Some(0), _) if parts.is_empty() => parts.push("[no output]".to_owned()),
            (Some(code), _) if code != 0 => parts.push(format!("[exit code {code}]")),
            (_, Some(signal)) => parts.push(format!("[ended by signal {signal}]")),
            _ => {}
        }
        parts.extend(self.notice.iter().map(|notice| format!("[{notice}]")));
        f.write_str(&parts.join("\n"))
    }
}

/// Remarks as one text, if there are some.
pub(super) fn join_notices(notices: impl Iterator<Item = String>) -> Option<String> {
    notices.reduce(|all, notice| format!("{all}; {notice}"))
}

/// A command that was ended is an error; any exit code is not.
impl IntoObservation for CommandOutput {
    fn into_observation(self) -> Result<Observation, ToolError> {
        let text = ContentBlock::text(self.to_string());
        let observation = Observation::json(&self)?.with_content(text).with_error(self.timed_out);
        let links = self.links.into_iter().map(ContentBlock::from);
        Ok(links.fold(observation, Observation::with_content))
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(Self::json_schema(generator))
    }
}

/// State and new output of a background job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobOutput {
    /// Id of the job.
    pub job_id: String,
    /// The command.
    pub command: String,
    /// Whether the job runs: the command, or a process that it started.
    pub status: JobStatus,
    /// Output, exit code and signal; the output is what was written since the last call.
    #[serde(flatten)]
    pub output: CommandOutput,
}

/// State of a background job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// The command runs, or a process that it started.
    Running,
    /// The command and all that it started have ended by themselves.
    Ended,
    /// `KillBash` has ended the job.
    Killed,
}

impl fmt::Display for JobOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            JobStatus::Running => "running",
            JobStatus::Ended => "ended",
            JobStatus::Killed => "killed",
        };
        write!(f, "[{} {status}]", self.job_id)?;
        let output = self.output.to_string();
        if output.is_empty() { f.write_str(" [no new output]") } else { write!(f, "\n{output}") }
    }
}

/// Result of a call of a terminal.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TerminalOutput {
    /// Output since the last call; the middle of a long one is left out.
    pub output: String,
    /// The screen, if the running program fills it, as an editor does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// Exit code of the command, or of the shell if it has ended; -1 while the command runs.
    pub exit_code: i32,
    /// Whether the command runs.
    pub is_running: bool,
    /// Directory of the shell.
    pub working_directory: String,
    /// File with the output of the shell, as far as it is stored, if `output` is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    /// Remarks, for instance what to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl TerminalOutput {
    /// Adds a remark before the others.
    pub(super) fn with_notice(mut self, notice: Option<&str>) -> Self {
        self.notice = join_notices(notice.map(str::to_owned).into_iter().chain(self.notice.take()));
        self
    }

    /// Adds the rest of the output of the previous command.
    pub(super) fn after(mut self, previous: Option<Self>) -> Self {
        let Some(previous) = previous else {
            return self;
        };
        self.output = [previous.output, self.output].join("\n").trim_matches('\n').to_owned();
        let notice = format!(
            "the output begins with the rest of that of the previous command, which ended with exit code {}",
            previous.exit_code
        );
        self.with_notice(Some(&notice))
    }
}

impl fmt::Display for TerminalOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let text = self.screen.as_deref().unwrap_or(&self.output);
        parts.extend((!text.is_empty()).then_some(text));
        let code = format!("[exit code {} in {}]", self.exit_code, self.working_directory);
        parts.push(&code);
        let notice = self.notice.as_ref().map(|notice| format!("[{notice}]"));
        parts.extend(notice.as_deref());
        f.write_str(&parts.join("\n"))
    }
}
