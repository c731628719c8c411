//! The file of tasks and teams.

use super::alive::Alive;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tool_runtime::{ToolContext, ToolError};
use tool_runtime_store::rusqlite::{self, Connection, OptionalExtension as _, Transaction, params};
use tool_runtime_store::{Migration, OpenOptions, Store, StoreError};

const MIGRATIONS: &[Migration] = &[Migration::new(
    1,
    "CREATE TABLE numbers (principal TEXT NOT NULL, kind TEXT NOT NULL, last INTEGER NOT NULL,
         PRIMARY KEY (principal, kind)) WITHOUT ROWID;
     CREATE TABLE tasks (principal TEXT NOT NULL, number INTEGER NOT NULL, subject TEXT NOT NULL,
         description TEXT NOT NULL, owner TEXT, status TEXT NOT NULL, output TEXT, reason TEXT, agent TEXT,
         runner TEXT, stop TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL,
         PRIMARY KEY (principal, number));
     CREATE INDEX running ON tasks (runner) WHERE status = 'in_progress' AND runner IS NOT NULL;
     CREATE TABLE teams (principal TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
         description TEXT NOT NULL, created INTEGER NOT NULL,
         PRIMARY KEY (principal, number), UNIQUE (principal, name));
     CREATE TABLE members (principal TEXT NOT NULL, team INTEGER NOT NULL, name TEXT NOT NULL,
         position INTEGER NOT NULL, PRIMARY KEY (principal, team, name));
     CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, principal TEXT NOT NULL,
         team INTEGER NOT NULL, recipient TEXT NOT NULL, sender TEXT NOT NULL, text TEXT NOT NULL,
         sent INTEGER NOT NULL);
     CREATE INDEX unread ON messages (principal, team, recipient);",
)];

/// A file of tasks and teams, which several processes may open at once. Clones share it.
///
/// Next to it are `FILE-wal` and `FILE-shm` of SQLite, and a directory `FILE.runners` with an empty file for each
/// process that has it open. At most 1000 tasks of a principal are kept: the oldest that have ended make room.
#[derive(Clone)]
pub struct TaskStore(Arc<Inner>);

struct Inner {
    store: Store,
    alive: Alive,
}

/// The file cannot be used.
#[derive(thiserror::Error)]
#[error("the tasks cannot be stored: {0}")]
pub struct TaskStoreError(#[source] Box<dyn std::error::Error + Send + Sync>);

tool_runtime::__private::debug_as_message!(TaskStoreError);

impl TaskStore {
    /// Opens a file, which is created if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, or was written by a newer version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TaskStoreError> {
        let store = Store::open(path.as_ref(), MIGRATIONS, OpenOptions::default())
            .map_err(|error| TaskStoreError(error.into()))?;
        let mut runners = PathBuf::from(path.as_ref()).into_os_string();
        runners.push(".runners");
        let alive =
            Alive::new(Path::new(&runners)).map_err(|error| TaskStoreError(error.into()))?;
        Ok(Self(Arc::new(Inner { store, alive })))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.0.store.path()
    }

    /// The store that a pool has as state, for toolsets that a configuration creates.
    ///
    /// # Errors
    /// The pool has none.
    pub fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
        let missing = || ToolError::user("no store of tasks; write `.state(store)` on the pool");
        context.get::<Self>().cloned().ok_or_else(missing)
    }

    /// The processes that have the file open.
    pub(super) fn alive(&self) -> &Alive {
        &self.0.alive
    }

    /// Runs statements in one transaction. An inner error must precede all changes.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Step<T> + Send + 'static,
    ) -> Result<T, ToolError> {
        self.0.store.write(work).await.map_err(failed)?
    }

    /// Runs a query.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ToolError> {
        self.0.store.read(query).map_err(failed)
    }
}

/// The result of statements: a failure of SQLite, or an error for the model.
pub(super) type Step<T> = rusqlite::Result<Result<T, ToolError>>;

fn failed(error: StoreError) -> ToolError {
    ToolError::transient("the file of tasks cannot be used now; try again").with_source(error)
}

/// The next number of a kind, beginning with 1.
pub(super) fn next_number(
    transaction: &Transaction<'_>,
    principal: &str,
    kind: &str,
) -> rusqlite::Result<i64> {
    transaction.query_row(
        "INSERT INTO numbers VALUES (?1, ?2, 1)
         ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last",
        params![principal, kind],
        |row| row.get(0),
    )
}

/// The last number of a kind that was given.
pub(super) fn last_number(
    connection: &Connection,
    principal: &str,
    kind: &str,
) -> rusqlite::Result<i64> {
    let query = "SELECT last FROM numbers WHERE principal = ?1 AND kind = ?2";
    let last =
        connection.query_row(query, params![principal, kind], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or_default())
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Debug for TaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskStore").field(&self.path()).finish()
    }
}
