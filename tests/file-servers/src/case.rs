//! One case and its outcome.

use crate::connection::{Answer, Connection};
use crate::server::Server;
use futures_util::future::BoxFuture;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A case that every server gets.
pub struct Case {
    /// The property that is kept.
    pub name: &'static str,
    pub(crate) run: Run,
}

type Run = Box<dyn for<'a> Fn(&'a Arena) -> BoxFuture<'a, Outcome>>;

/// Whether a server keeps a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It does.
    Kept,
    /// It does not do what was asked, says so, and damages nothing.
    Refused,
    /// It does not, for this reason.
    Broken(&'static str),
}

impl Case {
    pub(crate) fn new(
        name: &'static str,
        run: impl for<'a> Fn(&'a Arena) -> BoxFuture<'a, Outcome> + 'static,
    ) -> Self {
        Self { name, run: Box::new(run) }
    }

    /// Runs the case in a directory of its own.
    ///
    /// # Panics
    /// The server does not start, or the directory cannot be written.
    pub async fn outcome(&self, server: &Server) -> Outcome {
        (self.run)(&Arena::new(server.clone())).await
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("yes"),
            Self::Refused => f.write_str("refused"),
            Self::Broken(reason) => write!(f, "**no**: {reason}"),
        }
    }
}

/// The directory of a case: a root that is served, and files outside it.
pub(crate) struct Arena {
    server: Server,
    folder: TempDir,
}

impl Arena {
    fn new(server: Server) -> Self {
        let folder = TempDir::new().expect("room for a directory");
        fs::create_dir(folder.path().join("root")).expect("room for a directory");
        Self { server, folder }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::start(&self.server, &self.path("root"), false).await
    }

    /// A server that cannot write files of more than 256 KiB.
    pub(crate) async fn connect_limited(&self) -> Connection {
        Connection::start(&self.server, &self.path("root"), true).await
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file with its directories.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("room for a directory");
        fs::write(&path, bytes).expect("room for a file");
        path
    }

    /// Reads a file as an agent would, then edits it.
    pub(crate) async fn edit(&self, path: &Path, old: &str, new: &str) -> Answer {
        let connection = self.connect().await;
        drop(connection.read(path).await);
        let answer = connection.edit(path, old, new).await;
        connection.close().await;
        answer
    }
}
