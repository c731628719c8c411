//! Values of other crates that live as long as a handle: the skills of an agent.

use crate::vocabulary::sync::lock;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// The values attached to one handle and its clones.
#[derive(Default)]
pub(super) struct Attached(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Attached {
    /// The value for which `is_wanted` returns true.
    pub(super) fn find<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
    ) -> Option<Arc<T>> {
        find(&lock(&self.0), is_wanted)
    }

    /// The value for which `is_wanted` returns true, or a new one.
    pub(super) fn find_or<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let mut values = lock(&self.0);
        find(&values, is_wanted).unwrap_or_else(|| {
            let made = make();
            values.push(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
            made
        })
    }
}

fn find<T: Any + Send + Sync>(
    values: &[Arc<dyn Any + Send + Sync>],
    is_wanted: impl Fn(&T) -> bool,
) -> Option<Arc<T>> {
    let mut values = values.iter().filter_map(|value| Arc::clone(value).downcast::<T>().ok());
    values.find(|value| is_wanted(value))
}
