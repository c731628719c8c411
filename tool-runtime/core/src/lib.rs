//! The core of `tool-runtime`: vocabulary, schemas, tools, governance, pool and dispatch. Users depend on
//! `tool-runtime`, which exports everything public here.
//!
//! Six floors, one folder each. A floor imports only from itself and from those above it in this table; `tests/suite`
//! checks it.
//!
//! | Floor | Topic |
//! |---|---|
//! | [`vocabulary`] | shared terms: content, errors, patterns, principals, secrets |
//! | `schema` | JSON Schemas: walked to explain mistakes, normalised, compared, translated |
//! | [`tool`] | one tool, prompt or resource: arguments, execution, result; the caller; the schedule |
//! | [`govern`] | rules around calls: hooks, policies, approvals, limits, records |
//! | [`pool`] | builder, offers, snapshots, restrictions, changes; specifications |
//! | [`dispatch`] | the stages of a call; batches; typed calls; calls from threads and from tower |
//!
//! `__private` (for generated code), `seam` (for the other crates) and `__fuzz` re-export only.
//!
//! Governance is below the pool, because a pool owns its hooks and limits and passes them what they need.
//!
//! Binaries link only what they use: the host of a context is an `Any` that only `ToolContext::call_all` downcasts; the
//! end of a dropped toolset is a function pointer; the engines of patterns and formats are enabled by what needs them.

pub mod dispatch;
pub mod govern;
pub mod pool;
mod schema;
pub mod tool;
pub mod vocabulary;

#[cfg(test)]
#[path = "../property.rs"]
mod property;

#[cfg(feature = "__fuzz")]
#[doc(hidden)]
pub mod __fuzz;
#[doc(hidden)]
pub mod __private;
#[doc(hidden)]
pub mod seam;
