//! JSON Schemas: generated from types, normalised, and walked to explain mistakes.

mod applicable;
pub(crate) mod check;
mod closed;
mod compatibility;
mod derived;
pub(crate) mod engine;
pub(crate) mod format;
mod generate;
pub(crate) mod nearest;
mod normal;
mod plain;
pub(crate) mod translate;

pub(crate) use applicable::Applicable;
pub(crate) use check::{own_problem, problem};
pub(crate) use closed::allows_ignored;
pub(crate) use compatibility::incompatibilities;
pub(crate) use generate::{
    described, input, input_and_misses, input_of, input_of_closed, no_arguments, output, unenforced,
};
