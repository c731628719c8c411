//! The tools of the browser over an installed Chromium and servers of this machine.
//!
//! A machine without Chromium fails the tests: skipping them silently would hide that the tools do not work.

#![allow(missing_docs, clippy::unwrap_used)]

mod addresses;
mod dialogs;
mod elements;
mod inbox;
mod processes;
mod reading;
#[path = "../../../../tool-runtime/builtins/src/web/tests/server.rs"]
mod server;
mod storage;
mod support;
mod tabs;
