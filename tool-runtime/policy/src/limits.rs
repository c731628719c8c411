//! Limits: what rules say, and the counters that keep them.

mod counter;
mod keeper;
mod rule;
#[cfg(feature = "store")]
mod sqlite;
mod store;

pub use keeper::LimitKeeper;
pub(crate) use rule::LimitRule;
pub use rule::Share;
#[cfg(feature = "store")]
pub use sqlite::SqliteBudgets;
pub use store::BudgetStore;

#[cfg(test)]
mod tests;
