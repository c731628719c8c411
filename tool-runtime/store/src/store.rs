//! Handles of a database: commands for its writer, and readers.

use crate::database::{Database, OpenOptions};
use crate::error::StoreError;
use crate::migration::Migration;
use crate::writer::{Command, Writer};
use rusqlite::{Connection, Transaction};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The most connections that are kept for readers.
const MAX_IDLE_READERS: usize = 4;

/// A database with one writer thread. Cheap to clone. The thread ends with the last handle, after all
/// commands up to then.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    migrations: &'static [Migration],
    options: OpenOptions,
    writer: Writer,
    readers: Mutex<Vec<Database>>,
}

impl Store {
    /// Opens a file, creates it if it does not exist, migrates it, and starts its writer.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, or has a newer version.
    pub fn open(
        path: impl AsRef<Path>,
        migrations: &'static [Migration],
        options: OpenOptions,
    ) -> Result<Self, StoreError> {
        let database = Database::open(path, migrations, &options)?;
        let path = database.path().to_owned();
        let writer = Writer::start(database)?;
        Ok(Self(Arc::new(Inner { path, migrations, options, writer, readers: Mutex::default() })))
    }

    /// Runs a command on the writer's thread. Waiting commands share a transaction; one that fails is
    /// undone alone. The result arrives once the transaction is committed.
    ///
    /// The command runs also if the future is dropped.
    ///
    /// # Errors
    /// The command or the commit fails, or the store is closed.
    pub fn write<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        let (sender, receiver) = oneshot::channel();
        self.post(command, |result| drop(sender.send(result)));
        let path = self.0.path.clone();
        async move { receiver.await.unwrap_or_else(|_| Err(StoreError::closed(&path))) }
    }

    /// Like [`Self::write`], for callers that do not wait: `answer` gets the result on the thread of the writer.
    pub fn post<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        answer: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        self.0.writer.send(Command::new(command, answer));
    }

    /// Like [`Self::write`], for threads without `.await`, which it blocks.
    ///
    /// # Errors
    /// Those of [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = std::sync::mpsc::channel();
        self.post(command, move |result| drop(sender.send(result)));
        receiver.recv().unwrap_or_else(|_| Err(StoreError::closed(&self.0.path)))
    }

    /// Runs a query on the thread of the caller, with a connection that cannot write.
    ///
    /// # Errors
    /// The query fails, or no connection can be opened.
    pub fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let shared = &*self.0;
        let idle = shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Database::open_read_only(&shared.path, shared.migrations, &shared.options)?,
        };
        let result = query(reader.connection()).map_err(|error| reader.error(&error));
        let mut readers = shared.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MAX_IDLE_READERS {
            readers.push(reader);
        }
        result
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

#[cfg(test)]
mod tests;
