//! Policies about each file of a call that reads many.

use super::hook::HookCall;
use super::policy::{Effect, PolicyEngine};
use super::question::Question;
use super::step::Step;
use crate::tool::context::FileRules;
use crate::vocabulary::error::caught;
use std::path::Path;
use std::sync::Arc;

/// Decides which files a call may read, for a tool that [asks about each](crate::tool::Tool::checks_files).
pub(crate) struct FilePolicies {
    call: HookCall,
    policies: Vec<Arc<dyn PolicyEngine>>,
    /// The questions about the call itself, which people have approved.
    asked: Vec<Question>,
}

impl FilePolicies {
    /// `None` if no policy decides by files.
    pub(crate) fn of_step(step: &Step) -> Option<Self> {
        let policies = step.governors.policies.iter().filter(|policy| policy.reads_files());
        let policies: Vec<_> = policies.cloned().collect();
        let (call, asked) = (step.call.clone(), step.policies_asked.clone());
        (!policies.is_empty()).then_some(Self { call, policies, asked })
    }
}

/// The policies allow the call if it reads this file, or ask what a person has approved for the whole call. A policy that
/// panics denies.
impl FileRules for FilePolicies {
    fn allow(&self, path: &Path, is_resolved: bool) -> bool {
        let call = self.call.reading(path, is_resolved);
        let view = call.view();
        self.policies.iter().all(|policy| {
            let Ok(decision) = caught(|| policy.decide(&view)) else { return false };
            match decision.effect() {
                Effect::Allow => true,
                Effect::Ask => {
                    let question = Question::from(&decision);
                    let is_it = |asked: &Question| {
                        asked.rule == question.rule && asked.approvers == question.approvers
                    };
                    self.asked.iter().any(is_it)
                }
                Effect::Deny => false,
            }
        })
    }
}
