//! Variables that keep programs from waiting for a person.

use crate::process_tree::MARK;
use crate::workspace::Workspace;
use std::ffi::OsString;

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

/// The environment of a command: that of the workspace, then these. `term` is the kind of terminal.
pub(super) fn variables(
    workspace: &Workspace,
    mark: &str,
    term: &str,
) -> Vec<(OsString, OsString)> {
    let given = workspace.environment().iter().map(|(name, value)| (name.clone(), value.clone()));
    let own = UNATTENDED.iter().copied().chain([(MARK, mark), ("TERM", term)]);
    given.chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
}
