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
//! let ShellMatch::Undecidable(reason) = git.matches("git log > src/lib.rs") else { panic!() };
//! assert_eq!(reason.to_string(), "the command contains a redirection; run one plain command");
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
//! - A last word `*`, or `:*` at the end of the last word, matches any other words, or none.
//! - Any other `*` matches within one word. It may match `/`, but never a component `..`.
//! - The first word names a program, literally.
//! - Quotes make a part literal: `git commit -m 'a * b'`.
//!
//! # Lines
//!
//! A line is split into its simple commands at `&&`, `||`, `;`, `|` and line breaks. [`ShellMatch::Yes`] says that the
//! pattern describes each of them, [`ShellMatch::No`] that it describes none. [`commands`] splits a line for several
//! patterns: a list allows `git status && cargo test 2>&1 | head` if one of its patterns allows `git status` and one
//! `cargo test`. After a pipe, commands such as `head -20`, `grep error`, `sort -n` or `wc -l` that read no file and write
//! none need no pattern: they show a part of what the commands before them write.
//!
//! After its words, a command may have redirections that touch no file: `2>&1`, `> /dev/null`, `< /dev/null`, and
//! here-documents that the shell does not expand (`<<'END'`, or without quotes if the text has no `$`, backquote or
//! backslash).
//!
//! These are [`ShellMatch::Undecidable`]: other redirections, substitutions, background commands, assignments,
//! backslashes, braces, tildes, unquoted file name patterns, comments, keywords, control characters (a line break in
//! quotes is one), more than 32 commands, and everything that does not parse. So are
//!
//! - a program that runs another command (`env`, `sudo`, `xargs`, `bash`), unless the pattern begins with its name.
//!   `env *` then allows any command after `env`; `env git *` only those of git;
//! - a pipe or a here-document into a program that no table says to take its input as data: `curl .. | sh`;
//! - a builtin that changes what later commands of the line mean (`alias`, `read`, `set`), and a program by a relative
//!   path after `cd`.
//!
//! `cd` needs a pattern like every command; `cd *` lets the commands after it run in any directory.
//!
//! # Words that a wildcard takes
//!
//! `git -c core.pager=CMD log` is one plain command, and runs another one. So a wildcard takes only what is known to be
//! harmless. For common programs, a table lists the options and subcommands that run no other command, load no code and
//! write no file that another word does not name. `git *` allows `git log --oneline` and denies `git pull -s x`,
//! `git merge-index x` and an abbreviation such as `git log --onel`, because the table has none of them; `cargo *` denies
//! `cargo x`, which may be an alias or a program of its own. Arguments of scripts are free: those after `python x.py` and
//! after `npm test --`.
//!
//! For a program in no table, a wildcard takes only paths below the present directory, written with a slash or an
//! extension, besides `--help` and `--version`: `lint *` allows `lint src/a.rs`. Any other word may be a subcommand or a
//! command that the program runs.
//!
//! A pattern allows more by writing it out: `git -C * status`, `lint --fix *`, `frobnicate run all`. A refusal names the
//! word.
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
//! None of this is a sandbox: scripts in a repository, hooks, aliases and configuration files are not covered. The
//! environment, and aliases and functions of the shell, can also change a command's meaning. The list of what a deny list
//! recognises is one of known options: it stops mistakes; only a sandbox confines commands.

mod allowed;
mod line;
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

pub use line::{ShellCommand, commands};
pub use matcher::ShellMatcher;
pub use pattern::{PatternError, ShellPattern};
pub use reason::Reason;

/// Result of comparing a command with a [`ShellPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Yes` allows a command"]
pub enum ShellMatch {
    /// The pattern describes all commands of the line.
    Yes,
    /// The pattern describes no command of the line.
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
    /// Compares a line of bash with the pattern.
    ///
    /// ```
    /// # use tool_runtime_shell::{ShellMatch, ShellPattern};
    /// let pattern = ShellPattern::parse("cargo test:*")?;
    /// assert_eq!(pattern.matches("cargo test --lib"), ShellMatch::Yes);
    /// assert_eq!(pattern.matches("cargo run"), ShellMatch::No);
    /// assert!(matches!(pattern.matches("cargo test | sh"), ShellMatch::Undecidable(_)));
    /// # Ok::<(), tool_runtime_shell::PatternError>(())
    /// ```
    pub fn matches(&self, command: &str) -> ShellMatch {
        match commands(command) {
            Err(reason) => ShellMatch::Undecidable(reason),
            Ok(commands) => self.compare_all(&commands),
        }
    }

    /// A line of described commands and others is neither.
    fn compare_all(&self, commands: &[ShellCommand<'_>]) -> ShellMatch {
        let (mut is_described, mut other) = (false, None);
        for command in commands {
            match self.compare(&command.words) {
                ShellMatch::Yes => is_described = true,
                ShellMatch::No if command.is_filter() => {}
                ShellMatch::No => other = other.or(Some(command)),
                undecidable => return undecidable,
            }
        }
        match other {
            None => ShellMatch::Yes,
            Some(_) if !is_described => ShellMatch::No,
            Some(command) => ShellMatch::Undecidable(Reason::Mixed {
                pattern: self.to_string(),
                other: command.text().to_owned(),
            }),
        }
    }

    fn compare(&self, words: &[String]) -> ShellMatch {
        if self.program() != words[0] && wrappers::is_wrapper(&words[0]) {
            return ShellMatch::Undecidable(Reason::Wrapper(words[0].clone()));
        }
        if !self.describes(words) {
            return opaque::reason(self, words).map_or(ShellMatch::No, ShellMatch::Undecidable);
        }
        allowed::rejected(self, words).map_or(ShellMatch::Yes, ShellMatch::Undecidable)
    }
}
