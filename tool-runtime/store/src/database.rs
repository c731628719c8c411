//! Opening databases, and transactions.

use crate::error::StoreError;
use crate::migration::{self, Migration};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The pause between two attempts to change the journal mode.
const PAUSE: Duration = Duration::from_millis(5);

/// Options for opening a database.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    busy_timeout: Duration,
    is_durable: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), is_durable: true }
    }
}

impl OpenOptions {
    /// Sets the time to wait for another process that writes. Default: 5 seconds.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets whether a commit survives the loss of power. Default: true. Without it a commit survives
    /// only the end of the process.
    #[must_use]
    pub fn durable(mut self, is_durable: bool) -> Self {
        self.is_durable = is_durable;
        self
    }
}

/// A connection to a database file in WAL mode.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens a file, creates it if it does not exist, and migrates it.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, or has a newer version.
    pub fn open(
        path: impl AsRef<Path>,
        migrations: &[Migration],
        options: &OpenOptions,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = connect(&path, flags, options)?;
        // Before anything is written, the journal mode included.
        migration::check(&connection, &path, migrations)?;
        write_ahead(&connection, options).map_err(|error| StoreError::from_path(&path, &error))?;
        migration::migrate(&mut connection, &path, migrations)?;
        Ok(Self { connection, path })
    }

    /// Opens an existing file for reading.
    ///
    /// # Errors
    /// The file does not exist, cannot be opened, is damaged, or has a newer version.
    pub fn open_read_only(
        path: impl AsRef<Path>,
        migrations: &[Migration],
        options: &OpenOptions,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(&path, flags, options)?;
        migration::check_current(&connection, &path, migrations)?;
        Ok(Self { connection, path })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs statements in one transaction, which takes the lock of the writer at its beginning. It is
    /// rolled back if `work` fails.
    ///
    /// # Errors
    /// The error of `work`, or the transaction cannot begin or be committed.
    pub fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |error: rusqlite::Error| StoreError::from_path(&self.path, &error);
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(failed)?;
        let result = work(&transaction)?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// Classifies an error of the connection.
    pub fn error(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::from_path(&self.path, error)
    }
}

fn connect(path: &Path, flags: OpenFlags, options: &OpenOptions) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::from_path(path, &error);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(options.busy_timeout).map_err(failed)?;
    Ok(connection)
}

/// Several that open a new file change its journal mode at once, for which SQLite itself does not wait.
fn switch_to_wal(connection: &Connection, limit: Duration) -> rusqlite::Result<String> {
    let start = Instant::now();
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        let code = mode.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
        if code != Some(ErrorCode::DatabaseBusy) || start.elapsed() >= limit {
            return mode;
        }
        std::thread::sleep(PAUSE);
    }
}

fn write_ahead(connection: &Connection, options: &OpenOptions) -> rusqlite::Result<()> {
    let mode = switch_to_wal(connection, options.busy_timeout)?;
    // File systems without shared memory have no WAL: SQLite keeps its journal then, which is safe too.
    if mode != "wal" && mode != "memory" {
        tracing::warn!(mode, "the file system does not support SQLite's write-ahead log");
    }
    let synchronous = if options.is_durable { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)
}
