//! Records and blobs in a SQLite file.

use super::RecordStore;
use super::memory::BLOB_TTL;
use crate::board::{BoardError, Swap};
use crate::message::millis;
use crate::names::StepKey;
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_store::rusqlite::{
    self, Connection, OptionalExtension as _, Row, Transaction, params,
};
use tool_runtime_store::{Database, Migration, OpenOptions, Store, StoreError, StoreFailure};

const MIGRATIONS: &[Migration] = &[Migration::new(
    1,
    "CREATE TABLE steps (
        queue TEXT NOT NULL, caller TEXT NOT NULL, step TEXT NOT NULL, revision INTEGER NOT NULL, record TEXT NOT NULL,
        expires INTEGER NOT NULL, PRIMARY KEY (queue, caller, step)
    );
    CREATE INDEX steps_expires ON steps (expires);
    CREATE TABLE blobs (
        sha256 TEXT NOT NULL PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL, expires INTEGER NOT NULL
    );
    CREATE INDEX blobs_expires ON blobs (expires);",
)];

/// The number of writes after which expired rows are removed.
const SWEEP: u64 = 128;

/// The most expired rows that are removed at once: more than are written meanwhile, and so few that others do not wait long.
const STEPS: i64 = 1024;
const BLOBS: i64 = 16;

/// Records and blobs in a SQLite file, which only its owner can read. A write is on the disk before it is answered.
///
/// Rows expire by the clock of the machine as it was when the process started.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    store: Store,
    writes: Arc<AtomicU64>,
    /// The reason why the last write failed.
    problem: Arc<Mutex<Option<String>>>,
}

impl SqliteStore {
    /// Opens a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, or is of a newer version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        create(path)?;
        sweep_all(&Database::open(path, MIGRATIONS, &OpenOptions::default())?)?;
        let store = Store::open(path, MIGRATIONS, OpenOptions::default())?;
        Ok(Self { store, writes: Arc::default(), problem: Arc::default() })
    }

    /// Removes expired rows now and then. Those that are not removed are not read either.
    fn count_write(&self) {
        if self.writes.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            drop(self.store.write(sweep));
        }
    }

    /// Runs a write. The hub logs when writes begin to fail, and when they succeed again.
    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, BoardError> {
        let written = self.store.write(write).await.map_err(unavailable);
        let now = written.as_ref().err().map(ToString::to_string);
        let mut problem = lock(&self.problem);
        match (&*problem, &now) {
            (None, Some(error)) => tracing::error!("{error}; callers and runners wait"),
            (Some(_), None) => tracing::error!("records can be written again"),
            _ => {}
        }
        *problem = now;
        drop(problem);
        self.count_write();
        written
    }

    /// Runs a query that may take a while.
    async fn read_aside<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, BoardError> {
        let store = self.store.clone();
        let read = tokio::task::spawn_blocking(move || store.read(query)).await;
        let read = read.map_err(|_| BoardError::Disconnected("the hub ends".to_owned()))?;
        read.map_err(unavailable)
    }
}

/// Creates a file only for its owner; so are its journals, since SQLite gives them the rights of the file.
fn create(path: &Path) -> Result<(), StoreError> {
    let mut options = File::options();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if path.exists() {
        return Ok(());
    }
    let reason = |error: std::io::Error| {
        StoreError::new(path, StoreFailure::CannotOpen, format!("cannot be created: {error}"))
    };
    options.open(path).map(drop).map_err(reason)
}

/// Milliseconds since 1970, by the clock of the machine when this process first asked. If that clock is set meanwhile, an
/// outcome must not expire that a call still waits for: the call would run again.
fn now() -> i64 {
    static START: LazyLock<(SystemTime, Instant)> =
        LazyLock::new(|| (SystemTime::now(), Instant::now()));
    let (time, start) = *START;
    let now = time.duration_since(UNIX_EPOCH).unwrap_or_default() + start.elapsed();
    0_i64.saturating_add_unsigned(millis(now))
}

fn after(duration: Duration) -> i64 {
    now().saturating_add_unsigned(millis(duration))
}

/// Removes some expired rows. Returns their number.
fn sweep(connection: &Transaction<'_>) -> rusqlite::Result<usize> {
    let mut removed = 0;
    for (table, most) in [("steps", STEPS), ("blobs", BLOBS)] {
        let expired = format!("SELECT rowid FROM {table} WHERE expires <= ?1 LIMIT ?2");
        let delete = format!("DELETE FROM {table} WHERE rowid IN ({expired})");
        removed += connection.prepare_cached(&delete)?.execute(params![now(), most])?;
    }
    Ok(removed)
}

