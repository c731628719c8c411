//! The state of a context: values by type.

use super::{Parts, ToolContext};
use crate::vocabulary::mask::Mask;
use hashbrown::HashMap;
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// Values by type, shared by all calls of one pool.
#[derive(Clone, Default)]
pub(crate) struct State {
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>, foldhash::fast::RandomState>,
    /// The names of the types.
    names: Vec<&'static str>,
    /// Masks the secrets of the pool.
    pub(crate) mask: Option<Arc<dyn Mask>>,
}

impl State {
    /// The names of the types of all values, as the compiler prints them.
    pub(crate) fn type_names(&self) -> &[&'static str] {
        &self.names
    }

    /// Adds a value; a second one of the same type replaces the first and gives `false`.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) -> bool {
        self.names.push(type_name::<T>());
        self.values.insert(TypeId::of::<T>(), Arc::new(value)).is_none()
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.values.contains_key(&id)
    }

    /// A `T`, or else the value in an `Arc<T>`.
    fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        match self.values.get(&TypeId::of::<T>()) {
            Some(value) => value.downcast_ref(),
            None => {
                self.values.get(&TypeId::of::<Arc<T>>())?.downcast_ref::<Arc<T>>().map(|v| &**v)
            }
        }
    }
}

/// Shows only the number of values, which may be secret.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State({} values)", self.values.len())
    }
}

impl ToolContext {
    /// A context over the given state.
    pub(crate) fn with_state(state: State) -> Self {
        Self(Arc::new(Parts { state: Arc::new(state), ..Parts::default() }))
    }

    /// Adds a value of state: for one call, as in `pool.context().with(user)`, or for a test that
    /// calls a function without a pool. The pool is built without it, so a tool that borrows it
    /// needs a value there, or a hook that provides it.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.parts().state).insert(value);
        self
    }

    /// Adds a boxed value of the type with this id.
    pub(crate) fn insert_erased(&mut self, id: TypeId, value: Arc<dyn Any + Send + Sync>) {
        Arc::make_mut(&mut self.parts().state).values.insert(id, value);
    }

    /// A value of state by its type, if the pool was given a `T` or an `Arc<T>`.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.state.get()
    }

    /// Masks the secrets of the pool, if it has some.
    pub(crate) fn mask(&self) -> Option<&dyn Mask> {
        self.0.state.mask.as_deref()
    }
}
