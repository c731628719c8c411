//! Where budgets are kept.

use tool_runtime_core::govern::RecordError;

/// Keeps what was used of budgets, so that they outlive the process. With the feature `store`, `SqliteBudgets` is one.
///
/// Called on the thread of the call: a store that writes to a disk does so later, in its own task.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use tool_runtime::govern::RecordError;
/// use tool_runtime::policy::{BudgetStore, LimitKeeper};
///
/// #[derive(Default)]
/// struct Memory(Mutex<HashMap<String, u64>>);
///
/// impl BudgetStore for Memory {
///     fn used(&self, key: &str) -> Result<u64, RecordError> {
///         Ok(self.0.lock().unwrap().get(key).copied().unwrap_or_default())
///     }
///
///     fn set_used(&self, key: &str, amount: u64) -> Result<(), RecordError> {
///         self.0.lock().unwrap().insert(key.to_owned(), amount);
///         Ok(())
///     }
/// }
///
/// let limits = LimitKeeper::new().store(Memory::default());
/// # let _ = limits;
/// ```
pub trait BudgetStore: Send + Sync + 'static {
    /// The amount that was used of the budget of this key, when the process first needs it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn used(&self, key: &str) -> Result<u64, RecordError>;

    /// Notes the amount that is used now.
    ///
    /// # Errors
    /// The store cannot be written.
    fn set_used(&self, key: &str, amount: u64) -> Result<(), RecordError>;
}
