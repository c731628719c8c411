//! Patterns of shell commands, as agents' permission lists write them: the part between the
//! parentheses of `Bash(git *)` or `Bash(npm run test:*)`.
//!
//! ```
//! use tool_runtime_shell::{ShellMatch, ShellPattern};
//!
//! let git = ShellPattern::parse("git *")?;
//! assert_eq!(git.matches("git log --oneline -5"), ShellMatch::Yes);
//! assert_eq!(git.matches("cargo test"), ShellMatch::No);
//!
//! let ShellMatch::Undecidable(reason) = git.matches("git log; rm -r src") else { panic!() };
//! assert_eq!(reason.to_string(), "the command contains a separator; run one plain command");
//! # Ok::<(), tool_runtime_shell::PatternError>(())
//! ```
//!
//! # Patterns
//!
//! A pattern is compared word by word with the decoded words of a command, never with its text.
//!
//! | Pattern | Matches | Does not match |
//! |---|---|---|
//! | `git status` | `git status`, `git 'status'` | `git status -s` |
//! | `git *`, `git:*` | `git`, `git status`, `git log -5` | `gitk` |
//! | `npm run test:*` | `npm run test`, `npm run test -- -u` | `npm run test:unit` |
//! | `npm run test:* *` | `npm run test:unit`, `npm run test:e2e -- -u` | `npm run test` |
//! | `git * main` | `git merge main` | `git merge --no-ff main` |
//! | `cat src/*` | `cat src/lib.rs`, `cat src/a/b.rs` | `cat src/../key`, `cat src/a src/b` |
//!
//! - A last word `*`, or `:*` at the end of the last word, matches any further words, or none.
//! - Any other `*` matches within one word. It may match `/`, but never a component `..`.
//! - The first word names a program, literally.
//! - Quotes make a part literal: `git commit -m 'a * b'`.
//!
//! # Commands
//!
//! [`ShellMatch::Yes`] takes one plain command. These are [`ShellMatch::Undecidable`]: separators,
//! pipelines, substitutions, redirections, assignments, backslashes, braces, tildes, unquoted file name
//! patterns, comments, control characters with line breaks among them, and everything that does not
//! parse. So is a program that runs another command (`env`, `sudo`, `xargs`, `bash`), unless the pattern
//! begins with its name. `env *` then allows any command after `env`; `env git *` only those of git.
//!
//! # Options that execute
//!
//! `git -c core.pager=CMD log` is one plain command, and runs another one. A table lists options and
//! subcommands of common programs that run commands, load code or write files; words that a `*` matches
//! must not be among them. A pattern that writes such a word out allows it: `git -C * status`.
//!
//! # Deny lists
//!
//! A command that a pattern does not describe can still run one that it describes. These are
//! [`ShellMatch::Undecidable`] too, so that a deny list denies them:
//!
//! - another path of the same program: `/bin/rm` for `rm *`;
//! - options by which the command's own words are run, from a second table: `find -exec`, `tar --checkpoint-action`,
//!   `sed 1e`, `python -c`, `awk 'BEGIN { system("..") }'`, `make X=..`;
//! - options before the subcommand: `git --no-pager push` for `git push *`;
//! - an interpreter without arguments, which runs its input.
//!
//! Not recognised: a copy or a link of a program under another name, a program that does the same (`unlink` for `rm`),
//! another spelling of the same options (`rm -r -f` for `rm -rf *`), and code in files: scripts, `make`, `npm run`,
//! `cargo test`.
//!
//! The tables are lists of known options. They are not a sandbox: programs absent from them, scripts in a
//! repository, hooks, aliases and configuration files are not covered. The environment, and aliases and
//! functions of the shell, can also change a command's meaning. A deny list of a shell stops mistakes; only a sandbox
//! confines commands.

mod matcher;
mod opaque;
mod options;
mod parse;
mod pattern;
mod reason;
#[cfg(test)]
mod tests;
mod words;
mod wrappers;

pub use matcher::ShellMatcher;
pub use pattern::{PatternError, ShellPattern};
pub use reason::Reason;

/// Result of comparing a command with a [`ShellPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Yes` allows a command"]
pub enum ShellMatch {
    /// The command is one plain command that the pattern describes.
    Yes,
    /// The command is one plain command that the pattern does not describe.
    No,
    /// The command may do more than its words say. An allow list must take this as `No`, a deny list
    /// as `Yes`.
    Undecidable(Reason),
}

impl ShellMatch {
    /// Whether the command is allowed by a pattern of an allow list.
    ///
    /// ```
    /// # use tool_runtime_shell::ShellPattern;
    /// let pattern = ShellPattern::parse("npm run build")?;
    /// assert!(pattern.matches("npm run build").is_yes());
    /// assert!(!pattern.matches("npm run build && rm -r src").is_yes());
    /// # Ok::<(), tool_runtime_shell::PatternError>(())
    /// ```
    pub fn is_yes(&self) -> bool {
        *self == Self::Yes
    }
}

impl ShellPattern {
    /// Compares a command line of bash with the pattern.
    ///
    /// ```
    /// # use tool_runtime_shell::{ShellMatch, ShellPattern};
    /// let pattern = ShellPattern::parse("cargo test:*")?;
    /// assert_eq!(pattern.matches("cargo test --lib"), ShellMatch::Yes);
    /// assert_eq!(pattern.matches("cargo run"), ShellMatch::No);
    /// assert!(matches!(pattern.matches("cargo test | tee log"), ShellMatch::Undecidable(_)));
    /// # Ok::<(), tool_runtime_shell::PatternError>(())
    /// ```
    pub fn matches(&self, command: &str) -> ShellMatch {
        match parse::plain_command(command) {
            Err(reason) => ShellMatch::Undecidable(reason),
            Ok(words) => self.compare(&words),
        }
    }

    fn compare(&self, words: &[String]) -> ShellMatch {
        if self.program() != words[0] && wrappers::is_wrapper(&words[0]) {
            return ShellMatch::Undecidable(Reason::Wrapper(words[0].clone()));
        }
        if !self.describes(words) {
            return opaque::reason(self, words).map_or(ShellMatch::No, ShellMatch::Undecidable);
        }
        options::rejected(self, words).map_or(ShellMatch::Yes, ShellMatch::Undecidable)
    }
}
