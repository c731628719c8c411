//! JSON Schemas: made from types, kept whole, walked when something is wrong.

pub(crate) mod check;
pub(crate) mod engine;
pub(crate) mod format;
mod generate;
pub(crate) mod nearest;
mod normal;
mod plain;

pub(crate) use generate::{advertised, input, input_of, no_arguments, output, unenforced};
