//! The step that a call is, its execution and its number, as its context has them.

use super::{Execution, StepId, ToolContext};
use crate::vocabulary::sync::lock;
use std::any::Any;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

/// The step in a context.
#[derive(Clone)]
pub(super) enum CallStep {
    /// That of the next call. The first call takes it, whichever copy of the context it has.
    Next(Arc<Mutex<Option<StepId>>>),
    /// That of the call that runs.
    Running(Arc<StepId>),
}

impl ToolContext {
    /// The id of the running call, as its executor sees it: of a call in an [`Execution`](crate::tool::Execution), of one
    /// whose id was made elsewhere, and of one that another process can take up again. `None` for other calls, and for
    /// calls that this one makes until they run with a step of their own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_runtime::tool::Execution;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Send a payment once.
    /// #[tool]
    /// async fn pay(context: &ToolContext) -> Option<String> {
    ///     context.step().map(|step| format!("payment-{step}"))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<PayAction>().build()?;
    /// let key = |context: ToolContext| {
    ///     let pool = pool.clone();
    ///     async move { pool.call_with(ToolCall::new("pay", ""), &context).await.observation().to_text() }
    /// };
    /// let order = || pool.context().in_execution(&Arc::new(Execution::new("order-17")));
    /// assert_eq!(key(order()).await, key(order()).await);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn step(&self) -> Option<&StepId> {
        match &self.0.step {
            Some(CallStep::Running(step)) => Some(step),
            _ => None,
        }
    }

    /// Makes the next call in this context a step that was made elsewhere. It is used once: by the first call in the
    /// context or a copy of it.
    #[must_use]
    #[doc(hidden)]
    pub fn as_step(mut self, step: StepId) -> Self {
        self.parts().step = Some(CallStep::Next(Arc::new(Mutex::new(Some(step)))));
        self
    }

    /// Whether a call in this context is a step, whatever its tool is.
    pub(crate) fn makes_steps(&self) -> bool {
        self.0.execution.is_some() || matches!(self.0.step, Some(CallStep::Next(_)))
    }

    /// Takes the step that was made elsewhere, for a call. The context has none then.
    pub(crate) fn take_step(&mut self) -> Option<StepId> {
        self.0.step.as_ref()?;
        match self.parts().step.take()? {
            CallStep::Next(step) => lock(&step).take(),
            CallStep::Running(_) => None,
        }
    }

    /// The context of the executor of a call that is this step.
    pub(crate) fn within_step(mut self, step: Arc<StepId>) -> Self {
        self.parts().step = Some(CallStep::Running(step));
        self
    }

    /// Whether the context has a step, of its call or of the next one.
    pub(crate) fn has_step(&self) -> bool {
        self.0.step.is_some()
    }

    /// The context without a step.
    pub(crate) fn without_step(mut self) -> Self {
        if self.has_step() {
            self.parts().step = None;
        }
        self
    }
}

impl ToolContext {
    /// Makes the call, and the calls that the tool makes itself, steps of an execution. Default: none.
    #[must_use]
    pub fn in_execution(mut self, execution: &Arc<Execution>) -> Self {
        self.parts().execution = Some(Arc::clone(execution));
        self
    }

    /// The execution that the call is a step of.
    pub fn execution(&self) -> Option<&Arc<Execution>> {
        self.0.execution.as_ref()
    }

    /// Lets the governed calls of this context be continued in a later one.
    #[must_use]
    #[doc(hidden)]
    pub fn with_rounds(mut self, rounds: Arc<dyn Any + Send + Sync>) -> Self {
        self.parts().rounds = Some(rounds);
        self
    }

    pub(crate) fn rounds<R: Any + Send + Sync>(&self) -> Option<Arc<R>> {
        Arc::clone(self.0.rounds.as_ref()?).downcast().ok()
    }

    /// The number of the innermost recorded call around this context.
    pub(crate) fn call_number(&self) -> Option<NonZeroU64> {
        self.0.call_number
    }

    /// The context inside a recorded call.
    pub(crate) fn within_call(mut self, number: NonZeroU64) -> Self {
        self.parts().call_number = Some(number);
        self
    }
}