/// Removes all expired rows, in transactions of a bounded size.
fn sweep_all(database: &Database) -> Result<(), StoreError> {
    let some =
        |transaction: &Transaction<'_>| sweep(transaction).map_err(|error| database.error(&error));
    while database.transaction(some)? > 0 {}
    Ok(())
}

/// A failure of the file may pass: a full disk, another process.
fn unavailable(error: StoreError) -> BoardError {
    BoardError::Disconnected(format!("the records cannot be used: {error}"))
}

/// A row of `steps`.
struct StepRow {
    revision: i64,
    record: String,
}

impl StepRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { revision: row.get(0)?, record: row.get(1)? })
    }

    /// The row of a step, unless it has expired.
    fn find(connection: &Connection, step: &StepKey) -> rusqlite::Result<Option<Self>> {
        let query = "SELECT revision, record FROM steps WHERE queue = ?1 AND caller = ?2 AND step = ?3 AND expires > ?4";
        let StepKey { queue, caller, step } = step;
        let key = params![queue.as_str(), caller.as_str(), step.as_str(), now()];
        connection.prepare_cached(query)?.query_row(key, Self::read).optional()
    }

    fn write(&self, connection: &Connection, step: &StepKey, expires: i64) -> rusqlite::Result<()> {
        let insert = "INSERT OR REPLACE INTO steps (queue, caller, step, revision, record, expires)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let (queue, caller, step) = (step.queue.as_str(), step.caller.as_str(), step.step.as_str());
        let row = params![queue, caller, step, self.revision, self.record, expires];
        connection.prepare_cached(insert)?.execute(row).map(drop)
    }

    fn revision(&self) -> Revision {
        Revision(u64::try_from(self.revision).unwrap_or_default())
    }

    fn revised(&self, step: &StepKey) -> Result<Revised, BoardError> {
        let record = serde_json::from_str(&self.record);
        let record = record.map_err(|error| {
            BoardError::Damaged(format!("the record of step {step} cannot be read: {error}"))
        })?;
        Ok(Revised { record, revision: self.revision() })
    }
}

/// A record to be written.
struct Write {
    step: StepKey,
    record: String,
    expected: Revision,
    expires: i64,
}

/// The result of a write.
enum Written {
    As(Revision),
    Conflict(Option<StepRow>),
}

impl Write {
    fn run(self, connection: &Connection) -> rusqlite::Result<Written> {
        let present = StepRow::find(connection, &self.step)?;
        let revision = present.as_ref().map_or(Revision::NONE, StepRow::revision);
        if revision != self.expected {
            return Ok(Written::Conflict(present));
        }
        let revision = present.as_ref().map_or(0, |row| row.revision) + 1;
        let row = StepRow { revision, record: self.record };
        row.write(connection, &self.step, self.expires)?;
        Ok(Written::As(row.revision()))
    }
}

/// Stores a blob, or keeps a stored one for longer.
fn put(connection: &Connection, blob: &BlobRef, bytes: &[u8]) -> rusqlite::Result<()> {
    let (sha256, expires) = (blob.sha256.as_str(), after(BLOB_TTL));
    let update = "UPDATE blobs SET expires = ?2 WHERE sha256 = ?1";
    if connection.prepare_cached(update)?.execute(params![sha256, expires])? > 0 {
        return Ok(());
    }
    let insert = "INSERT INTO blobs (sha256, size, bytes, expires) VALUES (?1, ?2, ?3, ?4)";
    let row = params![sha256, stored(blob.size), bytes, expires];
    connection.prepare_cached(insert)?.execute(row).map(drop)
}

/// SQLite has signed integers.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl RecordStore for SqliteStore {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move {
            let row = self.store.read(|connection| StepRow::find(connection, step));
            row.map_err(unavailable)?.map(|row| row.revised(step)).transpose()
        })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            let write = Write {
                step: step.clone(),
                record: serde_json::to_string(record).expect("records have keys of text"),
                expected,
                expires: after(keep),
            };
            let written = self.write(move |connection| write.run(connection)).await?;
            Ok(match written {
                Written::As(revision) => Swap::Written(revision),
                Written::Conflict(present) => {
                    Swap::Conflict(present.map(|row| row.revised(step)).transpose()?)
                }
            })
        })
    }

    fn put(&self, blob: BlobRef, bytes: Bytes) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async move { self.write(move |connection| put(connection, &blob, &bytes)).await })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            let query = "SELECT bytes FROM blobs WHERE sha256 = ?1 AND size = ?2 AND expires > ?3";
            let (sha256, size) = (blob.sha256.to_string(), stored(blob.size));
            let bytes = self.read_aside(move |connection| {
                let key = params![sha256, size, now()];
                connection.prepare_cached(query)?.query_row(key, |row| row.get(0)).optional()
            });
            let bytes: Option<Vec<u8>> = bytes.await?;
            bytes.map(Bytes::from).ok_or_else(|| BoardError::NoBlob(blob.sha256.to_string()))
        })
    }

    fn problem(&self) -> Option<String> {
        lock(&self.problem).clone()
    }
}

