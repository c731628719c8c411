//! The file.

use super::builder::ScheduleError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use tempfile::TempDir;
use tool_runtime::{Principal, ToolError};
use tool_runtime_store::{Migration, OpenOptions, Store, StoreError, StoreFailure};

/// Times are seconds since 1970; those of runs and hosts are milliseconds.
const MIGRATIONS: &[Migration] = &[
    Migration::new(
    1,
    "CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, name TEXT NOT NULL,
        schedule TEXT NOT NULL, time_zone TEXT NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
        run_once INTEGER NOT NULL, enabled INTEGER NOT NULL, principal TEXT NOT NULL, next_due INTEGER,
        UNIQUE (owner, name)
    );
    CREATE INDEX jobs_due ON jobs (next_due) WHERE enabled;
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
        due INTEGER NOT NULL, last_due INTEGER NOT NULL, times INTEGER NOT NULL, state TEXT NOT NULL,
        host TEXT, attempt INTEGER NOT NULL, started INTEGER, ended INTEGER, outcome TEXT,
        UNIQUE (job, due)
    );
    CREATE INDEX runs_running ON runs (host) WHERE state = 'running';
    CREATE TABLE hosts (
        id TEXT PRIMARY KEY, process INTEGER NOT NULL, started INTEGER NOT NULL, expires INTEGER NOT NULL
    );
    CREATE TABLE triggers (
        id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
        prompt TEXT NOT NULL, nonce TEXT NOT NULL, job INTEGER REFERENCES jobs ON DELETE SET NULL, UNIQUE (owner, name)
    );
    CREATE TABLE settings (
        owner TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (owner, key)
    );",
    ),
    // The host is the process that has the lock.
    Migration::new(
        2,
        "DROP TABLE hosts;
    DROP INDEX runs_running;
    ALTER TABLE runs DROP COLUMN host;
    CREATE TABLE host (process INTEGER NOT NULL, started INTEGER NOT NULL);",
    ),
    // The SHA-256 of the file as the last run wrote it.
    Migration::new(3, "ALTER TABLE jobs ADD COLUMN written TEXT;"),
];

/// Opens a file, or a temporary one with its directory.
pub(super) fn open(file: Option<PathBuf>) -> Result<(Store, Option<TempDir>), ScheduleError> {
    let (path, directory) = match file {
        Some(path) => (path, None),
        None => {
            let directory = TempDir::with_prefix("schedule-")?;
            (directory.path().join("schedule.db"), Some(directory))
        }
    };
    Ok((Store::open(path, MIGRATIONS, OpenOptions::default())?, directory))
}

/// The error for a model whose call needs the file.
pub(super) fn failed(error: StoreError) -> ToolError {
    match error.failure() {
        StoreFailure::Busy => {
            ToolError::transient("another process writes now; try again").with_source(error)
        }
        _ => ToolError::internal(error),
    }
}

/// The owner of jobs, triggers and settings. Anonymous callers of a server are one, and not the owner of the process.
pub(super) fn owner(principal: &Principal) -> String {
    match (principal.is_anonymous(), principal.is_restricted()) {
        (true, false) => "process".to_owned(),
        (true, true) => "anonymous".to_owned(),
        _ => format!("id:{}", principal.id()),
    }
}

/// A principal as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPrincipal {
    id: String,
    scopes: Vec<String>,
    claims: Map<String, Value>,
    is_restricted: bool,
}

impl From<&Principal> for StoredPrincipal {
    fn from(principal: &Principal) -> Self {
        Self {
            id: principal.id().to_owned(),
            scopes: principal.scopes().to_vec(),
            claims: principal.claims().clone(),
            is_restricted: principal.is_restricted(),
        }
    }
}

impl From<StoredPrincipal> for Principal {
    fn from(stored: StoredPrincipal) -> Self {
        let StoredPrincipal { id, scopes, claims, is_restricted } = stored;
        let principal = if id.is_empty() { Self::anonymous() } else { Self::new(id) };
        let principal = principal.with_scopes(scopes).with_claims(claims);
        if is_restricted { principal.restricted() } else { principal }
    }
}
