//! Files of several versions, several writers, commands that fail.

use super::*;
use crate::StoreFailure;

const ONE: &[Migration] = &[Migration::new(1, "CREATE TABLE t (n INTEGER PRIMARY KEY)")];
const TWO: &[Migration] = &[ONE[0], Migration::new(2, "ALTER TABLE t ADD COLUMN text TEXT")];
const BROKEN: &[Migration] = &[ONE[0], Migration::new(2, "CREATE TABLE u (n); CREATE TABLE t (n)")];

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("store-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("a.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn open(path: &Path, migrations: &'static [Migration]) -> Result<Store, StoreError> {
    Store::open(path, migrations, OpenOptions::default())
}

fn insert(n: i64) -> impl FnOnce(&Transaction<'_>) -> rusqlite::Result<usize> + Send + 'static {
    move |transaction| transaction.execute("INSERT INTO t (n) VALUES (?1)", [n])
}

fn count(store: &Store) -> i64 {
    store.read(|reader| reader.query_row("SELECT count(*) FROM t", [], |row| row.get(0))).unwrap()
}

#[test]
fn a_file_is_migrated_and_one_of_a_newer_version_is_rejected() {
    let folder = Folder::new("versions");
    let path = folder.file();
    open(&path, ONE).unwrap().write_blocking(insert(1)).unwrap();
    let two = open(&path, TWO).unwrap();
    let text = "SELECT text FROM t WHERE n = 1";
    let text = two.read(|reader| reader.query_row(text, [], |row| row.get::<_, Option<String>>(0)));
    assert_eq!(text.unwrap(), None);
    let error = open(&path, ONE).unwrap_err();
    assert_eq!(error.failure(), StoreFailure::Newer);
    assert!(error.to_string().contains("version 2 of the file is newer"), "{error}");
}

/// The rows of the newer version may have a form that an older program does not know.
#[test]
fn a_migration_without_statements_keeps_older_programs_out_and_older_files_readable() {
    const NEW: &[Migration] = &[ONE[0], Migration::new(2, "")];
    let folder = Folder::new("rows");
    let path = folder.file();
    let options = OpenOptions::default();
    drop(open(&path, ONE).unwrap());
    drop(Database::open_read_only(&path, NEW, &options).unwrap());
    let error = Database::open_read_only(&path, TWO, &options).unwrap_err().to_string();
    assert!(error.contains("version 1 of the file is older than version 2"), "{error}");
    drop(open(&path, NEW).unwrap());
    assert_eq!(open(&path, ONE).unwrap_err().failure(), StoreFailure::Newer);
}

#[test]
fn a_migration_that_fails_leaves_nothing_behind() {
    let folder = Folder::new("broken");
    let path = folder.file();
    drop(open(&path, ONE).unwrap());
    let error = open(&path, BROKEN).unwrap_err();
    assert!(error.to_string().contains("migration 2 failed"), "{error}");
    let one = open(&path, ONE).unwrap();
    let tables = one.read(|reader| {
        reader.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'u'", [], |row| {
            row.get::<_, i64>(0)
        })
    });
    assert_eq!(tables.unwrap(), 0);
}

#[tokio::test]
async fn a_command_that_fails_or_panics_is_undone_alone() {
    let folder = Folder::new("alone");
    let store = open(&folder.file(), ONE).unwrap();
    let commands = [store.write(insert(1)), store.write(insert(1)), store.write(insert(2))];
    let panics = store.write(|transaction| {
        insert(3)(transaction)?;
        panic!("as asked");
        #[allow(unreachable_code)]
        Ok(())
    });
    let mut results = Vec::new();
    for command in commands {
        results.push(command.await.is_ok());
    }
    assert_eq!(results, [true, false, true]);
    assert!(panics.await.unwrap_err().to_string().contains("panicked"));
    assert_eq!(count(&store), 2);
}

/// Makes the writer wait: what is sent before the end of the pause is one batch.
async fn pause(store: &Store) -> std::sync::mpsc::Sender<()> {
    let (end, wait) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = oneshot::channel();
    drop(store.write(move |_| {
        let _ = begin.send(());
        Ok(wait.recv().is_ok())
    }));
    begun.await.unwrap();
    end
}

