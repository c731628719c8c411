//! A log in a SQLite file. Several processes may write to it.

use crate::backend::{LogBackend, LogRead, PruneChain};
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::owner_files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tool_runtime_core::seam::lock;
use tool_runtime_store::rusqlite::{self, Connection, OptionalExtension as _, Row, params};
use tool_runtime_store::{Database, Migration, OpenOptions};

/// `run` and `step` repeat members of the text, for the indexes. Records that get members get a migration without
/// statements: an older program, which refuses such records, then refuses the file.
const MIGRATIONS: &[Migration] = &[
    Migration::new(
        1,
        "CREATE TABLE records (
        seq INTEGER PRIMARY KEY, hash TEXT NOT NULL, text TEXT NOT NULL, run TEXT, step TEXT
    );
    CREATE INDEX records_run ON records (run) WHERE run IS NOT NULL;
    CREATE INDEX records_step ON records (step) WHERE step IS NOT NULL;",
    ),
    // `mcp_session` and `trace`.
    Migration::new(2, ""),
];

const COLUMNS: &str = "SELECT seq, hash, text, run, step FROM records";

/// Closing a file drops the locks that other connections of this process have on it: none has one before the file that
/// was created is closed.
static OPENING: Mutex<()> = Mutex::new(());

/// The writer of a file.
#[derive(Debug)]
pub(crate) struct SqliteLog {
    database: Database,
    path: PathBuf,
}

impl SqliteLog {
    /// Opens the file, and creates it only for its owner; so are its journals, since SQLite gives them the rights of
    /// the file.
    pub(crate) fn open(path: &Path, busy_timeout: Duration) -> Result<Self, LogError> {
        let _alone = lock(&OPENING);
        if !path.try_exists().map_err(|error| LogError::io(path, &error))? {
            owner_files::create(path).map_err(|error| LogError::io(path, &error))?;
        }
        owner_files::check_single_name(path)?;
        owner_files::warn_if_exposed(path);
        let options = OpenOptions::default().busy_timeout(busy_timeout);
        let database = Database::open(path, MIGRATIONS, &options)?;
        Ok(Self { database, path: path.to_owned() })
    }
}

/// A reader of a file.
pub(crate) struct SqliteReader(Database);

impl SqliteReader {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        Ok(Self(Database::open_read_only(path, MIGRATIONS, &OpenOptions::default())?))
    }
}

impl LogBackend for SqliteLog {
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        self.database.transaction(|transaction| {
            let failed = |error: rusqlite::Error| LogError::from(self.database.error(&error));
            let lines = chain(head(transaction).map_err(failed)?);
            insert(transaction, &lines).map_err(failed)
        })
    }

    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError> {
        let query = format!("{COLUMNS} WHERE step = ?1 AND seq > 0 ORDER BY seq");
        let lines = lines(self.database.connection(), &query, params![step]);
        lines.map_err(|error| self.database.error(&error).into())
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        Ok(Box::new(SqliteReader::open(&self.path)?))
    }

    fn prune(&mut self, through: u64, chain: PruneChain<'_>) -> Result<(), LogError> {
        self.database.transaction(|transaction| {
            let failed = |error: rusqlite::Error| LogError::from(self.database.error(&error));
            let query = format!("{COLUMNS} WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1");
            let removed = transaction.query_row(&query, [stored(through)], line).optional();
            let Some(removed) = removed.map_err(failed)? else { return Ok(()) };
            let lines = chain(head(transaction).map_err(failed)?, removed.head());
            insert(transaction, &lines).map_err(failed)?;
            let delete = "DELETE FROM records WHERE seq <= ?1";
            transaction.execute(delete, [stored(through)]).map_err(failed)?;
            Ok(())
        })
    }
}

