//! Settings of a tool that exists already. Nothing changes once the tool was cloned.

use super::{Parts, Requirement, Tool};
use crate::tool::context::ToolContext;
use crate::vocabulary::matching::MatchedArgument;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

impl Tool {
    /// Changes a tool that has no clone.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            change(parts);
        }
        self
    }

    /// Sets the directory at which relative paths in `file:` keys of its calls begin, for tools whose files are
    /// somewhere else than in the current directory of the process. Without effect on a tool that is in a pool.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Read a file of the project.
    /// #[tool(reads("file:{path}"))]
    /// async fn read(
    ///     /// Path of the file.
    ///     path: String,
    /// ) -> String {
    ///     path
    /// }
    ///
    /// let tool = Tool::from_action::<ReadAction>().resolve_keys_in("/srv/project");
    /// let pool = ToolPool::builder().add(tool).build()?;
    /// # let _ = pool;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn resolve_keys_in(self, directory: impl Into<PathBuf>) -> Self {
        self.with(|parts| parts.directory = Some(directory.into().into()))
    }

    /// Declares that calls ask [`ToolContext::may_read`] about each file that they read, and leave out the others, as a
    /// search does. A condition of a policy about touched files then decides about each file, and not about the call. It
    /// counts for tools that only read. Without effect on a tool that is in a pool.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Count the notes.
    /// #[tool(read_only)]
    /// async fn count_notes(context: &ToolContext) -> usize {
    ///     let notes = ["notes/monday.md", "notes/secret.md"];
    ///     notes.into_iter().filter(|note| context.may_read(note)).count()
    /// }
    ///
    /// let tool = Tool::from_action::<CountNotesAction>().checks_files();
    /// let pool = ToolPool::builder().add(tool).build()?;
    /// # let _ = pool;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    pub fn checks_files(self) -> Self {
        self.with(|parts| parts.checks_files = true)
    }

    /// Sets the text that describes a call for people, for one that depends on more than the arguments, such as the file that
    /// a call replaces. `None` for the tool's own text. Nothing changes once the tool was cloned.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let clear = Tool::builder("clear", "Remove all notes.").handler(|| async { "removed" });
    /// let clear = clear.visualize_with(|_, _| Some("Remove 3 notes".to_owned()));
    /// assert_eq!(clear.visualize("{}"), "Remove 3 notes");
    /// ```
    #[must_use]
    pub fn visualize_with(
        self,
        visualize: impl Fn(&str, &ToolContext) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|parts| parts.visualize = Some(Box::new(visualize)))
    }

    /// Sets whether calls change nothing, for a tool of which this depends on the program. Nothing changes once the tool was
    /// cloned.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let check = Tool::builder("check", "Run the linter.").read_only(true).handler(|| async { "fine" });
    /// let check = check.with_read_only(false);
    /// assert!(!check.definition().annotations.is_read_only());
    /// ```
    #[must_use]
    pub fn with_read_only(self, hint: bool) -> Self {
        self.with(|parts| {
            Arc::make_mut(&mut parts.definition).annotations.read_only_hint = Some(hint);
        })
    }

    /// Adds what the tool needs beside its pool. A [missing](Requirement::missing) requirement hides the tool, and the
    /// pool's report shows all. Nothing changes once the tool was cloned.
    ///
    /// ```
    /// use tool_runtime::tool::Requirement;
    /// use tool_runtime::prelude::*;
    ///
    /// let fetch = Tool::builder("fetch", "Fetch commits.").handler(|| async { "fetched" });
    /// let fetch = fetch.requires([Requirement::met("git", "/usr/bin/git")]);
    /// assert_eq!(fetch.requirements()[0].to_string(), "needs `git`: /usr/bin/git");
    /// ```
    #[must_use]
    pub fn requires(self, requirements: impl IntoIterator<Item = Requirement>) -> Self {
        self.with(|parts| parts.requirements.extend(requirements))
    }

    /// Sets names by which models call the tool, besides its own. They are not advertised. A pool that repairs takes them
    /// for the tool unless another tool has the name.
    #[doc(hidden)]
    #[must_use]
    pub fn with_other_names(self, names: &'static [&'static str]) -> Self {
        self.with(|parts| parts.other_names = names)
    }

    /// Sets the argument that patterns are about.
    pub(crate) fn with_matched(self, matched: Option<MatchedArgument>) -> Self {
        self.with(|parts| parts.matched = matched.map(Box::new))
    }

    /// Sets the tool's own time limit.
    pub(crate) fn with_timeout(self, timeout: Option<Duration>) -> Self {
        self.with(|parts| parts.timeout = timeout)
    }
}
