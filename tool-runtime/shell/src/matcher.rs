//! Shell patterns as a matcher of arguments.

use crate::{ShellCommand, ShellMatch, ShellPattern, commands};
use tool_runtime_core::vocabulary::matching::{
    ArgumentMatch, ArgumentMatcher, ArgumentPart, MatchAs, Matcher, PatternError,
};

/// Lets a pool enforce shell patterns such as `Bash(git *)` on the argument of a tool that is a command:
/// `#[arg(match_as = "shell")]`.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::DeclaredTools;
/// use tool_runtime::shell::ShellMatcher;
///
/// /// Run a command.
/// #[tool(name = "Bash")]
/// async fn bash(
///     /// The command.
///     #[arg(match_as = "shell")]
///     command: String,
/// ) -> String {
///     format!("ran {command}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<BashAction>().argument_matcher(ShellMatcher).build()?;
/// let _skill = pool.restrict_declared(&DeclaredTools::allow("Bash(git *)"));
/// let status = pool.call(ToolCall::new("Bash", r#"{"command": "git status"}"#)).await;
/// assert_eq!(status.observation().to_text(), "ran git status");
/// let more = pool.call(ToolCall::new("Bash", r#"{"command": "git status; id"}"#)).await;
/// assert_eq!(more.error().unwrap().class(), ErrorClass::Denied);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShellMatcher;

impl ArgumentMatcher for ShellMatcher {
    fn kind(&self) -> MatchAs {
        MatchAs::Shell
    }

    fn compile(&self, pattern: &str) -> Result<Box<dyn Matcher>, PatternError> {
        let compiled = ShellPattern::parse(pattern).map_err(|error| PatternError::Argument {
            kind: MatchAs::Shell,
            pattern: pattern.to_owned(),
            reason: error.problem().to_owned(),
        })?;
        Ok(Box::new(compiled))
    }
}

impl Matcher for ShellPattern {
    fn matches(&self, command: &str) -> ArgumentMatch {
        match Self::matches(self, command) {
            ShellMatch::Yes => ArgumentMatch::Yes,
            ShellMatch::No => ArgumentMatch::No,
            ShellMatch::Undecidable(reason) => ArgumentMatch::Undecidable(reason.to_string()),
        }
    }

    fn parts<'t>(&self, line: &'t str) -> Vec<ArgumentPart<'t>> {
        match commands(line) {
            Ok(commands) => commands.iter().map(ShellCommand::part).collect(),
            // `matches` has the reason.
            Err(_) => vec![ArgumentPart { text: line, is_harmless: false }],
        }
    }
}

impl<'t> ShellCommand<'t> {
    fn part(&self) -> ArgumentPart<'t> {
        ArgumentPart { text: self.text(), is_harmless: self.is_filter() }
    }
}
