//! Prompts and resources, which have their arguments, completion and builder in common.
//!
//! | Module | Topic |
//! |---|---|
//! | `prompt`, `resource` | the two kinds |
//! | `text_arguments`, `text_input` | arguments as text by name; read for an action, checked for a closure |
//! | `completion` | completes an argument while a user types it |
//! | `builder`, `text_handler` | start an offering from a closure |

mod builder;
pub(crate) mod completion;
pub mod prompt;
pub mod resource;
pub(crate) mod text_arguments;
mod text_handler;
mod text_input;

pub use builder::OfferingBuilder;
pub use text_handler::TextHandler;
pub(crate) use text_input::{TextInput, check};

use crate::tool::tool::Origin;
use crate::vocabulary::error::{CallError, ToolError};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::need::Need;
use completion::Completers;
use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

/// A definition and its implementation: a prompt or a resource.
pub(crate) struct Offering<D, R: ?Sized> {
    pub(crate) definition: D,
    pub(crate) terms: OfferingProperties,
    pub(crate) run: Box<R>,
}

impl<D, R: ?Sized> Offering<D, R> {
    /// Sets the location in the source code. Called before it is shared.
    pub(crate) fn at(mut this: Arc<Self>, origin: Origin) -> Arc<Self> {
        if let Some(own) = Arc::get_mut(&mut this) {
            own.terms.origin = Some(origin);
        }
        this
    }

    /// Whether both are the same offering, from any source.
    pub(crate) fn is_same(this: &Arc<Self>, other: &Arc<Self>) -> bool {
        let action = this.terms.action;
        action.is_some() && action == other.terms.action || Arc::ptr_eq(this, other)
    }
}

/// Properties of a prompt or a resource that the pool needs.
#[derive(Default)]
pub(crate) struct OfferingProperties {
    pub(crate) needs: &'static [Need],
    pub(crate) timeout: Option<Duration>,
    pub(crate) completers: Completers,
    pub(crate) action: Option<TypeId>,
    pub(crate) origin: Option<Origin>,
}

/// An action that runs.
pub(crate) type Running<'a, T> = BoxFuture<'a, Result<T, ToolError>>;

/// The result of a request.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, CallError>>;
