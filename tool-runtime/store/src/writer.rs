//! The thread that writes: waiting commands are one transaction.

use crate::database::Database;
use crate::error::{StoreError, StoreFailure};
use rusqlite::Transaction;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The most commands of a transaction.
const MAX_BATCH: usize = 1024;

type Result<T> = std::result::Result<T, StoreError>;
/// Answers the caller, once it is known whether the transaction was committed.
type Reply = Box<dyn FnOnce(Result<()>) + Send>;
/// The second value is the error that ended the transaction, if one did.
type Work = Box<dyn FnOnce(&Database, &Transaction<'_>) -> (Reply, Result<()>) + Send>;

/// A command for the writer.
pub(crate) struct Command {
    work: Work,
    /// Answers the caller of a command that does not run.
    reject: Reply,
}

impl Command {
    pub(crate) fn new<T: Send + 'static>(
        command: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        answer: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Self {
        let once = Arc::new(Mutex::new(Some(answer)));
        let answer = move |result: Result<T>| {
            let answer = once.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(answer) = answer {
                answer(result);
            }
        };
        let reject = answer.clone();
        let work: Work = Box::new(move |database, transaction| {
            let (result, ended) = undone_if_failed(database, transaction, command);
            let reply: Reply = Box::new(move |committed| {
                answer(result.and_then(|done| committed.map(|()| done)));
            });
            (reply, ended)
        });
        let reject: Reply = Box::new(move |failed| {
            if let Err(error) = failed {
                reject(Err(error));
            }
        });
        Self { work, reject }
    }
}

/// Runs a command within a savepoint. On a full disk, SQLite may undo the whole transaction by itself, with its
/// savepoints: the second value is the error then.
fn undone_if_failed<T>(
    database: &Database,
    transaction: &Transaction<'_>,
    command: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> (Result<T>, Result<()>) {
    let failed = |error: rusqlite::Error| database.error(&error);
    if let Err(error) = transaction.execute_batch("SAVEPOINT command").map_err(failed) {
        return (Err(error.clone()), Err(error));
    }
    let result = catch_unwind(AssertUnwindSafe(|| command(transaction)));
    let end = match &result {
        Ok(Ok(_)) => "RELEASE command",
        _ => "ROLLBACK TO command; RELEASE command",
    };
    let result = match result {
        Ok(result) => result.map_err(failed),
        Err(_) => {
            Err(StoreError::new(database.path(), StoreFailure::Other, "the command panicked"))
        }
    };
    match (transaction.execute_batch(end).map_err(failed), result) {
        (Ok(()), result) => (result, Ok(())),
        (Err(error), result) => {
            // The error of the command is the cause.
            let error = result.err().unwrap_or(error);
            (Err(error.clone()), Err(error))
        }
    }
}

/// The handle of the thread.
pub(crate) struct Writer {
    /// `None` once the thread was asked to end.
    commands: Option<Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(database: Database) -> Result<Self> {
        let (sender, receiver) = channel();
        let path = database.path().to_owned();
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || run(database, &receiver))
            .map_err(|error| StoreError::new(&path, StoreFailure::Other, error.to_string()))?;
        Ok(Self { commands: Some(sender), thread: Some(thread) })
    }

    /// Gives a command to the thread. If that has ended, the command is dropped with its answer.
    pub(crate) fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            drop(commands.send(command));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread catches the panics of commands.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

fn run(database: Database, commands: &Receiver<Command>) {
    while let Ok(first) = commands.recv() {
        let mut batch = vec![first];
        batch.extend(commands.try_iter().take(MAX_BATCH - 1));
        commit(&database, batch);
    }
}

fn commit(database: &Database, batch: Vec<Command>) {
    let mut replies = Vec::with_capacity(batch.len());
    let mut batch = batch.into_iter();
    let committed = database.transaction(|transaction| {
        for command in batch.by_ref() {
            let (reply, ended) = (command.work)(database, transaction);
            replies.push(reply);
            ended?;
        }
        Ok(())
    });
    // The transaction did not begin, or ended before them.
    for command in batch {
        (command.reject)(committed.clone());
    }
    for reply in replies {
        reply(committed.clone());
    }
}
