//! A log in a file. One that does not exist is created by its first use: a program makes its log before it knows that
//! it was started for a command which only reads.

use crate::backend::{LogBackend, LogRead, PruneChain};
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::open_file::OpenFile;
use crate::owner_files::folder;
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

/// Opens the file for writing, and creates it if it does not exist.
pub(crate) type Open = Box<dyn Fn() -> Result<Box<dyn LogBackend>, LogError> + Send>;

/// A log in a file.
pub(crate) struct FileLog {
    open: Open,
    log: OnceCell<Box<dyn LogBackend>>,
    file: Arc<OpenFile>,
}

impl FileLog {
    /// Opens a file if it exists.
    ///
    /// # Errors
    /// It cannot be opened, or does not exist and its folder does not either.
    pub(crate) fn new(path: &Path, open: Open) -> Result<Self, LogError> {
        let log = Self { open, log: OnceCell::new(), file: Arc::new(OpenFile::new(path)?) };
        if path.try_exists().map_err(|error| LogError::io(path, &error))? {
            log.opened()?;
            return Ok(log);
        }
        let folder = folder(path);
        if !folder.is_dir() {
            let (path, folder) = (path.display(), folder.display());
            let text = format!("`{path}` cannot be created: create the folder `{folder}` first");
            return Err(LogError::new(LogErrorKind::Other, text));
        }
        Ok(log)
    }

    /// The file, for those who ask about the log without its thread.
    pub(crate) fn file(&self) -> Arc<OpenFile> {
        Arc::clone(&self.file)
    }

    fn opened(&self) -> Result<&dyn LogBackend, LogError> {
        if let Some(log) = self.log.get() {
            return Ok(&**log);
        }
        let log = (self.open)()?;
        self.file.note()?;
        Ok(&**self.log.get_or_init(|| log))
    }

    /// The log, whose file can be found by those who read it.
    fn writer(&mut self) -> Result<&mut dyn LogBackend, LogError> {
        self.opened()?;
        self.file.check()?;
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
