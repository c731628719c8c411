//! The hooks of a pool, as its calls meet them. Behind pointers, so that what runs hooks is linked
//! where a pool is given one.

use super::admission::{Admitted, Validate};
use super::hooks::ToolHooks;
use super::{HookCall, Hooks};
use crate::approval::Approver;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::observation::Observation;
use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

/// All hooks of a pool.
pub(crate) trait Around: Send + Sync {
    /// The hooks of one tool, if any runs for it.
    fn of_tool(&self, tool: &str) -> Option<Arc<dyn AroundTool>>;

    /// See [`Hooks::provides`].
    fn provides(&self, tool: &str, id: TypeId) -> bool;

    /// See [`Hooks::idle`].
    fn idle(&self, tools: &[&str]) -> Vec<String>;
}

/// The hooks of one tool.
pub(crate) trait AroundTool: Send + Sync {
    /// Whether a hook looks at the results.
    fn looks_after(&self) -> bool;

    /// See [`ToolHooks::before`].
    fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
    ) -> BoxFuture<'a, Result<Admitted, CallError>>;

    /// See [`ToolHooks::after`].
    fn after(
        &self,
        call: HookCall,
        outcome: Result<Observation, CallError>,
        duration: Duration,
    ) -> BoxFuture<'_, Result<Observation, CallError>>;
}

impl Around for Hooks {
    fn of_tool(&self, tool: &str) -> Option<Arc<dyn AroundTool>> {
        Self::of_tool(self, tool).map(|hooks| Arc::new(hooks) as _)
    }

    fn provides(&self, tool: &str, id: TypeId) -> bool {
        Self::provides(self, tool, id)
    }

    fn idle(&self, tools: &[&str]) -> Vec<String> {
        Self::idle(self, tools)
    }
}

impl AroundTool for ToolHooks {
    fn looks_after(&self) -> bool {
        !self.after.is_empty()
    }

    fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
    ) -> BoxFuture<'a, Result<Admitted, CallError>> {
        Box::pin(Self::before(self, call, approver, validate))
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
