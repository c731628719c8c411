//! JSON Schemas: normalised, compared, translated, and walked to explain mistakes.

pub(crate) mod applicable;
pub(crate) mod check;
pub(crate) mod compatibility;
pub(crate) mod derived;
pub(crate) mod engine;
pub(crate) mod format;
pub(crate) mod nearest;
pub(crate) mod normal;
pub(crate) mod plain;
pub(crate) mod segment;
pub(crate) mod translate;

pub(crate) use applicable::Applicable;
pub(crate) use check::{own_problem, problem};
pub(crate) use compatibility::incompatibilities;
