//! Conditions about the files that a call touches, as its tool declares them.

use crate::facts::Facts;
use crate::predicate::{Patterns, paths};
use crate::read::Fault;
use crate::truth::Truth;
use std::path::Path;
use tool_runtime_core::tool::{Access, Tool};

/// The scheme of the keys of files.
const FILE: &str = "file:";

/// A condition about the files that a call touches: by `reads` and `writes` of `#[tool]`,
/// or [`Access`]. It holds whatever the argument is that names the file: a path, a patch, the source of a move, a link.
///
/// It holds if all files match, and is uncertain if some do, if one is a directory that may contain such files, and if
/// the tool does not declare what it touches: a rule that denies denies then, and a rule that allows does not allow.
///
/// A tool that searches, as the built-in `Grep`, leaves out the files about which a rule is stricter than about the call
/// ([`Tool::checks_files`]): the rule does not count for the search itself.
///
/// ```
/// use tool_runtime::policy::{Policy, Rule, SampleCall, Touches};
/// use tool_runtime::govern::Effect;
///
/// let keys = Touches::new(["*.key", "/etc"]).writing();
/// let policy = Policy::builder()
///     .rule(Rule::deny("no-keys").touches(keys))
///     .rule(Rule::allow("rest"))
///     .build()?;
/// let decide = |file| policy.try_call(&SampleCall::new("Move").writes([file])).effect();
/// assert_eq!(decide("/work/server.key"), Effect::Deny);
/// assert_eq!(decide("/work/server.rs"), Effect::Allow);
/// # Ok::<(), tool_runtime::policy::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct Touches {
    paths: Vec<String>,
    purpose: Option<Purpose>,
    if_undeclared: Option<bool>,
}

/// What a call does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

/// A condition whose patterns are compiled.
#[derive(Debug)]
pub(crate) struct TouchedFiles {
    paths: Vec<String>,
    patterns: Patterns,
    /// The directories below which a file can match. `None`: it can match anywhere.
    directories: Vec<Option<String>>,
    purpose: Option<Purpose>,
    if_undeclared: Option<bool>,
}

impl Touches {
    /// Files or directories by their names, such as `*.key` or `.ssh`, anywhere, or by absolute paths or globs. A
    /// directory is everything below it.
    pub fn new<S: Into<String>>(paths: impl IntoIterator<Item = S>) -> Self {
        let paths = paths.into_iter().map(Into::into).collect();
        Self { paths, purpose: None, if_undeclared: None }
    }

    /// Only files that are read. Those that are written may be read as well. Default: all that are touched.
    #[must_use]
    pub fn reading(self) -> Self {
        self.for_purpose(Purpose::Read)
    }

    /// Only files that are written. A tool that is read-only by a trusted hint writes none. Default: all that are
    /// touched.
    #[must_use]
    pub fn writing(self) -> Self {
        self.for_purpose(Purpose::Write)
    }

    pub(crate) fn for_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = Some(purpose);
        self
    }

    /// Sets whether the condition holds for tools that do not declare what they touch. Default: it is uncertain.
    #[must_use]
    pub fn if_undeclared(mut self, holds: bool) -> Self {
        self.if_undeclared = Some(holds);
        self
    }

    pub(crate) fn compile(self) -> Result<TouchedFiles, Fault> {
        if self.paths.is_empty() {
            return Err(Fault::new("no file is named", "write a path, or remove the condition"));
        }
        let globs = self.paths.iter().map(|path| globs(path)).collect::<Result<Vec<_>, _>>()?;
        let globs = globs.concat();
        let directories = self.paths.iter().map(|path| directory(path)).collect();
        let patterns = paths(&globs, None)?;
        let Self { paths, purpose, if_undeclared } = self;
        Ok(TouchedFiles { paths, patterns, directories, purpose, if_undeclared })
    }
}

/// The globs of absolute paths. A name is looked for anywhere; one of a directory is everything below.
fn globs(path: &str) -> Result<Vec<String>, Fault> {
    match path {
        _ if Path::new(path).is_absolute() => Ok(with_all_below(path.to_owned())),
        _ if !path.contains('/') => Ok(with_all_below(format!("/**/{path}"))),
        _ if path.starts_with("**/") => Ok(with_all_below(format!("/{path}"))),
        _ => Err(Fault::new(
            format!("`{path}` is neither a name nor an absolute path"),
            "write `*.key` for a name anywhere, or `/work/keys`",
        )),
    }
}

fn with_all_below(glob: String) -> Vec<String> {
    let below = format!("{}/**", glob.trim_end_matches('/'));
    vec![glob, below]
}

