//! What a call holds while it runs: declared resources and guards.

use super::{Parts, ToolContext};
use crate::tool::concurrency::schedule::{Held, Link};
use std::any::Any;
use std::sync::{Arc, Weak};

/// The guards of a call, which its blocking functions keep.
#[derive(Clone, Default)]
pub(super) enum Guards {
    #[default]
    None,
    /// Only the declared resources.
    Held,
    Own(Weak<dyn Any + Send + Sync>),
}

impl ToolContext {
    /// The context of a call that holds declared resources, and their guard; nested calls share them.
    pub(crate) fn hold(&self, held: Held) -> (Self, Arc<dyn Any + Send + Sync>) {
        let (link, outer) = (held.link(), self.guards());
        let (guards, guard) = match outer {
            None => (Guards::Held, held.into_guard()),
            Some(outer) => {
                let guard: Arc<dyn Any + Send + Sync> = Arc::new((held, outer));
                (Guards::Own(Arc::downgrade(&guard)), guard)
            }
        };
        let held = Some(link);
        (Self(Arc::new(Parts { held, guards, ..Parts::clone(&self.0) })), guard)
    }

    pub(crate) fn held(&self) -> Option<&Link> {
        self.0.held.as_ref()
    }

    /// Adds a guard, which is kept as long as the call runs: until the returned value is dropped and
    /// no blocking function of the call runs any more.
    pub(crate) fn with_guard(
        mut self,
        guard: impl Any + Send + Sync,
    ) -> (Self, Arc<dyn Any + Send + Sync>) {
        let guards: Arc<dyn Any + Send + Sync> = Arc::new((guard, self.guards()));
        self.parts().guards = Guards::Own(Arc::downgrade(&guards));
        (self, guards)
    }

    /// The guards of the call, for a blocking function to keep.
    pub(crate) fn guards(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        match &self.0.guards {
            Guards::None => None,
            Guards::Held => self.0.held.as_ref()?.guard(),
            Guards::Own(guards) => guards.upgrade(),
        }
    }
}