#[cfg(test)]
impl SqliteStore {
    /// Lets the file grow no more, as a full disk does, or grow again.
    pub(crate) async fn set_full(&self, is_full: bool) {
        let pages = if is_full { 1 } else { 1 << 20 };
        let limit = format!("PRAGMA max_page_count = {pages}");
        let limited = self.store.write(move |writer| writer.query_row(&limit, [], |_| Ok(())));
        limited.await.unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::State;
    use tool_runtime_core::tool::StepId;

    const LONG: Duration = Duration::from_secs(60);

    fn key(step: &str) -> StepKey {
        StepKey::new("web".parse().unwrap(), "pool1".parse().unwrap(), StepId::new(step))
    }

    fn suspended() -> Record {
        Record::new(1, State::Suspended)
    }

    fn rows(store: &SqliteStore, table: &str) -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        store.store.read(|reader| reader.query_row(&count, [], |row| row.get(0))).unwrap()
    }

    async fn alter(store: &SqliteStore, statement: &'static str) {
        store.store.write(move |writer| writer.execute_batch(statement)).await.unwrap();
    }

    #[tokio::test]
    async fn records_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hub.db");
        let store = SqliteStore::open(&path).unwrap();
        let record = suspended();
        store.swap(&key("a"), &record, Revision::NONE, LONG).await.unwrap();
        drop(store);
        let store = SqliteStore::open(&path).unwrap();
        let revised = Revised { record, revision: Revision(1) };
        assert_eq!(store.read(&key("a")).await, Ok(Some(revised)));
    }

    #[tokio::test]
    async fn expired_rows_are_not_read_and_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hub.db");
        let store = SqliteStore::open(&path).unwrap();
        let blob = BlobRef::from_bytes(b"x");
        store.put(blob.clone(), "x".into()).await.unwrap();
        store.swap(&key("a"), &suspended(), Revision::NONE, LONG).await.unwrap();
        alter(&store, "UPDATE steps SET expires = 1; UPDATE blobs SET expires = 1").await;
        assert_eq!(store.read(&key("a")).await.unwrap(), None);
        assert!(matches!(store.get(&blob).await, Err(BoardError::NoBlob(_))));
        assert_eq!((rows(&store, "steps"), rows(&store, "blobs")), (1, 1));
        for number in 0..SWEEP {
            let step = key(&number.to_string());
            store.swap(&step, &suspended(), Revision::NONE, LONG).await.unwrap();
        }
        alter(&store, "SELECT 1").await;
        assert_eq!((rows(&store, "steps"), rows(&store, "blobs")), (SWEEP.cast_signed(), 0));
        alter(&store, "UPDATE steps SET expires = 1").await;
        drop(store);
        assert_eq!(rows(&SqliteStore::open(&path).unwrap(), "steps"), 0);
    }

    #[tokio::test]
    async fn a_blob_that_is_put_again_is_kept_for_longer() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("hub.db")).unwrap();
        let blob = BlobRef::from_bytes(b"x");
        store.put(blob.clone(), "x".into()).await.unwrap();
        alter(&store, "UPDATE blobs SET expires = 1").await;
        store.put(blob.clone(), "x".into()).await.unwrap();
        assert_eq!(store.get(&blob).await.unwrap(), "x");
    }

    #[tokio::test]
    async fn a_record_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("hub.db")).unwrap();
        store.swap(&key("a"), &suspended(), Revision::NONE, LONG).await.unwrap();
        alter(&store, "UPDATE steps SET record = '{}'").await;
        let error = store.read(&key("a")).await.unwrap_err();
        assert!(
            error.to_string().starts_with("the record of step web/pool1/a cannot be read"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hub.db");
        drop(SqliteStore::open(&path).unwrap());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let error = SqliteStore::open(folder.path().join("none/hub.db")).unwrap_err();
        assert!(error.to_string().contains("none/hub.db`: cannot be created"), "{error}");
    }
}
