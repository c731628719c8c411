//! The environment of commands: variables that keep programs from waiting for a person, and secrets.

use super::params::ShellParams;
use crate::process_tree::MARK;
use crate::workspace::{Environment, Workspace};
use std::ffi::OsString;
use tool_runtime::secret::Secrets;
use tool_runtime::{ToolContext, ToolError};

/// No pagers, no prompts.
const UNATTENDED: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GCM_INTERACTIVE", "never"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
];

/// Programs that would wait for a person. A terminal has one.
const ASKING: &[(&str, &str)] = &[
    ("EDITOR", NO_EDITOR),
    ("VISUAL", NO_EDITOR),
    ("GIT_EDITOR", NO_EDITOR),
    ("GIT_SEQUENCE_EDITOR", NO_EDITOR),
    ("SSH_ASKPASS", "/bin/false"),
    ("GIT_ASKPASS", "/bin/false"),
    ("SUDO_ASKPASS", "/bin/false"),
];

/// Programs give it to a shell, with the name of a file after it.
const NO_EDITOR: &str =
    "echo 'there is no editor: give the text by an option, as in `git commit -m`' >&2; false #";

/// The environment of a command: that of the workspace, then secrets, then these. `term` is the kind of terminal, `dumb`
/// without one.
pub(super) fn variables(
    workspace: &Workspace,
    secrets: Environment,
    mark: &str,
    term: &str,
) -> Vec<(OsString, OsString)> {
    let given = workspace.environment().iter().map(|(name, value)| (name.clone(), value.clone()));
    let given = given.chain(secrets);
    let asking = ASKING.iter().copied().filter(|_| term == "dumb");
    let own = UNATTENDED.iter().copied().chain(asking).chain([(MARK, mark), ("TERM", term)]);
    given.chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
}

/// The secrets that the operator gives to commands, as variables; with a command, those whose names are in it.
///
/// # Errors
/// The pool lacks one of them.
pub(super) fn secrets(
    params: &ShellParams,
    command: Option<&str>,
    context: &ToolContext,
) -> Result<Environment, ToolError> {
    let is_named = |name: &&String| command.is_none_or(|command| command.contains(name.as_str()));
    let value = |name: &String| {
        let secret = context.get::<Secrets>().and_then(|secrets| secrets.get(name));
        let missing = || {
            ToolError::internal(format!(
                "the pool has no secret `{name}`; add it by `.secrets(..)`, or remove it from `secrets` of the shell"
            ))
        };
        let secret = secret.ok_or_else(missing)?;
        Ok((name.into(), secret.expose().into()))
    };
    params.secrets.iter().filter(is_named).map(value).collect()
}
