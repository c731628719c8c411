//! SQLite for the parts of `tool-runtime` that store something. Not for users: they depend on
//! `tool-runtime`, whose feature `store` is implied by the features that need it.
//!
//! [`Database`] opens a file in WAL mode and migrates it. [`Store`] puts one writer thread in front of
//! it, which commits waiting commands in one transaction, and readers next to it. Several processes
//! may open one file.
//!
//! | Module | Topic |
//! |---|---|
//! | `database`, `migration` | opening, transactions; numbered migrations |
//! | `store`, `writer` | handles; the thread that writes |
//! | `process_lock` | a lock by which one process at a time uses a file |
//! | `error` | the causes of failures |

mod database;
mod error;
mod migration;
mod process_lock;
mod store;
mod writer;

pub use database::{Database, OpenOptions};
pub use error::{StoreError, StoreFailure};
pub use migration::Migration;
pub use process_lock::ProcessLock;
pub use rusqlite;
pub use store::Store;