/// The directory below which an absolute pattern can match.
fn directory(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let is_plain = |name: &&str| !name.contains(['*', '?', '[', '{']);
    Some(path.split('/').take_while(is_plain).collect::<Vec<_>>().join("/"))
}

impl TouchedFiles {
    pub(crate) fn truth(&self, facts: &Facts<'_>) -> Truth {
        match &facts.access {
            Some(access) => self.truth_of(access, facts.leaves_out_files()),
            // It asks about each file.
            None if facts.leaves_out_files() => self.if_undeclared.map_or(Truth::No, Truth::from),
            None if self.is_about_writing() && facts.annotations.is_read_only() => Truth::No,
            None => self.if_undeclared.map_or(Truth::Unknown, Truth::from),
        }
    }

    fn is_about_writing(&self) -> bool {
        self.purpose == Some(Purpose::Write)
    }

    fn truth_of(&self, access: &Access, leaves_out_files: bool) -> Truth {
        let mut files = self.files(access, leaves_out_files).map(|(_, truth)| truth).peekable();
        match files.peek() {
            None => Truth::No,
            Some(_) => Truth::same(files),
        }
    }

    /// The files with the purpose, and whether they are such files. A call that leaves out files does not read all of a
    /// directory.
    fn files<'a>(
        &'a self,
        access: &'a Access,
        leaves_out_files: bool,
    ) -> impl Iterator<Item = (&'a str, Truth)> {
        let is_directory = |path: &str| Path::new(path).is_dir();
        let is_of_directory =
            !leaves_out_files && paths_of(access).any(|(path, _)| is_directory(path));
        paths_of(access).filter_map(move |(path, purpose)| {
            let truth = match self.patterns.compared(path) {
                Truth::No if is_of_directory && self.may_be_below(path) => Truth::Unknown,
                truth => truth,
            };
            match (self.purpose, purpose) {
                (Some(Purpose::Write), Purpose::Read) => None,
                // What is written may be read, too: a rule that allows reading is not about it.
                (Some(Purpose::Read), Purpose::Write) if truth == Truth::Yes => {
                    Some((path, Truth::Unknown))
                }
                _ => Some((path, truth)),
            }
        })
    }

    /// Whether a file may match below the path, if it is a directory, or becomes one by a move.
    fn may_be_below(&self, path: &str) -> bool {
        let can_contain = |directory: &Option<String>| match directory {
            None => true,
            Some(directory) => {
                let (directory, path) = (Path::new(directory), Path::new(path));
                directory.starts_with(path) || path.starts_with(directory)
            }
        };
        self.directories.iter().any(can_contain)
    }

    pub(crate) fn describe(&self) -> String {
        let verb = match self.purpose {
            None => "touches",
            Some(Purpose::Read) => "reads",
            Some(Purpose::Write) => "writes",
        };
        format!("the call {verb} `{}`", self.paths.join("` or `"))
    }

    /// The reason why the condition cannot be evaluated, for a model.
    pub(crate) fn uncertainty(&self, facts: &Facts<'_>) -> String {
        let Some(access) = &facts.access else {
            return "the tool does not declare which files it touches".to_owned();
        };
        match self
            .files(access, facts.leaves_out_files())
            .find(|(_, truth)| *truth == Truth::Unknown)
        {
            Some((path, _)) if Path::new(path).is_dir() => {
                format!("`{path}` is a directory, which may contain such files; name a file")
            }
            Some((path, _)) if self.patterns.compared(path) == Truth::No => {
                format!("a directory with such files may come to `{path}`; name files")
            }
            Some((path, _)) if self.purpose == Some(Purpose::Read) => {
                format!("`{path}` is written, or such a file by another spelling")
            }
            Some((path, _)) => format!("`{path}` may be such a file by another spelling"),
            None => {
                "some of the files are such files; change the others by another call".to_owned()
            }
        }
    }

    /// Whether the condition is uncertain for each call of a tool.
    pub(crate) fn is_uncertain_for(&self, tool: &Tool) -> bool {
        let reads = || tool.definition().effective_annotations().is_read_only();
        let writes_nothing = self.is_about_writing() && reads();
        let leaves_out_files = tool.has_file_checks() && reads();
        let is_known = tool.declares_access() || writes_nothing || leaves_out_files;
        self.if_undeclared.is_none() && !is_known
    }
}

/// The paths of the files of an access, with what becomes of them.
fn paths_of(access: &Access) -> impl Iterator<Item = (&str, Purpose)> {
    let reads = access.reads().map(|key| (key, Purpose::Read));
    let keys = reads.chain(access.writes().map(|key| (key, Purpose::Write)));
    keys.filter_map(|(key, purpose)| Some((key.strip_prefix(FILE)?, purpose)))
}
