//! What other crates attach to a handle, and the handle of a call.

use super::ToolPool;
use crate::pool::scope::Scope;
use crate::pool::snapshot::Snapshot;
use crate::tool::context::ToolContext;
use std::any::Any;
use std::sync::Arc;

#[doc(hidden)]
impl ToolPool {
    /// The values of a type that other crates keep in the pool.
    pub fn extras<T: Any>(&self) -> impl Iterator<Item = &T> {
        self.0.core.extras().iter()
    }

    /// The value of this handle and its clones for which `is_wanted` returns true, or a new one. It
    /// is dropped with the last clone of the handle, so it must not contain a clone.
    pub fn attached_or<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        self.0.attached.find_or(is_wanted, make)
    }

    /// The value of this handle for which `is_wanted` returns true.
    pub fn attached<T: Any + Send + Sync>(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        self.0.attached.find(is_wanted)
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