impl LogRead for SqliteReader {
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError> {
        let query = format!("{COLUMNS} WHERE seq > ?1 ORDER BY seq LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let lines = lines(self.0.connection(), &query, params![stored(after), limit]);
        in_order(lines.map_err(|error| self.0.error(&error))?, after)
    }

    fn run(&mut self, run: &str) -> Result<Vec<LogLine>, LogError> {
        let query = format!("{COLUMNS} WHERE run = ?1 AND seq > 0 ORDER BY seq");
        let lines = lines(self.0.connection(), &query, params![run]);
        lines.map_err(|error| self.0.error(&error).into())
    }

    fn check_storage(&mut self) -> Result<Vec<String>, LogError> {
        check_storage(self.0.connection()).map_err(|error| self.0.error(&error).into())
    }
}

/// Compares the schema with a new one, and asks SQLite to check the pages and indexes.
fn check_storage(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let new = Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|migration| new.execute_batch(migration.statements))?;
    let (expected, found) = (schema(&new)?, schema(connection)?);
    let mut problems = Vec::new();
    for (kind, name, _) in found.symmetric_difference(&expected) {
        let problem = format!("the {kind} `{name}` is not as the log creates it");
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    let outside = "SELECT count(*) FROM records WHERE seq < 1";
    match connection.query_row(outside, [], |row| row.get::<_, i64>(0))? {
        0 => {}
        count => problems.push(format!("rows before the first record: {count}")),
    }
    let mut pages = connection.prepare("PRAGMA integrity_check(10)")?;
    for problem in pages.query_map([], |row| row.get::<_, String>(0))? {
        let problem = problem?;
        if problem != "ok" {
            problems.push(format!("the file is damaged: {problem}"));
        }
    }
    Ok(problems)
}

/// Kinds, names and statements of tables, indexes, views and triggers. Statistics are SQLite's own.
fn schema(connection: &Connection) -> rusqlite::Result<BTreeSet<(String, String, Option<String>)>> {
    let query =
        "SELECT type, name, sql FROM sqlite_schema WHERE substr(name, 1, 11) <> 'sqlite_stat'";
    let entry = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    connection.prepare(query)?.query_map([], entry)?.collect()
}

/// SQLite has signed integers.
fn stored(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn head(connection: &Connection) -> rusqlite::Result<Head> {
    let query = format!("{COLUMNS} ORDER BY seq DESC LIMIT 1");
    let last = connection.prepare_cached(&query)?.query_row([], line).optional()?;
    Ok(last.map_or_else(Head::empty, |line| line.head()))
}

fn insert(connection: &Connection, lines: &[LogLine]) -> rusqlite::Result<()> {
    let text = "INSERT INTO records (seq, hash, text, run, step) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut statement = connection.prepare_cached(text)?;
    for LogLine { position, hash, text, run, step } in lines {
        statement.execute(params![stored(*position), hash, text, run, step])?;
    }
    Ok(())
}

fn lines(
    connection: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<LogLine>> {
    connection.prepare_cached(query)?.query_map(parameters, line)?.collect()
}

/// The rows that follow record `after`. A damaged tree may give earlier ones, again and again.
///
/// # Errors
/// A record does not follow the one before it.
fn in_order(lines: Vec<LogLine>, after: u64) -> Result<Vec<LogLine>, LogError> {
    let before = std::iter::once(after).chain(lines.iter().map(|line| line.position));
    let misplaced = before.zip(&lines).find(|(before, line)| line.position <= *before);
    let Some((before, line)) = misplaced else { return Ok(lines) };
    let text = format!("the file is damaged: record {} follows record {before}", line.position);
    Err(LogError::new(LogErrorKind::Damaged, text))
}

/// Values of another type were put there by somebody else: `verify` names the record.
fn line(row: &Row<'_>) -> rusqlite::Result<LogLine> {
    let text = |column| row.get::<_, String>(column).unwrap_or_default();
    let other = |_| Some(String::new());
    let optional = |column| row.get::<_, Option<String>>(column).unwrap_or_else(other);
    let position = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
    Ok(LogLine { position, hash: text(1), text: text(2), run: optional(3), step: optional(4) })
}
