//! The pool that runs a call, as its context reaches it; the depth of nested calls.

use super::{CallStep, Parts, ToolContext};
use std::any::Any;
use std::sync::{Arc, Weak};

/// Limit on the depth of nested calls: endless recursion must end before the stack overflows. With
/// hooks and layers a call takes up to 70 KiB of it in a debug build, and threads of a runtime have
/// 2 MiB.
const MAX_DEPTH: u16 = 16;

fn too_deep() -> String {
    format!("calls nest deeper than {MAX_DEPTH}; do the rest without calling tools")
}

impl ToolContext {
    /// The pool that runs the calls which a tool makes itself.
    pub(crate) fn host<H: Any + Send + Sync>(&self) -> Option<Arc<H>> {
        self.0.host.as_ref()?.upgrade()?.downcast().ok()
    }

    /// The context of calls that this one makes.
    ///
    /// # Errors
    /// The calls would nest too deep; the text is for the model.
    pub(crate) fn nested(&self) -> Result<Self, String> {
        if self.0.depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let parts =
            Parts { call_id: None, receiver: None, file_rules: None, ..Parts::clone(&self.0) };
        Ok(Self(Arc::new(Parts { depth: self.0.depth + 1, ..parts })))
    }

    /// Whether a tool makes the call.
    pub(crate) fn is_nested(&self) -> bool {
        self.0.depth > 0
    }

    /// Whether the context may be passed on to a further call.
    ///
    /// # Errors
    /// The context was passed on too often; the text is for the model.
    pub(crate) fn check_nesting(&self) -> Result<(), String> {
        if self.0.times_passed_on > MAX_DEPTH { Err(too_deep()) } else { Ok(()) }
    }

    /// The context for a further call, which may nest one level deeper, and is not the step of the call around it.
    pub(crate) fn passed_on(mut self) -> Self {
        let parts = self.parts();
        if let Some(CallStep::Running(_)) = parts.step {
            parts.step = None;
        }
        parts.times_passed_on = parts.times_passed_on.saturating_add(1);
        self
    }

    /// The context for work that continues after the call has ended: the same state, principal,
    /// session, execution and pool, without the call's id, step, cancellation, deadline, caller and
    /// declared resources. The labels of the execution still apply.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Arc::new(Parts {
            state: Arc::clone(&self.0.state),
            principal: self.0.principal.clone(),
            session: self.0.session.clone(),
            execution: self.0.execution.clone(),
            host: self.0.host.clone(),
            depth: self.0.depth,
            times_passed_on: self.0.times_passed_on,
            ..Parts::default()
        }))
    }

    /// Whether the calls that a tool makes itself are run by this one.
    pub(crate) fn is_hosted_by<H>(&self, host: &Arc<H>) -> bool {
        let own_host = self.0.host.as_ref().map(|own_host| own_host.as_ptr().cast::<()>());
        own_host == Some(Arc::as_ptr(host).cast::<()>())
    }

    /// Sets the pool for nested calls.
    pub(crate) fn with_host(mut self, host: Weak<dyn Any + Send + Sync>) -> Self {
        self.parts().host = Some(host);
        self
    }

    /// Whether the call is inside the layers of a pool, as is all that its tool calls.
    #[cfg(feature = "tower")]
    pub(crate) fn is_in_layers(&self, pool: usize) -> bool {
        self.0.layers == Some(pool)
    }

    /// The context of a call that has passed the layers of a pool.
    #[cfg(feature = "tower")]
    pub(crate) fn in_layers(mut self, pool: usize) -> Self {
        self.parts().layers = Some(pool);
        self
    }
}
