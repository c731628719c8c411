//! What a reference parameter may borrow from a context.

use super::{State, ToolContext};
use crate::vocabulary::need::Need;
use crate::vocabulary::principal::Principal;
use std::any::{Any, TypeId, type_name};

/// A type that a reference parameter may borrow: the context, the principal, or state.
///
/// Implemented for every sized type that can be shared between threads, but not for `str` and
/// slices, because an argument must be owned.
#[diagnostic::on_unimplemented(
    message = "a reference parameter is injected, and `{Self}` cannot be",
    label = "not `Sized + Send + Sync + 'static`",
    note = "an argument must be owned: write `String` instead of `&str`, `Vec<T>` instead of `&[T]`",
    note = "state must be shareable between threads: write `&T` for a `T: Send + Sync + 'static` given to the pool by `.state(value)`, as in `&Arc<dyn Trait + Send + Sync>`"
)]
pub trait Injectable {
    /// State that the pool must be given.
    #[doc(hidden)]
    const NEED: Need;

    #[doc(hidden)]
    fn borrow_from(context: &ToolContext) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T: Any + Send + Sync> Injectable for T {
    const NEED: Need = Need::for_type::<T>();

    fn borrow_from(context: &ToolContext) -> &Self {
        match context.own::<T>() {
            Some(own) => own,
            None => context.get::<T>().unwrap_or_else(|| panic!("{}", missing(type_name::<T>()))),
        }
    }
}

fn missing(type_name: &str) -> String {
    format!(
        "no value of type `{type_name}` was given; write `.state(value)` on the pool, or `.with(value)` on the context"
    )
}

impl Need {
    /// The type's name, if neither the state nor every context holds it.
    pub(crate) fn missing_from(self, state: &State) -> Option<&'static str> {
        let is_met = |id| ToolContext::is_own(id) || state.contains(id);
        (!self.type_ids().into_iter().any(is_met)).then(self.name)
    }
}

/// Values that every context has, independent of its state.
impl ToolContext {
    fn is_own(id: TypeId) -> bool {
        id == TypeId::of::<Self>() || id == TypeId::of::<Principal>()
    }

    fn own<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any =
            if TypeId::of::<T>() == TypeId::of::<Principal>() { self.principal() } else { self };
        value.downcast_ref()
    }
}
