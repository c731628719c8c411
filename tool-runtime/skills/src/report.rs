//! Findings about skills.

use crate::skill::FILE;
use std::fmt;
use std::path::{Path, PathBuf};
use tool_runtime_core::pool::DeclarationStatus;
use tool_runtime_core::seam::escaped_name;
use tool_runtime_core::tool::Requirement;

/// The state of one skill's folder, with all findings. It prints one line for each.
///
/// ```
/// use tool_runtime::skills::{SkillLibrary, SkillStatus};
///
/// let library = SkillLibrary::load("no-such-folder");
/// let report = &library.report()[0];
/// assert_eq!(report.status, SkillStatus::Quarantined);
/// assert!(report.to_string().contains("no-such-folder: it cannot be read: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillReport {
    /// The file, or the folder if the problem is there.
    pub path: PathBuf,
    /// The name, if it is valid.
    pub name: Option<String>,
    /// The state.
    pub status: SkillStatus,
    /// The reasons for a quarantine.
    pub problems: Vec<SkillProblem>,
    /// Findings that do not keep the skill from being loaded.
    pub warnings: Vec<SkillProblem>,
    /// The declarations of tools that have no effect on the pool, with the reasons. Empty in
    /// [`SkillLibrary::report`](crate::SkillLibrary::report), which has no pool.
    pub declarations: Vec<DeclarationStatus>,
}

/// The state of a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillStatus {
    /// The skill can be used.
    Usable,
    /// The skill is left out, since it is invalid.
    Quarantined,
    /// The skill is left out, since an earlier folder has one of the same name.
    Shadowed {
        /// The file of the other skill.
        by: PathBuf,
    },
}

/// A finding about a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillProblem {
    /// The line in the file, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The problem and the remedy.
    pub text: String,
}

impl SkillReport {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            name: None,
            status: SkillStatus::Usable,
            problems: Vec::new(),
            warnings: Vec::new(),
            declarations: Vec::new(),
        }
    }

    /// A folder or file that cannot be used.
    pub(crate) fn quarantined(path: PathBuf, problem: SkillProblem) -> Self {
        let status = SkillStatus::Quarantined;
        Self { status, problems: vec![problem], ..Self::new(path) }
    }

    /// Whether a skill is left out that has this name, or whose folder has it.
    pub(crate) fn is_left_out(&self, name: &str) -> bool {
        let is_file = self.path.file_name().is_some_and(|file| file == FILE);
        let folder = if is_file { self.path.parent() } else { Some(&*self.path) };
        let folder = folder.and_then(|folder| folder.file_name());
        self.status == SkillStatus::Quarantined
            && (self.name.as_deref() == Some(name) || folder.is_some_and(|folder| folder == name))
    }

    /// The findings of a skill that is left out, as a requirement of the tool.
    pub(crate) fn requirement(&self) -> Option<Requirement> {
        let problem = self.problems.first()?;
        let path = rendered(&self.path);
        (self.status == SkillStatus::Quarantined)
            .then(|| Requirement::absent(path, problem.to_string()))
    }
}

impl SkillProblem {
    pub(crate) fn at(line: Option<usize>, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

impl fmt::Display for SkillProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line.map_or(Ok(()), |line| write!(f, "line {line}: "))?;
        f.write_str(&self.text)
    }
}

impl fmt::Display for SkillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = rendered(&self.path);
        let findings = self.problems.iter().chain(&self.warnings);
        for SkillProblem { line, text } in findings {
            match line {
                Some(line) => writeln!(f, "{path}:{line}: {text}")?,
                None => writeln!(f, "{path}: {text}")?,
            }
        }
        if let SkillStatus::Shadowed { by } = &self.status {
            let by = rendered(by);
            writeln!(f, "{path}: {by} has the same name and comes first")?;
        }
        self.declarations.iter().try_for_each(|status| writeln!(f, "{path}: {status}"))
    }
}

/// A path on one line, which controls no terminal.
fn rendered(path: &Path) -> String {
    escaped_name(&path.to_string_lossy()).into_owned()
}
