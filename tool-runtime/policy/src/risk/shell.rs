//! Judges shell commands by their structure.

use super::SecurityAnalyzer;
use crate::read::{PolicyError, PolicyProblem};
use tool_runtime_core::{CallView, Risk};
use tool_runtime_shell::{Reason, ShellMatch, ShellPattern};

/// Judges the shell command in an argument by its structure.
///
/// | Command | Risk |
/// |---|---|
/// | one plain command that a harmless pattern describes | low |
/// | one plain command that no pattern describes | medium |
/// | everything else: pipelines, substitutions, text that does not parse | unknown |
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

    /// Whether a dangerous pattern describes a part, under whatever path of the program.
    fn is_dangerous(&self, part: &str) -> bool {
        self.dangerous.iter().any(|pattern| {
            let found = pattern.matches(part);
            matches!(found, ShellMatch::Yes | ShellMatch::Undecidable(Reason::Path(_)))
        })
    }

    fn risk(&self, command: &str) -> Risk {
        let is = |patterns: &[ShellPattern], text: &str| {
            patterns.iter().any(|pattern| pattern.matches(text).is_yes())
        };
        // Each part is compared alone: quoting may hide more, but never makes a part harmless.
        let mut parts =
            command.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}']).map(str::trim);
        if parts.any(|part| self.is_dangerous(part)) {
            return Risk::High;
        }
        if is(&self.harmless, command) {
            return Risk::Low;
        }
        match ShellPattern::parse("true").map(|plain| plain.matches(command)) {
            Ok(ShellMatch::Undecidable(_)) | Err(_) => Risk::Unknown,
            Ok(_) => Risk::Medium,
        }
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
            ("ls | wc", Risk::Unknown),
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
