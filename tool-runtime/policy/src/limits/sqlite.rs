//! Budgets in a SQLite file.

use super::store::BudgetStore;
use std::path::Path;
use tool_runtime_core::govern::RecordError;
use tool_runtime_store::rusqlite::{OptionalExtension as _, params};
use tool_runtime_store::{Migration, OpenOptions, ProcessLock, Store, StoreError};

const MIGRATIONS: &[Migration] = &[Migration::new(
    1,
    "CREATE TABLE budgets (key TEXT PRIMARY KEY, used INTEGER NOT NULL) WITHOUT ROWID",
)];

/// What was used of budgets, in a SQLite file. Needs the feature `store`.
///
/// A thread writes what calls used soon after they used it, and the rest when the last handle is dropped: a process that is
/// killed may forget its last calls. One process uses a file at a time.
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime::policy::{LimitKeeper, Policies, Policy, Rule, SqliteBudgets};
/// use tool_runtime::govern::{Measure, Refill};
///
/// # let folder = std::env::temp_dir().join(format!("budgets-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("budgets.db");
/// let hundred = Rule::allow("search").tool("web.*").limit(100, Measure::Calls, Refill::Never, []);
/// let policies = Policies::new()
///     .policy(Policy::builder().rule(hundred).build()?)
///     .limits(LimitKeeper::new().store(SqliteBudgets::open(file)?));
/// let pool = ToolPool::builder().install(policies).allow_empty().build()?;
/// # drop(pool);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteBudgets {
    store: Store,
    /// Dropped after the store, which writes the rest when it is dropped.
    _lock: ProcessLock,
}

impl SqliteBudgets {
    /// Opens a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged, or is used by another process.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        let lock = lock(path.as_ref())?;
        let store = Store::open(path, MIGRATIONS, OpenOptions::default()).map_err(failed)?;
        Ok(Self { store, _lock: lock })
    }
}

impl BudgetStore for SqliteBudgets {
    /// Behind what waits to be written.
    fn used(&self, key: &str) -> Result<u64, RecordError> {
        let key = key.to_owned();
        let query = "SELECT used FROM budgets WHERE key = ?1";
        let used = self.store.write_blocking(move |transaction| {
            transaction.query_row(query, [key], |row| row.get::<_, i64>(0)).optional()
        });
        used.map(|used| used.unwrap_or_default().cast_unsigned()).map_err(failed)
    }

    fn set_used(&self, key: &str, amount: u64) -> Result<(), RecordError> {
        let (key, amount) = (key.to_owned(), i64::try_from(amount).unwrap_or(i64::MAX));
        let text = "INSERT INTO budgets (key, used) VALUES (?1, ?2) \
                    ON CONFLICT (key) DO UPDATE SET used = excluded.used";
        self.store.post(
            move |transaction| transaction.prepare_cached(text)?.execute(params![key, amount]),
            |written| {
                if let Err(error) = written {
                    tracing::error!("the store of budgets failed: {error}");
                }
            },
        );
        Ok(())
    }
}

fn failed(error: StoreError) -> RecordError {
    RecordError::new(error.to_string())
}

/// Two processes would each count from the same amount.
fn lock(path: &Path) -> Result<ProcessLock, RecordError> {
    let lock = ProcessLock::take(path, ".lock")
        .map_err(|error| RecordError::new(format!("`{}.lock`: {error}", path.display())))?;
    lock.ok_or_else(|| {
        RecordError::new(format!(
            "the budgets `{}` are used by another process; give each its own file",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests;
