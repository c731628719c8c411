//! Finds the folders of skills below a root.

use crate::skill::FILE;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Limit on the entries that are looked at below a root.
const MAX_ENTRIES: usize = 10_000;
/// Limit on the levels of folders below a root.
const MAX_LEVELS: usize = 4;

/// The folders below a root.
#[derive(Default)]
pub(crate) struct Folders {
    /// Those with a file `SKILL.md`, sorted by path: the root itself, or folders of it. Folders inside skills are parts
    /// of them.
    pub(crate) skills: Vec<PathBuf>,
    /// Files named like `skill.md`.
    pub(crate) misspelt: Vec<PathBuf>,
    /// Those that cannot be read, with the reasons.
    pub(crate) problems: Vec<(PathBuf, io::Error)>,
    entries: usize,
}

impl Folders {
    pub(crate) fn below(root: &Path) -> Self {
        let mut found = Self::default();
        found.visit(root, 0);
        found
    }

    fn visit(&mut self, folder: &Path, level: usize) {
        if folder.join(FILE).exists() {
            return self.skills.push(folder.to_owned());
        }
        match self.subfolders(folder) {
            Ok(_) if self.misspelt.last().is_some_and(|file| file.parent() == Some(folder)) => {}
            Ok(_) if level == MAX_LEVELS => {}
            Ok(folders) => folders.iter().for_each(|folder| self.visit(folder, level + 1)),
            Err(error) => self.problems.push((folder.to_owned(), error)),
        }
    }

    /// The folders in a folder, sorted by name. Hidden ones and packages of npm are not those of skills.
    fn subfolders(&mut self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut folders = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                let text = format!("there are more than {MAX_ENTRIES} entries below the root");
                return Err(io::Error::other(text));
            }
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(FILE) {
                self.misspelt.push(entry.path());
            }
            let is_other = name.as_encoded_bytes().starts_with(b".") || name == "node_modules";
            if !is_other {
                folders.insert(name, entry.path());
            }
        }
        Ok(folders.into_values().filter(|path| path.is_dir()).collect())
    }
}
