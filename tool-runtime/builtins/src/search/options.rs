//! The options of `Grep`.

use super::grep::GrepQuery;
use super::grep_output::OutputMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entries that `Grep` lists, if the model does not say.
const DEFAULT_LIMIT: u32 = 250;
/// Entries that one call lists at most.
pub(super) const MAX_LIMIT: u32 = 10_000;

/// Which files `Grep` searches, and what it returns.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct GrepOptions {
    /// Patterns of file names, separated by commas: `*.js`, `*.{ts,tsx}`, `!tests/**`. Leading names that
    /// exist stand for themselves: `app/[slug]/*`; elsewhere a literal `[` is `[[]`.
    glob: Option<String>,
    /// Type of files: `rust`, `py`, `js`, `go`.
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// Paths of files, matching lines, or the number of matching lines of each file.
    output_mode: OutputMode,
    /// Whether case is ignored.
    #[serde(rename = "-i")]
    ignore_case: bool,
    /// Lines to show after each match; needs `output_mode: content`.
    #[serde(rename = "-A")]
    #[schemars(range(max = 1000))]
    after: Option<u32>,
    /// Lines to show before each match; needs `output_mode: content`.
    #[serde(rename = "-B")]
    #[schemars(range(max = 1000))]
    before: Option<u32>,
    /// Lines to show before and after each match; needs `output_mode: content`.
    #[serde(rename = "-C")]
    #[schemars(range(max = 1000))]
    around: Option<u32>,
    /// Whether a match may span lines; `.` then matches line ends, too.
    multiline: bool,
    /// Whether hidden files are searched.
    hidden: bool,
    /// Whether files are searched that `.gitignore` excludes.
    no_ignore: bool,
    /// The most lines or files to list; 0 for as many as possible.
    #[schemars(range(max = MAX_LIMIT))]
    head_limit: u32,
    /// Lines or files to skip, to see the rest of a search that was cut.
    offset: u32,
}

impl Default for GrepOptions {
    fn default() -> Self {
        Self {
            glob: None,
            file_type: None,
            output_mode: OutputMode::FilesWithMatches,
            ignore_case: false,
            after: None,
            before: None,
            around: None,
            multiline: false,
            hidden: false,
            no_ignore: false,
            head_limit: DEFAULT_LIMIT,
            offset: 0,
        }
    }
}

impl GrepOptions {
    /// The search for a pattern.
    pub(super) fn query<'a>(&'a self, pattern: &'a str, path: Option<&'a str>) -> GrepQuery<'a> {
        let lines = |own: Option<u32>| own.or(self.around).unwrap_or_default() as usize;
        let limit = if self.head_limit == 0 { MAX_LIMIT } else { self.head_limit };
        GrepQuery {
            pattern,
            path,
            globs: split_globs(self.glob.as_deref().unwrap_or_default()),
            file_type: self.file_type.as_deref(),
            mode: self.output_mode,
            ignore_case: self.ignore_case,
            multiline: self.multiline,
            before: lines(self.before),
            after: lines(self.after),
            line_numbers: true,
            hidden: self.hidden,
            no_ignore: self.no_ignore,
            offset: self.offset as usize,
            limit: limit as usize,
        }
    }
}

/// Patterns between commas that are not inside braces.
pub(super) fn split_globs(globs: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = globs.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|glob| !glob.is_empty()).map(str::to_owned).collect()
}
