//! Values of other crates that live as long as a handle: the skills of an agent.

use super::handle::ToolPool;
use super::scope::Scope;
use super::snapshot::Snapshot;
use crate::tool::context::ToolContext;
use crate::vocabulary::sync::lock;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// The values attached to one handle and its clones.
#[derive(Default)]
pub(super) struct Attached(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

#[doc(hidden)]
impl ToolPool {
    /// The value of this handle and its clones for which `is_wanted` returns true, or a new one. It
    /// is dropped with the last clone of the handle, so it must not contain a clone.
    pub fn attached_or<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let mut values = lock(&self.0.attached.0);
        find(&values, is_wanted).unwrap_or_else(|| {
            let made = make();
            values.push(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
            made
        })
    }

    /// The value of this handle for which `is_wanted` returns true.
    pub fn attached<T: Any + Send + Sync>(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        find(&lock(&self.0.attached.0), is_wanted)
    }

    /// A handle on the whole pool, without the restrictions of this handle.
    #[must_use]
    pub fn unrestricted(&self) -> Self {
        Self::scoped(Arc::clone(&self.0.core), None, &self.0.context)
    }

    /// Whether both handles are of one pool.
    pub fn is_of_same_pool(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.core, &other.0.core)
    }
}

fn find<T: Any + Send + Sync>(
    values: &[Arc<dyn Any + Send + Sync>],
    is_wanted: impl Fn(&T) -> bool,
) -> Option<Arc<T>> {
    let mut values = values.iter().filter_map(|value| Arc::clone(value).downcast::<T>().ok());
    values.find(|value| is_wanted(value))
}

impl ToolContext {
    /// The handle that the call came through. [`Self::pool`] narrows nested calls; this narrows the
    /// caller.
    #[doc(hidden)]
    pub fn handle(&self) -> Option<ToolPool> {
        self.host::<Scope>().map(ToolPool::of_scope)
    }

    /// The tools that the caller sees. The snapshot of the caller's handle, where that is for the same principal:
    /// it stays the same from call to call, with what is derived from it.
    #[doc(hidden)]
    pub fn listed_tools(&self) -> Option<Arc<Snapshot>> {
        let handle = self.handle()?;
        match handle.shared_context().principal() == self.principal() {
            true => Some(handle.snapshot()),
            false => Some(self.pool()?.snapshot()),
        }
    }
}
