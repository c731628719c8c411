//! A call as hooks, policies and records see it.

use super::guard;
use super::resolve::shut_down;
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::governance::{Governed, RoundGuard};
use crate::hook::{Admitted, Admitting, ErasedToolHooks, HookCall};
use crate::observation::Observation;
use crate::pool::ToolPool;
use crate::tool::Tool;
use crate::toolset::Instance;
use futures_util::future::Either;
use std::future::poll_fn;
use std::num::NonZeroU64;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// The hooks of a tool, and the call as they see it.
pub(super) struct HookedCall<'a> {
    hooks: &'a dyn ErasedToolHooks,
    pub(super) call: HookCall,
    /// The call as policies, limits and records see it.
    governed: Option<RoundGuard>,
}

impl<'a> HookedCall<'a> {
    pub(super) fn new(
        pool: &ToolPool,
        hooks: &'a dyn ErasedToolHooks,
        mut call: HookCall,
        context: &ToolContext,
    ) -> Self {
        let seams = pool.governance().seams.clone();
        let governed = seams.map(|seams| RoundGuard::enter(seams, &mut call, context));
        Self { hooks, call, governed }
    }

    /// Whether hooks or records see the outcome.
    pub(super) fn reads_outcome(&self) -> bool {
        self.hooks.reads_results() || self.is_governed()
    }

    /// Whether policies, limits or records apply.
    pub(super) fn is_governed(&self) -> bool {
        self.governed.is_some()
    }

    /// The number under which the call is recorded.
    pub(super) fn number(&self) -> Option<NonZeroU64> {
        self.governed.as_ref().map(|_| self.call.view().number().0)
    }

    /// Asks policies, hooks and the approver, see [`ToolPool::ask_hooks`].
    pub(super) async fn admit(
        &mut self,
        pool: &ToolPool,
        tool: &Tool,
        context: &ToolContext,
    ) -> Result<Admitted, CallError> {
        let governed = self.governed.as_mut().and_then(|guard| guard.call.as_mut());
        pool.ask_hooks(tool, self.hooks, &mut self.call, governed, context).await
    }

    /// Records that the tool starts. A call that cannot be recorded does not run. `Some`: the record must be
    /// waited for.
    pub(super) fn start<'s>(
        &'s mut self,
        (pool, tool): (&'s ToolPool, &'s Tool),
        instance: Option<&'s Instance>,
        context: &'s ToolContext,
    ) -> Result<Option<BoxFuture<'s, Result<(), CallError>>>, CallError> {
        let governed = self.governed.as_mut().and_then(|guard| guard.call.as_mut());
        let Some(governed) = governed else { return Ok(None) };
        guard::check_open(pool, instance)?;
        guard::check_time(tool.name(), context)?;
        match governed.start(&self.call) {
            Either::Left(recorded) => recorded.into_inner().map(|()| None),
            Either::Right(recorded) => Ok(Some(Box::pin(async move {
                let recorded = pin!(guard::waiting(recorded, tool.name(), context));
                guard::while_open(pool, instance, recorded).await
            }))),
        }
    }

    /// Shows the outcome to the after-hooks, which may replace it, and records it.
    pub(super) async fn finish(
        &mut self,
        pool: &ToolPool,
        mut outcome: Result<Observation, CallError>,
        duration: Option<Duration>,
        is_replayed: bool,
    ) -> Result<Observation, CallError> {
        if self.hooks.reads_results() && !is_replayed {
            let (call, duration) = (self.call.clone(), duration.unwrap_or_default());
            outcome = self.hooks.after(call, outcome, duration).await;
            outcome = pool.governance().masked(outcome);
        }
        if let Some(governed) = self.governed.as_mut().and_then(|guard| guard.call.as_mut()) {
            governed.finish(&self.call, &outcome, duration).await;
        }
        outcome
    }
}

impl ToolPool {
    /// Runs the before-hooks. They may ask a person, so they end with the call. `call` keeps what the
    /// hooks changed, also if they reject it.
    pub(super) async fn ask_hooks(
        &self,
        tool: &Tool,
        hooks: &dyn ErasedToolHooks,
        call: &mut HookCall,
        governed: Option<&mut Governed>,
        context: &ToolContext,
    ) -> Result<Admitted, CallError> {
        let approver = self.governance().approver.as_ref();
        let validate = |tool: &Tool, rewritten: &str| tool.decode(rewritten).map(drop);
        if self.is_closing() {
            return Err(shut_down());
        }
        guard::check_time(tool.name(), context)?;
        // Polled without a future of its own: most hooks do not wait.
        let mut arguments = Some((call, governed));
        let asked = poll_fn(|waker| {
            let asked = arguments
                .take()
                .map(|(call, governed)| hooks.before(call, approver, validate, governed, waker));
            Poll::Ready(asked.expect("polled once"))
        });
        match asked.await {
            Admitting::Done(admitted) => admitted,
            Admitting::Waiting(asked) => {
                let asked = Box::pin(guard::waiting(asked, tool.name(), context));
                guard::while_open(self, None, asked).await
            }
        }
    }
}
