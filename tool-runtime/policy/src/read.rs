//! Reads policies: text to values, values to rules, with all mistakes and their lines.

mod approval;
mod case;
mod document;
mod locate;
mod object;
mod path;
mod predicate;
mod problem;
mod rule;
#[cfg(feature = "cli")]
mod single_call;
mod syntax;
mod touches;
mod unique;
mod values;

pub(crate) use document::read;
pub(crate) use object::kind;
pub(crate) use path::DocumentPath;
pub(crate) use problem::Fault;
pub use problem::{PolicyError, PolicyProblem};
#[cfg(feature = "cli")]
pub(crate) use single_call::single_call;
pub use syntax::Format;
pub(crate) use syntax::Text;
