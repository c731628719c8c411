//! Tools that find files by name and by content.
//!
//! | Module | Topic |
//! |---|---|
//! | `target`, `walk`, `stop` | where a search begins, the files below it, its end before it is complete |
//! | `ignore_files` | files such as `.gitignore`, before they are read |
//! | `pattern` | regular expressions, globs and types of files, with their errors |
//! | `glob` | files by name |
//! | `grep`, `options`, `scan`, `line`, `grep_output` | files by content: the search, its options, one file, one line, the result |
//! | `newest` | the newest of many files |
//! | `found_line` | lines that match, for other tools |

#[cfg(all(feature = "code", unix))]
mod found_line;
mod glob;
mod grep;
mod grep_output;
mod ignore_files;
mod line;
mod newest;
mod options;
mod pattern;
mod scan;
mod stop;
mod target;
#[cfg(test)]
mod tests;
mod walk;

#[cfg(all(feature = "code", unix))]
pub(crate) use found_line::{FoundLine, find_lines};
pub use glob::GlobOutput;
pub use grep_output::{FileMatches, GrepOutput, OutputMode};
pub use line::Line;

use crate::builtins::{Builtins, Family, Profile};
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use glob::GlobQuery;
use grep::GrepQuery;
use options::{GrepOptions, MAX_LIMIT, split_globs};
use std::time::Duration;
use stop::Stop;
use tool_runtime::prelude::*;

/// Files that `Glob` lists at most, if the model does not say.
const GLOB_LIMIT: u32 = 500;
/// Files that the tools of OpenHands list.
const OPEN_HANDS_LIMIT: usize = 100;
/// Time after which a search returns what it has found.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Tools that find files by name and by content. See [`Builtins::search`](crate::Builtins::search).
pub struct Search {
    workspace: Workspace,
}

#[toolset(
    prefix = "",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    timeout = "60s",
    register = false
)]
impl Search {
    /// Find files by name, newest first. Hidden files and those that `.gitignore` excludes are skipped unless asked
    /// for. Use it instead of `find` and `ls`.
    #[tool(name = "Glob", tags("core"), progress)]
    fn glob(
        &self,
        /// Pattern of the path relative to `path`: `**/*.rs`, `src/*.{ts,tsx}`, `[a-c]?.txt`. Only `**` crosses
        /// directories. `!` in front finds all other files. Leading names that exist stand for themselves:
        /// `app/[slug]/*`; elsewhere a literal `[` is `[[]`.
        #[arg(length = 1..=4096)]
        pattern: String,
        /// Directory to search. Default: the working directory.
        #[arg(match_as = "path")]
        path: Option<String>,
        /// Whether hidden files are searched.
        #[arg(default)]
        hidden: bool,
        /// Whether files are searched that `.gitignore` excludes.
        #[arg(default)]
        no_ignore: bool,
        /// The most files to list.
        #[arg(default = GLOB_LIMIT, range = 1..=MAX_LIMIT)]
        limit: u32,
        context: &ToolContext,
    ) -> Result<ToolOutput<GlobOutput>, ToolError> {
        let limit = limit as usize;
        let path = path.as_deref();
        let query = GlobQuery { pattern: &pattern, path, hidden, no_ignore, limit };
        glob::glob(&self.workspace, &query, &Stop::after(TIME_LIMIT, context))
            .map(ToolOutput::from_display)
    }

    /// Search the content of files, as ripgrep does; files with the newest change come first. Binary and hidden files
    /// and those that `.gitignore` excludes are skipped unless asked for. Use it instead of `grep` and `rg`.
    #[tool(name = "Grep", tags("core"), progress)]
    fn grep(
        &self,
        /// Regular expression, in the syntax of ripgrep. Escape literal braces: `interface\{\}`.
        #[arg(length = 1..=10_000)]
        pattern: String,
        /// File or directory to search. Default: the working directory.
        #[arg(match_as = "path")]
        path: Option<String>,
        /// Whether lines are shown with their numbers.
        #[arg(default = true, alias("-n", "line_number"))]
        line_numbers: bool,
        #[arg(flatten)] options: GrepOptions,
        context: &ToolContext,
    ) -> Result<ToolOutput<GrepOutput>, ToolError> {
        let query = GrepQuery { line_numbers, ..options.query(&pattern, path.as_deref()) };
        self.search(&query, context)
    }

    /// Find files by name, newest first, at most 100.
    #[tool(name = "glob", tags("core"), progress)]
    fn open_hands_glob(
        &self,
        /// Pattern of the path relative to `path`, as `**/*.rs`.
        #[arg(length = 1..=4096)]
        pattern: String,
        /// Directory to search. Default: the working directory.
        #[arg(match_as = "path")]
        path: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<GlobOutput>, ToolError> {
        let path = path.as_deref();
        let query = GlobQuery {
            pattern: &pattern,
            path,
            hidden: false,
            no_ignore: false,
            limit: OPEN_HANDS_LIMIT,
        };
        glob::glob(&self.workspace, &query, &Stop::after(TIME_LIMIT, context))
            .map(ToolOutput::from_display)
    }

    /// Find files by content, newest first, at most 100. Case is ignored. Returns their paths.
    #[tool(name = "grep", tags("core"), progress)]
    fn open_hands_grep(
        &self,
        /// Regular expression.
        #[arg(length = 1..=10_000)]
        pattern: String,
        /// Directory to search. Default: the working directory.
        #[arg(match_as = "path")]
        path: Option<String>,
        /// Patterns of file names, separated by commas: `*.js`, `*.{ts,tsx}`.
        include: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<GrepOutput>, ToolError> {
        let query = GrepQuery {
            pattern: &pattern,
            path: path.as_deref(),
            globs: split_globs(include.as_deref().unwrap_or_default()),
            ignore_case: true,
            limit: OPEN_HANDS_LIMIT,
            ..GrepQuery::default()
        };
        self.search(&query, context)
    }

    fn search(
        &self,
        query: &GrepQuery<'_>,
        context: &ToolContext,
    ) -> Result<ToolOutput<GrepOutput>, ToolError> {
        let stop = Stop::after(TIME_LIMIT, context);
        grep::grep(&self.workspace, query, &stop).map(ToolOutput::from_display)
    }
}

impl Toolset for Search {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::from_context(context)?))
    }
}

impl Builtins {
    /// Adds the tools that find files by name and by content.
    pub fn search(self) -> Self {
        self.family_of_tools(|builtins| {
            builtins.tools(Ok(Search::over(builtins.workspace().clone())))
        })
    }

    /// Adds `ToolSearch`, by which a model finds tools of the pool and activates them. Give it to pools with
    /// more tools than a request to a model should list.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::search::ActiveTools;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let active = ActiveTools::new(["ToolSearch"])?;
    /// let builtins = Builtins::new(workspace).search().tool_search(&active);
    /// let pool = ToolPool::builder().install(builtins).build()?;
    /// assert_eq!(active.visible(&pool.snapshot()).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tool_search(self, active: &tool_runtime::search::ActiveTools) -> Self {
        let search = tool_runtime::search::ToolSearch::new().activating(active);
        self.family_of_tools(|builtins| {
            vec![search.name(builtins.named("ToolSearch")).tags(["core"]).into_tool()]
        })
    }
}

impl Search {
    pub(crate) fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Family for Search {
    const FILE_CHECKS: &[&str] = &["Glob", "Grep", "glob", "grep"];

    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["Glob", "Grep"],
            Profile::OpenHands => &["glob", "grep"],
        }
    }
}
