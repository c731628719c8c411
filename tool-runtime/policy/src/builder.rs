//! Policies in code.

use crate::index::Index;
use crate::policy::Policy;
use crate::read::{Fault, PolicyError, PolicyProblem};
use crate::rule::Rule;
use std::collections::HashSet;
use std::sync::Arc;
use tool_runtime_core::govern::Effect;

/// Builds a [`Policy`] in code.
#[derive(Debug)]
pub struct PolicyBuilder {
    pub(crate) name: String,
    pub(crate) rules: Vec<Rule>,
    pub(crate) default: (Effect, Option<String>),
}

impl Default for PolicyBuilder {
    fn default() -> Self {
        Self { name: String::new(), rules: Vec::new(), default: (Effect::Deny, None) }
    }
}

impl PolicyBuilder {
    /// Sets the name, which keeps limits of rules of equal ids apart. Default: empty.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a rule after those that are there.
    #[must_use]
    pub fn rule(self, rule: Rule) -> Self {
        let position = self.rules.len();
        self.positioned(Rule { position, ..rule })
    }

    pub(crate) fn positioned(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Allows the calls that no rule matches. Default: they are denied.
    #[must_use]
    pub fn allow_by_default(mut self) -> Self {
        self.default = (Effect::Allow, None);
        self
    }

    /// Sets the reason for denying calls that no rule matches.
    #[must_use]
    pub fn deny_by_default(mut self, reason: impl Into<String>) -> Self {
        self.default = (Effect::Deny, Some(reason.into()));
        self
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// All mistakes: invalid patterns, ids that are empty or not unique.
    pub fn build(mut self) -> Result<Policy, PolicyError> {
        let mut problems: Vec<PolicyProblem> =
            self.rules.iter_mut().flat_map(Rule::take_problems).collect();
        problems.extend(self.repeated());
        if !problems.is_empty() {
            return Err(PolicyError::new(problems));
        }
        self.rules.sort_by_key(|rule| (rule.priority, rule.position));
        self.rules.iter_mut().for_each(|rule| rule.conditions.sort_by_key(|it| it.cost()));
        Ok(Policy {
            name: self.name,
            rules: self.rules,
            default: self.default,
            cases: Vec::new(),
            text: None,
            analyzer: None,
            hides: false,
            index: Index::default(),
        })
    }

    fn repeated(&self) -> Vec<PolicyProblem> {
        let mut ids: HashSet<Arc<str>> = HashSet::new();
        let is_wrong = |rule: &&Rule| rule.id.is_empty() || !ids.insert(Arc::clone(&rule.id));
        let wrong = self.rules.iter().filter(is_wrong);
        wrong
            .map(|rule| {
                let text = format!("the id `{}` is empty, or of an earlier rule", rule.id);
                let fault = Fault::new(text, "give each rule an id of its own");
                fault.of_code(format!("rules[{}].id", rule.position))
            })
            .collect()
    }
}
