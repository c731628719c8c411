//! The tool `LSP` over real language servers, which npm installs below `target`.
//!
//! A machine that cannot install them fails the tests: skipping them silently would hide that they are not supported.

#![allow(missing_docs, clippy::unwrap_used)]

mod install;
mod python;
mod support;
mod typescript;
