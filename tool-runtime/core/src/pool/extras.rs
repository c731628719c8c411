//! Values that other crates keep in a pool: the commands of its program.

use std::any::Any;

/// Values of other crates, in the order they were added.
#[derive(Default)]
pub(super) struct Extras(Vec<Box<dyn Any + Send + Sync>>);

impl Extras {
    pub(super) fn push(&mut self, value: impl Any + Send + Sync) {
        self.0.push(Box::new(value));
    }

    /// The values of a type.
    pub(super) fn iter<T: Any>(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|value| value.downcast_ref::<T>())
    }
}
