//! The assembled set of tools.

mod builder;
mod catalog;
mod change;
mod claim;
mod core;
mod filter;
mod governance;
mod handle;
mod offer;
mod offerings;
mod problem;
mod report;
mod runtime;
mod scope;
mod selector;
mod session;
mod snapshot;
mod source;
mod watch;

pub use self::core::Absence;
pub use builder::ToolPoolBuilder;
pub use change::{PoolChange, PoolChanges};
pub use claim::Claim;
pub use filter::Filter;
pub use governance::CallRequest;
pub(crate) use governance::Inside;
#[cfg(feature = "tower")]
pub(crate) use governance::Layered;
pub use handle::ToolPool;
pub use problem::{PoolError, PoolProblem};
pub use report::{AbsentSource, PoolReport, ToolReport, ToolStatus};
pub use scope::Restriction;
pub(crate) use scope::Scope;
pub use selector::{Selector, SelectorError};
pub use session::PoolSession;
pub(crate) use snapshot::Found;
pub use snapshot::Snapshot;
pub use source::Source;
pub use watch::{News, Watcher};
