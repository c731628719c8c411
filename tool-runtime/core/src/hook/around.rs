//! The hooks of a pool as trait objects, so that the code that runs hooks is linked only where a pool has one.

use super::admission::{Admitting, Validate};
use super::hooks::ToolHooks;
use super::{Hook, HookCall, Hooks};
use crate::approval::Approver;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::governance::Governed;
use crate::observation::Observation;
use std::any::TypeId;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

/// All hooks of a pool.
pub(crate) trait ErasedHooks: Send + Sync {
    /// The hooks that run for a tool, if there are any.
    fn of_tool(&self, tool: &str) -> Option<Arc<dyn ErasedToolHooks>>;

    /// Whether a hook that runs before this tool's calls declares that it provides the type.
    fn provides(&self, tool: &str, id: TypeId) -> bool;

    /// The hooks that run for none of these tools, which is most likely a mistake.
    fn idle(&self, tools: &[&str]) -> Vec<String>;
}

/// The hooks of one tool.
pub(crate) trait ErasedToolHooks: Send + Sync {
    /// Whether a hook reads the results.
    fn reads_results(&self) -> bool;

    /// See [`ToolHooks::before`].
    fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
        governed: Option<&'a mut Governed>,
        waker: &mut Context<'_>,
    ) -> Admitting<'a>;

    /// See [`ToolHooks::after`].
    fn after(
        &self,
        call: HookCall,
        outcome: Result<Observation, CallError>,
        duration: Duration,
    ) -> BoxFuture<'_, Result<Observation, CallError>>;
}

impl ErasedHooks for Hooks {
    fn of_tool(&self, tool: &str) -> Option<Arc<dyn ErasedToolHooks>> {
        self.of(tool).map(|hooks| Arc::new(hooks) as _)
    }

    fn provides(&self, tool: &str, id: TypeId) -> bool {
        self.list.iter().any(|hook| hook.concerns(tool) && hook.declares_type(id))
    }

    fn idle(&self, tools: &[&str]) -> Vec<String> {
        let is_idle = |hook: &&Arc<Hook>| !tools.iter().any(|tool| hook.concerns(tool));
        self.list.iter().filter(is_idle).map(|hook| hook.to_string()).collect()
    }
}

impl ErasedToolHooks for ToolHooks {
    fn reads_results(&self) -> bool {
        !self.after.is_empty()
    }

    fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
        governed: Option<&'a mut Governed>,
        waker: &mut Context<'_>,
    ) -> Admitting<'a> {
        Self::before(self, call, approver, validate, governed, waker)
    }

    fn after(
        &self,
        call: HookCall,
        outcome: Result<Observation, CallError>,
        duration: Duration,
    ) -> BoxFuture<'_, Result<Observation, CallError>> {
        Box::pin(Self::after(self, call, outcome, duration))
    }
}
