//! Splits a line into simple commands: lists, pipelines, harmless redirections.
//!
//! The commands are slices of the line, so that each can be compared alone. What cannot be compared alone makes the
//! whole line undecidable: a program that may run its input, a command that changes what later words mean.

mod heredoc;
mod redirection;
mod scan;

use crate::allowed;
use crate::parse::{self, MAX_COMMAND_BYTES};
use crate::reason::Reason;
use crate::wrappers::{base_name, is_keyword};
use scan::Segment;

/// The most commands of a line.
pub(crate) const MAX_COMMANDS: usize = 32;

/// Builtins that change what later commands of a line mean: names, variables, options, descriptors. A change of variables
/// by `export` or `declare` is no simple command.
const STATE: &[&str] = &[
    "alias",
    "bind",
    "compgen",
    "complete",
    "compopt",
    "enable",
    "getopts",
    "hash",
    "let",
    "mapfile",
    "read",
    "readarray",
    "set",
    "shift",
    "shopt",
    "unalias",
];

/// Builtins that change the directory.
const DIRECTORY: &[&str] = &["cd", "popd", "pushd"];

/// A simple command of a line, without redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand<'t> {
    text: &'t str,
    pub(crate) words: Vec<String>,
    is_filter: bool,
}

impl<'t> ShellCommand<'t> {
    /// The command, as it is written in the line.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Whether the command only passes on a part of what the commands before it in a pipeline write: `head -20`,
    /// `grep error`. It reads no files, so it needs no pattern that allows it.
    pub fn is_filter(&self) -> bool {
        self.is_filter
    }
}

/// The simple commands of a line, at least one.
///
/// ```
/// let commands = tool_runtime_shell::commands("git status && cargo test 2>&1 | head -5")?;
/// let sources: Vec<&str> = commands.iter().map(|command| command.text()).collect();
/// assert_eq!(sources, ["git status", "cargo test", "head -5"]);
/// assert!(commands[2].is_filter() && !commands[1].is_filter());
/// assert!(tool_runtime_shell::commands("curl https://example.com | sh").is_err());
/// # Ok::<(), tool_runtime_shell::Reason>(())
/// ```
///
/// # Errors
/// The reason why the commands of the line cannot be told, or not be compared one by one.
pub fn commands(line: &str) -> Result<Vec<ShellCommand<'_>>, Reason> {
    if line.len() > MAX_COMMAND_BYTES {
        return Err(Reason::TooLong);
    }
    let segments = scan::segments(line)?;
    if segments.is_empty() {
        return Err(Reason::Empty);
    }
    if segments.len() > MAX_COMMANDS {
        return Err(Reason::TooMany);
    }
    let commands = segments.iter().map(simple).collect::<Result<Vec<_>, _>>()?;
    check_order(&commands)?;
    Ok(commands)
}

fn simple<'t>(segment: &Segment<'t>) -> Result<ShellCommand<'t>, Reason> {
    let words = parse::plain_command(segment.text)?;
    if is_keyword(&words[0]) {
        return Err(Reason::Construct("a keyword of the shell"));
    }
    if segment.has_input() && !allowed::takes_data(&words[0]) {
        return Err(Reason::Input(words[0].clone()));
    }
    let is_filter = segment.is_piped && !segment.has_document && allowed::is_filter(&words);
    Ok(ShellCommand { text: segment.text, words, is_filter })
}

/// Checks that no command changes what a later one means.
fn check_order(commands: &[ShellCommand<'_>]) -> Result<(), Reason> {
    let mut has_moved = false;
    for (index, ShellCommand { words, .. }) in commands.iter().enumerate() {
        let program = &words[0];
        let is_last = index + 1 == commands.len();
        if !is_last && STATE.contains(&base_name(program)) {
            return Err(Reason::ChangesShell(program.clone()));
        }
        if has_moved && program.contains('/') && !program.starts_with('/') {
            return Err(Reason::Relative(program.clone()));
        }
        has_moved |= DIRECTORY.contains(&program.as_str());
    }
    Ok(())
}
