//! State that a tool borrows.

use std::any::{TypeId, type_name};
use std::sync::Arc;

/// One reference parameter of a tool: a type that the pool must be given.
#[derive(Clone, Copy)]
pub struct Need {
    pub(crate) id: fn() -> TypeId,
    /// The type inside an `Arc`, which can be borrowed as well.
    pub(crate) shared: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
}

impl Need {
    /// A value of that type.
    pub const fn for_type<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>, shared: TypeId::of::<Arc<T>>, name: type_name::<T> }
    }

    /// The types that satisfy it.
    pub(crate) fn type_ids(self) -> [TypeId; 2] {
        [(self.id)(), (self.shared)()]
    }
}
