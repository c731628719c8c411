//! Finds and reads the folders of skills.

use crate::folders::Folders;
use crate::front_matter::FrontMatter;
use crate::library::{Loaded, SkillLibrary};
use crate::read::Reader;
use crate::report::{SkillProblem, SkillReport, SkillStatus};
use crate::skill::{FILE, Skill};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "mcp-client")]
use tool_runtime_client::McpManagerBuilder;

/// Limit on the size of a file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;
/// Limit on the skills of a library.
const MAX_SKILLS: usize = 1_000;

/// Settings of a [`SkillLibrary`].
///
/// ```
/// use tool_runtime::skills::SkillLibrary;
///
/// let library = SkillLibrary::loader()
///     .root(".my-agent/skills")
///     .root("/usr/share/my-agent/skills")
///     .max_depth(2)
///     .load();
/// assert!(library.skills().is_empty());
/// ```
#[derive(Clone)]
#[must_use = "a loader does nothing until `load`"]
pub struct SkillLoader {
    roots: Vec<PathBuf>,
    pub(crate) max_depth: usize,
    pub(crate) max_listing: usize,
    #[cfg(feature = "mcp-client")]
    pub(crate) manager: Arc<dyn Fn() -> McpManagerBuilder + Send + Sync>,
}

impl Default for SkillLoader {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            max_depth: 4,
            max_listing: 15_000,
            #[cfg(feature = "mcp-client")]
            manager: Arc::new(tool_runtime_client::McpManager::builder),
        }
    }
}

impl SkillLoader {
    /// Adds a folder of skills, or the folder of one skill. Skills may be in folders of the folder, four levels deep;
    /// those whose names begin with `.` are passed over. Of two skills with one name, that of the root that
    /// was added first wins.
    ///
    /// Roots are trusted: loading a skill starts the programs of its MCP servers, with variables from
    /// the environment.
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.roots.push(folder.into());
        self
    }

    /// Sets how many skills that restrict tools or start servers are active together in one handle of
    /// a pool. Default: 4.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth.max(1);
        self
    }

    /// Limits the list of skills in the description of the tool, in characters. A longer list has
    /// shortened descriptions, then only names, then the first names and the number of the others.
    /// Default: 15000.
    pub fn max_listing(mut self, characters: usize) -> Self {
        self.max_listing = characters;
        self
    }

    /// Sets the managers that start the MCP servers of skills, each one server. Default:
    /// `McpManager::builder()`.
    #[cfg(feature = "mcp-client")]
    pub fn mcp_manager(
        mut self,
        manager: impl Fn() -> McpManagerBuilder + Send + Sync + 'static,
    ) -> Self {
        self.manager = Arc::new(manager);
        self
    }

    /// Reads all skills, instructions included. Invalid ones are left out and named in
    /// [`SkillLibrary::report`].
    pub fn load(self) -> SkillLibrary {
        SkillLibrary::new(self)
    }

    /// Reads all roots.
    pub(crate) fn read(&self) -> Loaded {
        let mut found = Loaded::default();
        for root in &self.roots {
            let root = std::path::absolute(root).unwrap_or_else(|_| root.clone());
            let folders = Folders::below(&root);
            folders.skills.iter().for_each(|folder| found.add_folder(folder, &root));
            for file in folders.misspelt {
                let text = format!("the file is not named `{FILE}`; rename it");
                let folder = file.parent().unwrap_or(&root).to_owned();
                found.add_problem(folder, SkillProblem::at(None, text));
            }
            for (folder, error) in folders.problems {
                let text = format!("it cannot be read: {error}");
                found.add_problem(folder, SkillProblem::at(None, text));
            }
        }
        found
    }
}

impl Loaded {
    fn add_folder(&mut self, folder: &Path, root: &Path) {
        let file = folder.join(FILE);
        if self.reports.len() >= MAX_SKILLS {
            let text = format!("it is left out: there are {MAX_SKILLS} skills before it");
            return self.add_problem(file, SkillProblem::at(None, text));
        }
        let (mut report, skill) = read_file(&file, folder);
        if let Some(skill) = skill {
            if let Some(first) = self.skills.get(skill.name()) {
                // One of an earlier root replaces it on purpose.
                if first.file().starts_with(root) {
                    let text = "another skill of the root has the same name and comes first; rename one of them";
                    report.warnings.push(SkillProblem::at(None, text));
                }
                report.status = SkillStatus::Shadowed { by: first.file() };
            } else {
                self.skills.insert(skill.name().to_owned(), Arc::new(skill));
            }
        }
        self.add(report);
    }

    fn add_problem(&mut self, path: PathBuf, problem: SkillProblem) {
        self.add(SkillReport::quarantined(path, problem));
    }

    fn add(&mut self, report: SkillReport) {
        let findings = report.to_string();
        let findings = findings.trim_end();
        match report.status {
            SkillStatus::Quarantined => tracing::warn!("a skill is left out: {findings}"),
            SkillStatus::Usable | SkillStatus::Shadowed { .. } if !report.warnings.is_empty() => {
                tracing::warn!("a skill: {findings}");
            }
            SkillStatus::Usable | SkillStatus::Shadowed { .. } => {}
        }
        self.reports.push(report);
    }
}

fn read_file(file: &Path, folder: &Path) -> (SkillReport, Option<Skill>) {
    let front = match read_text(file).and_then(|text| FrontMatter::parse(&text)) {
        Ok(front) => front,
        Err(problem) => return (SkillReport::quarantined(file.to_owned(), problem), None),
    };
    let (mut reader, mut report) = (Reader::new(&front), SkillReport::new(file.to_owned()));
    let skill = reader.skill(folder);
    report.name = reader.name.take();
    (report.problems, report.warnings) = (reader.problems, reader.warnings);
    if skill.is_none() {
        report.status = SkillStatus::Quarantined;
    }
    (report, skill)
}

fn read_text(file: &Path) -> Result<String, SkillProblem> {
    let read = || -> io::Result<Vec<u8>> {
        if !fs::metadata(file)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        File::open(file)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes =
        read().map_err(|error| SkillProblem::at(None, format!("it cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        let text = format!(
            "it is larger than {} KiB; move parts of it to files beside it",
            MAX_BYTES / 1024
        );
        return Err(SkillProblem::at(None, text));
    }
    let not_text = |_| SkillProblem::at(None, "its text is not UTF-8; save it as UTF-8");
    String::from_utf8(bytes).map_err(not_text)
}

impl fmt::Debug for SkillLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillLoader").field("roots", &self.roots).finish_non_exhaustive()
    }
}
