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
    /// What to write for a type that is missing.
    pub(crate) fn remedy(&self, type_name: &str) -> String {
        const OF_CONTEXT: [(&str, &str); 3] = [
            ("::CancellationToken", "context.cancelled()"),
            ("::ToolPool", "context.pool()"),
            ("::Session", "context.session()"),
        ];
        let of_context = OF_CONTEXT.iter().find(|(name, _)| type_name.ends_with(name));
        if let Some((_, method)) = of_context {
            return format!(
                "it is a part of the context: write `context: &ToolContext` and `{method}`"
            );
        }
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
        let inner = type_name.split(|c| !is_path(c)).rfind(|path| !path.is_empty());
        let is_like = |given: &&&str| {
            given.contains(type_name) || inner.is_some_and(|inner| **given == inner)
        };
        if let Some(given) = self.names.iter().find(is_like) {
            return format!(
                "it has a `{given}`; give or borrow the same type, with `?` or `.await` if it is still a result or a future"
            );
        }
        if self.names.iter().any(|given| given.ends_with("{{closure}}")) {
            return "a future was given as state; add `.await` to it".to_owned();
        }
        "add `.state(value)` to the pool, or `state = value` to `main!`, or `.provides::<T>()` to the hook that provides it; or, if it is an argument, take it without `&`".to_owned()
    }

    /// Adds a value; a second one of the same type replaces the first and gives `false`.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) -> bool {
        self.names.push(type_name::<T>());
        self.values.insert(TypeId::of::<T>(), Arc::new(value)).is_none()
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.values.contains_key(&id)
    }

    /// A `T`, or else the inside of an `Arc<T>`.
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
