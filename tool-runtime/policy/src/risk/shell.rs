//! Judges shell commands by their structure.

use super::SecurityAnalyzer;
use crate::read::{PolicyError, PolicyProblem};
use tool_runtime_core::govern::{CallView, Risk};
use tool_runtime_shell::{Reason, ShellCommand, ShellMatch, ShellPattern, commands};

/// Judges the shell command in an argument by its structure.
///
/// | Command | Risk |
/// |---|---|
/// | harmless patterns describe each command of the line, as `tool_runtime::shell` splits it | low |
/// | simple commands, some of which no pattern describes | medium |
/// | everything else: substitutions, redirections to files, text that does not parse | unknown |
/// | contains a part that a dangerous pattern describes as a plain command | high |
///
/// Calls without the argument are of unknown risk.
///
/// ```
/// use tool_runtime::policy::ShellAnalyzer;
///
/// let shell = ShellAnalyzer::new("command", ["git status", "git log *", "ls *"], ["rm *"])?;
/// # let _ = shell;
/// # Ok::<(), tool_runtime::policy::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct ShellAnalyzer {
    argument: String,
    harmless: Vec<ShellPattern>,
    dangerous: Vec<ShellPattern>,
}

impl ShellAnalyzer {
    /// The argument, patterns of harmless commands, and patterns of dangerous ones.
    ///
    /// # Errors
    /// All patterns that are not valid.
    pub fn new(
        argument: impl Into<String>,
        harmless: impl IntoIterator<Item = &'static str>,
        dangerous: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, PolicyError> {
        let mut problems = Vec::new();
        let mut parse = |text: &'static str| {
            let parsed = ShellPattern::parse(text).map_err(|error| {
                problems.push(PolicyProblem {
                    file: None,
                    line: None,
                    key: text.to_owned(),
                    text: error.to_string(),
                    help: "correct the pattern".to_owned(),
                });
            });
            parsed.ok()
        };
        let harmless = harmless.into_iter().filter_map(&mut parse).collect();
        let dangerous = dangerous.into_iter().filter_map(parse).collect();
        match problems.is_empty() {
            true => Ok(Self { argument: argument.into(), harmless, dangerous }),
            false => Err(PolicyError::new(problems)),
        }
    }

    /// Whether a dangerous pattern describes a part, under whatever path of the program and with whatever words.
    fn is_dangerous(&self, part: &str) -> bool {
        self.dangerous.iter().any(|pattern| {
            let found = pattern.matches(part);
            let is_described = |reason: &Reason| {
                matches!(reason, Reason::Path(_) | Reason::Option { .. } | Reason::Operand { .. })
            };
            match found {
                ShellMatch::Yes => true,
                ShellMatch::No => false,
                ShellMatch::Undecidable(reason) => is_described(&reason),
            }
        })
    }

    fn risk(&self, command: &str) -> Risk {
        // Each part is compared alone: quoting may hide more, but never makes a part harmless.
        let mut parts =
            command.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}']).map(str::trim);
        if parts.any(|part| self.is_dangerous(part)) {
            return Risk::High;
        }
        match commands(command) {
            Err(_) => Risk::Unknown,
            Ok(commands) => self.risk_of_simple(&commands),
        }
    }

    fn risk_of_simple(&self, commands: &[ShellCommand<'_>]) -> Risk {
        let mut risk = Risk::Low;
        for command in commands.iter().filter(|command| !command.is_filter()) {
            let mut matches = self.harmless.iter().map(|pattern| pattern.matches(command.text()));
            let mut is_uncertain = false;
            let is_harmless = matches.any(|found| {
                is_uncertain |= matches!(found, ShellMatch::Undecidable(_));
                found.is_yes()
            });
            match is_harmless {
                true => {}
                false if is_uncertain => return Risk::Unknown,
                false => risk = Risk::Medium,
            }
        }
        risk
    }
}

impl SecurityAnalyzer for ShellAnalyzer {
    fn analyze(&self, call: &CallView<'_>) -> Risk {
        let command = call.argument(&self.argument).and_then(|value| value.as_str());
        command.map_or(Risk::Unknown, |command| self.risk(command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_judged_by_their_structure() {
        let shell =
            ShellAnalyzer::new("command", ["git status", "ls *"], ["rm *", "dd *"]).unwrap();
        for (command, expected) in [
            ("git status", Risk::Low),
            ("ls -la", Risk::Low),
            ("cargo test", Risk::Medium),
            ("ls | wc", Risk::Low),
            ("git status && ls 2>&1 | head", Risk::Low),
            ("git status && cargo test", Risk::Medium),
            ("git status | sh", Risk::Unknown),
            ("ls $(pwd)", Risk::Unknown),
            ("echo 'open", Risk::Unknown),
            ("rm -rf src", Risk::High),
            ("ls; rm -rf src", Risk::High),
            ("ls && (dd if=a of=b)", Risk::High),
            ("ls && /bin/rm -rf src", Risk::High),
            ("tar xf a --to-command=rm", Risk::Unknown),
            ("", Risk::Unknown),
        ] {
            assert_eq!(shell.risk(command), expected, "{command}");
        }
    }
}
