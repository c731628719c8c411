//! Everything that governs the calls of a pool, besides its hooks.

use super::limiter::Limiter;
use super::policy::PolicyEngine;
use super::recorder::Recorder;
use super::step_store::StepStore;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::caught;
use crate::vocabulary::principal::Principal;
use std::sync::Arc;

/// Everything that governs the calls of a pool, besides its hooks.
#[derive(Clone, Default)]
pub(crate) struct Governors {
    pub(crate) policies: Vec<Arc<dyn PolicyEngine>>,
    pub(crate) limiter: Option<Arc<dyn Limiter>>,
    pub(crate) recorders: Vec<Arc<dyn Recorder>>,
    pub(crate) steps: Option<Arc<dyn StepStore>>,
}

impl Governors {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        let is_unobserved = self.recorders.is_empty() && self.steps.is_none();
        self.policies.is_empty() && self.limiter.is_none() && is_unobserved
    }

    /// Whether lists may differ between callers.
    pub(crate) fn has_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Whether a caller sees a tool.
    pub(crate) fn sees(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        self.policies.iter().all(|policy| {
            caught(|| policy.visible(tool, principal)).unwrap_or_else(|panic| {
                tracing::error!(
                    tool = tool.name,
                    "a policy panicked, so the tool is hidden: {panic}"
                );
                false
            })
        })
    }
}
