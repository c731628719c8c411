//! A log in a file. One that does not exist is created by its first use: a program makes its log before it knows that
//! it was started for a command which only reads.

use crate::backend::{LogBackend, LogRead, PruneChain};
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::owner_files::folder;
use std::cell::OnceCell;
use std::path::Path;

/// Opens the file for writing, and creates it if it does not exist.
pub(crate) type Open = Box<dyn Fn() -> Result<Box<dyn LogBackend>, LogError> + Send>;

/// A log in a file.
pub(crate) struct FileLog {
    open: Open,
    log: OnceCell<Box<dyn LogBackend>>,
}

impl FileLog {
    /// Opens a file if it exists.
    ///
    /// # Errors
    /// It cannot be opened, or does not exist and its folder does not either.
    pub(crate) fn new(path: &Path, open: Open) -> Result<Self, LogError> {
        let exists = path.try_exists().map_err(|error| LogError::io(path, &error))?;
        if exists {
            return Ok(Self { log: open()?.into(), open });
        }
        let folder = folder(path);
        if !folder.is_dir() {
            let (path, folder) = (path.display(), folder.display());
            let text = format!("`{path}` cannot be created: create the folder `{folder}` first");
            return Err(LogError::new(LogErrorKind::Other, text));
        }
        Ok(Self { open, log: OnceCell::new() })
    }

    fn opened(&self) -> Result<&dyn LogBackend, LogError> {
        if let Some(log) = self.log.get() {
            return Ok(&**log);
        }
        let log = (self.open)()?;
        Ok(&**self.log.get_or_init(|| log))
    }

    fn writer(&mut self) -> Result<&mut dyn LogBackend, LogError> {
        self.opened()?;
        Ok(&mut **self.log.get_mut().expect("it is open"))
    }
}

impl LogBackend for FileLog {
    fn prepare(&mut self) -> Result<(), LogError> {
        self.opened().map(drop)
    }

    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        self.writer()?.append(chain)
    }

    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError> {
        self.writer()?.step(step)
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        self.opened()?.reader()
    }

    fn prune(&mut self, through: u64, chain: PruneChain<'_>) -> Result<(), LogError> {
        self.writer()?.prune(through, chain)
    }
}
