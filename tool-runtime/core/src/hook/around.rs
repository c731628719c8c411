//! The hooks of a pool, as its calls meet them.

use super::admission::{Admitted, Validate};
use super::{HookCall, Hooks};
use crate::approval::Approver;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::observation::Observation;
use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

/// The hooks of a pool, as its calls meet them. Behind a pointer, so that what runs hooks is
/// linked where a pool is given one.
pub(crate) trait Around: Send + Sync {
    /// See [`Hooks::concerns`].
    fn concerns(&self, tool: &str) -> bool;

    /// See [`Hooks::looks_after`].
    fn looks_after(&self, tool: &str) -> bool;

    /// See [`Hooks::provides`].
    fn provides(&self, tool: &str, id: TypeId) -> bool;

    /// See [`Hooks::idle`].
    fn idle(&self, tools: &[&str]) -> Vec<String>;

    /// See [`Hooks::before`].
    fn before<'a>(
        &'a self,
        call: &'a mut HookCall,
        approver: Option<&'a Arc<dyn Approver>>,
        validate: Validate,
    ) -> BoxFuture<'a, Result<Admitted, CallError>>;

    /// See [`Hooks::after`].
    fn after(
        &self,
        call: HookCall,
        outcome: Result<Observation, CallError>,
        duration: Duration,
    ) -> BoxFuture<'_, Result<Observation, CallError>>;
}

impl Around for Hooks {
    fn concerns(&self, tool: &str) -> bool {
        Self::concerns(self, tool)
    }

    fn looks_after(&self, tool: &str) -> bool {
        Self::looks_after(self, tool)
    }

    fn provides(&self, tool: &str, id: TypeId) -> bool {
        Self::provides(self, tool, id)
    }

    fn idle(&self, tools: &[&str]) -> Vec<String> {
        Self::idle(self, tools)
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
