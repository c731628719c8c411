//! The tools for files, called through a pool.

#![cfg(feature = "files")]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod bytes;
mod concurrent;
#[cfg(feature = "search")]
mod denied;
mod directories;
mod editor;
mod escapes;
#[path = "../../src/hints.rs"]
mod hints;
mod large;
#[cfg(target_os = "linux")]
mod names;
mod offered;
mod patches;
mod properties;
#[path = "../../../core/property.rs"]
mod property;
mod protected;
mod reading;
mod support;
mod undo;
mod undo_property;
mod writing;
