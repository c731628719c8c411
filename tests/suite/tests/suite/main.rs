//! Everything that is tested from outside, a module a topic.

#![allow(missing_docs)]

mod arguments;
mod calls;
mod floors;
mod outputs;
mod peers;
mod pools;
mod quickstart;
mod support;
mod ui;
