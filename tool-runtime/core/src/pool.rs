//! The assembled set of tools.
//!
//! One pure function (`offer`) decides about all offered tools when the pool is built and at each
//! change: name conflicts, filters, usability, quarantine. Visible tools form a [`Snapshot`], which
//! is swapped atomically. A handle has a scope with a stack of restrictions; the stack applied to a
//! snapshot is another snapshot, made when it is first needed. A call uses the snapshot that it
//! began with, so a removed tool is dropped after its last call.
//!
//! A context holds its pool weakly. State that holds its own pool keeps it alive until it is closed.
//!
//! Prompts and resources live in the same snapshot, in a catalog that a change replaces as a whole;
//! filters and restrictions do not apply to them. A `Watcher` gathers changes as flags and a set,
//! not as a queue: many changes become one notification, and the memory is bounded.

mod attached;
mod builder;
mod catalog;
mod change;
pub(crate) mod claim;
pub(crate) mod core;
mod declared;
mod draft;
mod extension;
mod extras;
mod filter;
mod governance;
mod handle;
#[cfg(feature = "tower")]
mod layers;
mod missing_state;
mod offer;
mod offerings;
mod problem;
pub(crate) mod registry;
mod report;
mod runtime;
mod scope;
mod selector;
mod session;
mod snapshot;
pub(crate) mod watch;

pub(crate) use crate::govern::hook::PooledTool;
pub use crate::tool::tool::source::Source;
pub use builder::{ToolPoolBuilder, WithToolsets, WithoutToolsets};
pub use change::{PoolChange, PoolChanges};
pub use declared::{DeclarationReport, DeclarationStatus, DeclaredTools};
pub(crate) use draft::{Created, not_created};
pub use extension::PoolExtension;
pub use filter::Filter;
pub use handle::ToolPool;
#[cfg(feature = "tower")]
pub use layers::CallRequest;
#[cfg(feature = "tower")]
pub(crate) use layers::{Innermost, Layers};
pub use problem::{PoolError, PoolProblem};
pub use registry::{
    ConfigError, PoolConfig, Registry, RegistryError, SpecProblem, ToolFactory, ToolSpec, Tools,
};
pub use report::{AbsentSource, PoolReport, ToolReport, ToolStatus};
pub use scope::Restriction;
pub(crate) use scope::Scope;
pub use selector::{Selector, SelectorError};
pub use session::PoolSession;
pub use snapshot::Snapshot;
