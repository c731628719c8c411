//! Reasons why a command is undecidable.

use crate::line::MAX_COMMANDS;
use crate::parse::MAX_COMMAND_BYTES;

/// Explains, in plain language, why a command is not a plain command.
///
/// ```
/// # use tool_runtime_shell::{Reason, ShellMatch, ShellPattern};
/// let pattern = ShellPattern::parse("git *")?;
/// let ShellMatch::Undecidable(reason) = pattern.matches("sudo git status") else { panic!() };
/// assert_eq!(reason, Reason::Wrapper("sudo".into()));
/// assert_eq!(reason.to_string(), "`sudo` runs another command; run that one alone");
/// # Ok::<(), tool_runtime_shell::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The command has no words.
    #[error("the command is empty")]
    Empty,
    /// The command is too long to be checked.
    #[error("the command is longer than {MAX_COMMAND_BYTES} bytes")]
    TooLong,
    /// The command contains a line break, a tab or another control character.
    #[error("the command contains the control character {0:?}; run one command on one line")]
    ControlCharacter(char),
    /// The command contains a space character that shells do not take as a space.
    #[error("the command contains {0:?}, which looks like a space and is not one")]
    Whitespace(char),
    /// The command does not parse as bash.
    #[error("the command does not parse as one bash command")]
    Syntax,
    /// The command is more than, or something other than, a plain command.
    #[error("the command contains {0}; run one plain command")]
    Construct(&'static str),
    /// A word contains a character that the shell interprets.
    #[error("`{word}` contains {what}, which the shell may interpret; put it in single quotes")]
    Interpreted {
        /// The word as written in the command.
        word: String,
        /// The name of the character or construct.
        what: &'static str,
    },
    /// The line has too many commands to be checked.
    #[error("the line has more than {MAX_COMMANDS} commands; run fewer at once")]
    TooMany,
    /// A program gets input from a pipe or a here-document, and may run it.
    #[error("`{0}` reads input that it may run, or take for arguments; run it without a pipe")]
    Input(String),
    /// A command changes what later commands of the line mean.
    #[error("`{0}` changes what later commands of the line mean; run it alone")]
    ChangesShell(String),
    /// A program is named by a relative path after the directory was changed.
    #[error("`{0}` is relative to the directory that the line changes to; run it alone")]
    Relative(String),
    /// The pattern describes some commands of the line, and not others.
    #[error("`{pattern}` describes some commands of the line, and not `{other}`; run them apart")]
    Mixed {
        /// The pattern.
        pattern: String,
        /// The first command that the pattern does not describe.
        other: String,
    },
    /// The program's name is quoted.
    #[error("the program is written as `{0}`; write its name without quotes")]
    QuotedProgram(String),
    /// The program runs another command.
    #[error("`{0}` runs another command; run that one alone")]
    Wrapper(String),
    /// The program is written with another path than the pattern's.
    #[error("`{0}` may be the program of the pattern under another path; write the same path")]
    Path(String),
    /// An option is written before the subcommand of the pattern.
    #[error(
        "`{0}` is written before the subcommand, which cannot be told from its value; write it after"
    )]
    OptionFirst(String),
    /// A word is code, or makes the program run another command.
    #[error(
        "`{word}` makes `{program}` run code or another command, which cannot be checked; run that one alone"
    )]
    Code {
        /// The program.
        program: String,
        /// The decoded word.
        word: String,
    },
    /// An option is not known to be harmless.
    #[error(
        "the option `{word}` of `{program}` is not known to be harmless; only a pattern that contains it allows it"
    )]
    Option {
        /// The program.
        program: String,
        /// The decoded word.
        word: String,
    },
    /// A subcommand or operand is not known to be harmless.
    #[error(
        "`{word}` may make `{program}` run a command or code; only a pattern that contains the word allows it"
    )]
    Operand {
        /// The program.
        program: String,
        /// The decoded word.
        word: String,
    },
}
