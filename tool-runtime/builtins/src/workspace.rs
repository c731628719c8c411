//! The directories that tools may touch, and what the families of tools share.

mod builder;
mod clock;
mod environment;
mod links;
mod names;
#[cfg(any(feature = "files", feature = "search", all(feature = "__processes", unix)))]
#[allow(dead_code, reason = "each family uses some of it")]
mod open;
#[allow(dead_code, reason = "each family uses some of it")]
mod protected;
#[cfg(all(feature = "__processes", unix))]
#[allow(dead_code, reason = "each family uses some of it")]
mod repository;
mod resolve;
#[allow(dead_code, reason = "each family uses some of it")]
mod root;

pub use builder::{WorkspaceBuilder, WorkspaceError};
pub use clock::{Clock, SystemClock};
#[allow(unused_imports, reason = "each family uses some of it")]
pub(crate) use names::rendered;
#[cfg(any(feature = "files", feature = "code", all(feature = "shell", unix)))]
pub(crate) use open::open_file;
#[cfg(feature = "files")]
pub(crate) use open::real_path;
pub(crate) use protected::Protected;
#[cfg(all(feature = "__processes", unix))]
pub(crate) use repository::Repository;
#[cfg(all(feature = "code", unix))]
pub(crate) use repository::read as read_small;
pub use resolve::Location;
pub use root::Root;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
#[cfg(feature = "files")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime::{ToolContext, ToolError};

/// Variables of an environment.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// The directories that tools may touch: one or more roots. Clones share everything.
///
/// A root is opened once, and tools reach files only through that handle. Neither `..` nor a symbolic link
/// leads out of a root, also while others change the directory. A link with an absolute target is followed if it leads
/// into its root.
///
/// One exception: searches read files with rules, such as `.gitignore`, by path. Those below the root are examined before,
/// those of the directories above it and the configuration of git are trusted.
///
/// ```
/// use tool_runtime_builtins::Workspace;
///
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
/// let location = workspace.resolve("src/lib.rs")?;
/// assert!(location.root().dir().is_file(location.path()));
///
/// let error = workspace.resolve("/etc/passwd").unwrap_err();
/// assert!(error.message().starts_with("`/etc/passwd` is outside the workspace"));
/// # Ok::<(), tool_runtime::ToolError>(())
/// ```
#[derive(Clone)]
pub struct Workspace(Arc<Shared>);

/// State that the clones of a workspace share.
struct Shared {
    /// Not empty. The first is the working directory.
    roots: Vec<Arc<Root>>,
    environment: Environment,
    withheld_variables: usize,
    #[cfg(all(feature = "__processes", unix))]
    confinement: Arc<crate::confine::Confinement>,
    clock: Arc<dyn Clock>,
    #[cfg(feature = "files")]
    unread_edits: bool,
    #[cfg(feature = "files")]
    partial_overwrites: bool,
    #[cfg(feature = "files")]
    files: crate::files::FileState,
}

impl Workspace {
    /// A workspace without roots, to which at least one is added.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// The roots. The first is the working directory of relative paths.
    pub fn roots(&self) -> &[Arc<Root>] {
        &self.0.roots
    }

    /// The environment of child processes.
    pub fn environment(&self) -> &Environment {
        &self.0.environment
    }

    /// The number of variables of this process that child processes do not get. See
    /// [`WorkspaceBuilder::environment`].
    pub fn withheld_variables(&self) -> usize {
        self.0.withheld_variables
    }

    /// What an operator may expect of the sandbox and it does not do, as a sentence to show at the start.
    #[cfg(all(feature = "__processes", unix))]
    pub fn sandbox_remark(&self) -> Option<String> {
        self.0.confinement.remark()
    }

    /// What confines child processes.
    #[cfg(all(feature = "__processes", unix))]
    pub(crate) fn confinement(&self) -> &Arc<crate::confine::Confinement> {
        &self.0.confinement
    }

    /// Protects more files or directories from now on, as [`WorkspaceBuilder::protect`] does.
    ///
    /// # Errors
    /// A path is relative, and there is no current directory.
    pub fn protect(&self, paths: impl IntoIterator<Item = PathBuf>) -> std::io::Result<()> {
        let absolute = paths.into_iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>()?;
        // The roots share it.
        if let Some(root) = self.0.roots.first() {
            root.protected().add(absolute);
        }
        Ok(())
    }

    /// The clock that tools use.
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    /// Whether files may be replaced and edited that were not read.
    #[cfg(feature = "files")]
    pub(crate) fn allows_unread_edits(&self) -> bool {
        self.0.unread_edits
    }

    /// Whether files may be replaced that were read in part.
    #[cfg(feature = "files")]
    pub(crate) fn allows_partial_overwrites(&self) -> bool {
        self.0.partial_overwrites || self.0.unread_edits
    }

    /// State of the tools for files.
    #[cfg(feature = "files")]
    pub(crate) fn file_state(&self) -> &crate::files::FileState {
        &self.0.files
    }

    /// The root and relative path that a path of a model means. A relative path starts at the first root. The file
    /// need not exist.
    ///
    /// Where a name does not exist, the only one that looks like it is meant: with letters composed in another way, other
    /// spaces or quotation marks. A name may be written as tools render it, with escapes such as `\n` and `\xff`.
    ///
    /// # Errors
    /// The path is empty or outside the roots, which the text names, or several names look like it.
    pub fn resolve(&self, path: &str) -> Result<Location, ToolError> {
        let location = resolve::resolve(self.roots(), path)?.with_existing_names()?;
        Ok(location.through_absolute_links())
    }

    /// The location of a path whose last name is meant exactly.
    #[cfg(feature = "files")]
    pub(crate) fn resolve_new(&self, path: &str) -> Result<Location, ToolError> {
        let location = self.resolve(path)?;
        match Path::new(path).file_name() {
            Some(name) => Ok(location.with_path(location.path().with_file_name(name))),
            None => Ok(location),
        }
    }

    /// The workspace that a pool has as state, for toolsets that a configuration creates.
    ///
    /// # Errors
    /// The pool has none.
    pub fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
        let missing = || ToolError::user("no workspace; write `.state(workspace)` on the pool");
        context.get::<Self>().cloned().ok_or_else(missing)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("roots", &self.0.roots).finish_non_exhaustive()
    }
}
