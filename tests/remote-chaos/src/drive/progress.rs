//! How many calls were answered so far.

use crate::Failure;
use crate::files::{self, Line};
use crate::network::CALLERS;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The outcomes of all callers.
pub(super) struct Progress([Outcomes; CALLERS.len()]);

/// The file of a caller.
struct Outcomes {
    path: PathBuf,
    /// The bytes that were read.
    read: u64,
    /// The calls that are there.
    answered: HashSet<usize>,
}

impl Progress {
    pub(super) fn new(folder: &Path) -> Self {
        let path = |caller| files::outcomes(folder, caller);
        let outcomes = |caller| Outcomes { path: path(caller), read: 0, answered: HashSet::new() };
        Self(CALLERS.map(outcomes))
    }

    /// Reads what is new. Returns the number of calls that were answered, each counted once.
    pub(super) fn answered(&mut self) -> Result<usize, Failure> {
        self.0.iter_mut().try_for_each(Outcomes::read_on)?;
        Ok(self.0.iter().map(|outcomes| outcomes.answered.len()).sum())
    }
}

impl Outcomes {
    fn read_on(&mut self) -> Result<(), Failure> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let (mut file, mut line) = (BufReader::new(file), String::new());
        file.seek(SeekFrom::Start(self.read))?;
        while file.read_line(&mut line)? > 0 && line.ends_with('\n') {
            if let Line::Outcome(outcome) = serde_json::from_str(&line)? {
                self.answered.insert(outcome.call);
            }
            self.read += line.len() as u64;
            line.clear();
        }
        Ok(())
    }
}
