//! Numbered migrations.

use crate::error::{StoreError, StoreFailure};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// A change of the schema. The first has number 1, each later one the next number. Published
/// migrations do not change.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The number, which becomes the version of the database.
    pub number: u32,
    /// Statements, run in one transaction. None if the schema stays and only its rows have a new form: older files can
    /// then be read without it, and older programs refuse the newer file.
    pub statements: &'static str,
}

impl Migration {
    /// A migration.
    pub const fn new(number: u32, statements: &'static str) -> Self {
        Self { number, statements }
    }
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Checks the version of a database, without changing it.
pub(crate) fn check(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<u32, StoreError> {
    let version = version(connection).map_err(|error| StoreError::from_path(path, &error))?;
    let known = migrations.last().map_or(0, |last| last.number);
    if version > known {
        let reason = format!(
            "version {version} of the file is newer than this program, which supports up to version {known}; update the program"
        );
        return Err(StoreError::new(path, StoreFailure::Newer, reason));
    }
    Ok(version)
}

/// Checks that a database has the schema of the last version, without changing it.
pub(crate) fn check_current(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let version = check(connection, path, migrations)?;
    let changes = migrations.iter().filter(|migration| !migration.statements.is_empty());
    let needed = changes.map(|migration| migration.number).max().unwrap_or(0);
    if version >= needed {
        return Ok(());
    }
    let reason = format!(
        "version {version} of the file is older than version {needed}; open it for writing once"
    );
    Err(StoreError::new(path, StoreFailure::Other, reason))
}

/// Brings a database to the last version, one transaction a migration. Several processes may do so at
/// once: each checks the version again once it has the lock.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let numbers = (1..).zip(migrations);
    assert!(
        numbers.into_iter().all(|(number, migration)| migration.number == number),
        "migrations in order"
    );
    let version = check(connection, path, migrations)?;
    for migration in migrations.iter().filter(|migration| migration.number > version) {
        apply(connection, migration).map_err(|error| {
            let cause = StoreError::from_path(path, &error);
            let reason = format!("migration {} failed: {error}", migration.number);
            StoreError::new(path, cause.failure(), reason)
        })?;
    }
    Ok(())
}

fn apply(connection: &mut Connection, migration: &Migration) -> rusqlite::Result<()> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    if version(&transaction)? < migration.number {
        transaction.execute_batch(migration.statements)?;
        transaction.pragma_update(None, "user_version", migration.number)?;
    }
    transaction.commit()
}
