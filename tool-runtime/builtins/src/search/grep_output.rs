//! The result of a search by content.

use super::glob::join;
use super::grep::{Failed, GrepQuery};
use super::line::Line;
use super::pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tool_runtime::__seam::escaped_text;

/// The result of a search by content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Paths of files.
    #[default]
    FilesWithMatches,
    /// Matching lines, with their numbers.
    Content,
    /// The number of matching lines of each file.
    Count,
}

/// Files whose content matches, newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct GrepOutput {
    /// The files, newest first, as far as the limits allow.
    pub files: Vec<FileMatches>,
    /// Number of files that match, with those that are not listed.
    pub total_files: u64,
    /// Number of matching lines in them; of matches with `multiline`. Absent for `files_with_matches`, which
    /// does not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<u64>,
    /// Whether less is listed than was found.
    pub truncated: bool,
    /// Remarks on the search: what was cut and how to see the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Whether groups of lines are separated.
    #[serde(skip)]
    pub(super) has_context: bool,
    /// Whether lines are rendered without their numbers.
    #[serde(skip)]
    pub(super) hides_numbers: bool,
}

/// The matches of one file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMatches {
    /// The path as other tools take it.
    pub path: String,
    /// Matching lines of the file; matches with `multiline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Matching lines and their context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub lines: Vec<Line>,
}

impl GrepOutput {
    pub(super) fn listing(files: Vec<FileMatches>) -> Self {
        Self { files, ..Self::default() }
    }

    pub(super) fn set_totals(&mut self, files: u64, matches: u64, mode: OutputMode) {
        self.total_files = files;
        self.total_matches = (mode != OutputMode::FilesWithMatches).then_some(matches);
    }

    /// Adds a remark.
    pub(super) fn note(&mut self, notice: &str) {
        let notices: Vec<_> = self.notice.take().into_iter().chain([notice.to_owned()]).collect();
        self.notice = join(&notices);
    }

    /// States what was cut and how to see the rest.
    pub(super) fn explain(&mut self, query: &GrepQuery<'_>, failed: Failed, is_late: bool) {
        let count = self.listed_count(query.mode);
        let next = query.offset + count;
        let mut notices = Vec::from_iter(self.notice.take());
        if query.mode != OutputMode::Content {
            self.truncated = (next as u64) < self.total_files;
        }
        if self.truncated {
            notices.push(format!(
                "{count} {} shown of {}; `offset: {next}` shows more, or narrow the search by `path`, `glob` or `type`",
                if query.mode == OutputMode::Content { "lines are" } else { "files are" },
                self.totals(),
            ));
        } else if self.total_files == 0 {
            notices.extend((!failed.is_all).then(|| no_match(query)));
        } else if count == 0 && notices.is_empty() && !is_late {
            notices.push(format!("`offset` is past the end of {}", self.totals()));
        }
        notices.extend(failed.example.map(|(path, reason)| match failed.count {
            1 => format!("`{path}` could not be searched: {reason}"),
            count => format!("{count} files could not be searched, as `{path}`: {reason}"),
        }));
        if is_late {
            self.truncated = true;
            notices
                .push("the time was up before all files were searched; narrow `path`".to_owned());
        }
        self.notice = join(&notices);
    }

    /// The number of entries that the limit counts.
    fn listed_count(&self, mode: OutputMode) -> usize {
        match mode {
            OutputMode::Content => self.files.iter().map(|file| file.lines.len()).sum(),
            _ => self.files.len(),
        }
    }

    fn totals(&self) -> String {
        match self.total_matches {
            Some(matches) => format!("{matches} matches in {} files", self.total_files),
            None => format!("{} files", self.total_files),
        }
    }
}

fn no_match(query: &GrepQuery<'_>) -> String {
    let mut advice = vec!["no match"];
    if !query.ignore_case {
        advice.push("`-i` ignores case");
    }
    advice.extend(query.globs.iter().find_map(|glob| pattern::bracket_advice(glob)));
    if !query.hidden {
        advice.push("`hidden` adds hidden files");
    }
    if !query.no_ignore {
        advice.push("`no_ignore` adds those that `.gitignore` excludes");
    }
    advice.join("; ")
}

impl fmt::Display for GrepOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for file in &self.files {
            file.print(self, &mut lines);
        }
        lines.extend(self.notice.iter().map(|notice| format!("[{notice}]")));
        f.write_str(&lines.join("\n"))
    }
}

impl FileMatches {
    /// Lines as ripgrep prints them: `path:12:match`, `path-13-context`, `--` between groups.
    fn print(&self, output: &GrepOutput, lines: &mut Vec<String>) {
        let path = &self.path;
        if self.lines.is_empty() {
            lines.push(self.count.map_or_else(|| path.clone(), |count| format!("{path}:{count}")));
        }
        let mut last = None;
        for Line { number, text, is_match } in &self.lines {
            if output.has_context && !lines.is_empty() && last != number.checked_sub(1) {
                lines.push("--".to_owned());
            }
            let (mark, text) = (if *is_match { ':' } else { '-' }, escaped_text(text));
            lines.push(match output.hides_numbers {
                false => format!("{path}{mark}{number}{mark}{text}"),
                true => format!("{path}{mark}{text}"),
            });
            last = Some(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_not_reached_in_time_are_not_past_the_end() {
        let query = GrepQuery { mode: OutputMode::Content, ..GrepQuery::default() };
        let mut output = GrepOutput::default();
        output.set_totals(1, 2, OutputMode::Content);
        output.explain(&query, Failed::default(), true);
        let expected = "the time was up before all files were searched; narrow `path`";
        assert_eq!((output.notice.as_deref(), output.truncated), (Some(expected), true));
    }
}
