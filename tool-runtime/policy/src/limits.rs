//! Limits: what rules say, and the counters that keep them.

mod counter;
mod keeper;
mod rule;
mod store;

pub use keeper::LimitKeeper;
pub(crate) use rule::LimitRule;
pub use rule::Share;
pub use store::BudgetStore;

#[cfg(test)]
mod tests;
