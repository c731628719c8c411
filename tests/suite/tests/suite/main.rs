//! Everything that is tested from outside, a module a topic.

#![allow(missing_docs)]

mod floors;
mod peers;
mod quickstart;
mod ui;