/// Sends a command that fills the disk in a batch, whose transaction SQLite undoes by itself.
async fn undo_batch(
    store: &Store,
    fill: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()> + Send + 'static,
) {
    let end = pause(store).await;
    let batch = (store.write(insert(1)), store.write(fill), store.write(insert(2)));
    end.send(()).unwrap();
    let (first, full, last) = tokio::join!(batch.0, batch.1, batch.2);
    let errors = [first.unwrap_err(), full.unwrap_err(), last.unwrap_err()];
    assert_eq!(errors.map(|error| error.failure()), [StoreFailure::Full; 3]);
    assert_eq!(count(store), 0);
}

#[tokio::test]
async fn commands_after_an_undone_transaction_are_not_made() {
    let folder = Folder::new("undone");
    let store = open(&folder.file(), ONE).unwrap();
    let fill = |transaction: &Transaction<'_>| {
        transaction.execute_batch("ROLLBACK")?;
        Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(13), None))
    };
    undo_batch(&store, fill).await;
}

#[tokio::test]
async fn a_file_that_is_full_ends_the_batch() {
    let folder = Folder::new("full");
    let store = open(&folder.file(), ONE).unwrap();
    let limit = |transaction: &Transaction<'_>| {
        transaction.query_row("PRAGMA max_page_count = 8", [], |_| Ok(()))
    };
    store.write(limit).await.unwrap();
    // After a statement of one row, SQLite undoes the transaction; after one of several, the statement.
    let fill = |transaction: &Transaction<'_>| {
        (10..1_000_000).try_for_each(|n| insert(n)(transaction).map(drop))
    };
    undo_batch(&store, fill).await;
}

#[test]
fn several_stores_write_to_one_file() {
    let folder = Folder::new("several");
    let path = folder.file();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let store = open(path, TWO).unwrap();
                for n in 0..25 {
                    store.write_blocking(insert(thread * 100 + n)).unwrap();
                }
            });
        }
    });
    assert_eq!(count(&open(&path, TWO).unwrap()), 100);
}

#[test]
fn a_new_file_may_be_opened_by_several_at_once() {
    for round in 0..50 {
        let folder = Folder::new(&format!("new-{round}"));
        let (path, start) = (folder.file(), std::sync::Barrier::new(4));
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    open(path, ONE).unwrap().write_blocking(insert(number)).unwrap();
                });
            }
        });
        assert_eq!(count(&open(&path, ONE).unwrap()), 4);
    }
}

#[test]
fn commands_run_before_the_store_is_closed() {
    let folder = Folder::new("closed");
    let store = open(&folder.file(), ONE).unwrap();
    for n in 0..500 {
        drop(store.write(insert(n)));
    }
    drop(store);
    assert_eq!(count(&open(&folder.file(), ONE).unwrap()), 500);
}

#[test]
fn a_reader_cannot_write_and_a_file_that_is_not_a_database_is_named() {
    let folder = Folder::new("foreign");
    let store = open(&folder.file(), ONE).unwrap();
    let written = store.read(|reader| reader.execute("INSERT INTO t VALUES (1)", []));
    assert_eq!(written.unwrap_err().failure(), StoreFailure::ReadOnly);
    let other = folder.0.join("text");
    std::fs::write(
        &other,
        "This is a text, and longer than the head of a database is. ".repeat(40),
    )
    .unwrap();
    assert_eq!(open(&other, ONE).unwrap_err().failure(), StoreFailure::Corrupt);
}

#[test]
fn a_writer_that_waits_too_long_reports_the_other_process() {
    let folder = Folder::new("busy");
    let path = folder.file();
    let holder = Database::open(&path, ONE, &OpenOptions::default()).unwrap();
    let options = OpenOptions::default().busy_timeout(std::time::Duration::from_millis(20));
    let store = Store::open(&path, ONE, options).unwrap();
    let result =
        holder.transaction(|_| Ok::<_, StoreError>(store.write_blocking(insert(1)))).unwrap();
    assert_eq!(result.unwrap_err().failure(), StoreFailure::Busy);
    store.write_blocking(insert(1)).unwrap();
}
