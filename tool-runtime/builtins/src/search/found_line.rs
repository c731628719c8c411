//! Lines that match, for other tools than `Grep`.

use super::grep::{self, GrepQuery};
use super::grep_output::OutputMode;
use super::stop::Stop;
use crate::workspace::Workspace;
use std::time::Duration;
use tool_runtime::{ToolContext, ToolError};

/// Lines that are found at most.
const MAX_LINES: usize = 1000;
/// Time after which a search returns what it has found.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A line that matches.
pub(crate) struct FoundLine {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// The lines that match a regular expression below a path, in files by ripgrep's rules, and what is missing.
///
/// # Errors
/// The path does not exist.
pub(crate) fn find_lines(
    workspace: &Workspace,
    pattern: &str,
    path: &str,
    globs: Vec<String>,
    context: &ToolContext,
) -> Result<(Vec<FoundLine>, Option<String>), ToolError> {
    let query = GrepQuery {
        pattern,
        path: Some(path),
        globs,
        mode: OutputMode::Content,
        limit: MAX_LINES,
        ..GrepQuery::default()
    };
    let output = grep::grep(workspace, &query, &Stop::after(TIME_LIMIT, context))?;
    let cut = output.truncated.then(|| "more lines match than are shown".to_owned());
    let notice = output.notice.or(cut);
    let lines = output.files.into_iter().flat_map(|file| {
        let path = file.path;
        file.lines.into_iter().map(move |line| {
            let number = usize::try_from(line.number).unwrap_or(usize::MAX);
            FoundLine { path: path.clone(), number, text: line.text }
        })
    });
    Ok((lines.collect(), notice))
}
