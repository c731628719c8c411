//! Results of a walk: issues, and the evaluated properties of the value.

use std::collections::HashSet;

use crate::vocabulary::error::Issue;

/// Limit on the issues of one call: a model corrects a few mistakes at a time.
pub(crate) const MAX_ISSUES: usize = 32;

/// The outcome of one or more subschemas for one value.
#[derive(Debug, Default)]
pub(super) struct Findings<'v> {
    issues: Vec<Issue>,
    /// The properties of the current value that a subschema has evaluated, for `unevaluatedProperties`.
    pub(super) evaluated: HashSet<&'v str>,
}

impl<'v> Findings<'v> {
    /// Adds an issue, unless it is known or the limit is reached.
    pub(super) fn add(&mut self, issue: Issue) {
        if !self.is_full() && !self.issues.contains(&issue) {
            self.issues.push(issue);
        }
    }

    /// Adds several issues.
    pub(super) fn add_all(&mut self, issues: impl IntoIterator<Item = Issue>) {
        for issue in issues {
            self.add(issue);
        }
    }

    /// Whether the value conforms so far.
    pub(super) fn is_clean(&self) -> bool {
        self.issues.is_empty()
    }

    /// Whether the limit is reached, so that the walk can stop.
    pub(super) fn is_full(&self) -> bool {
        self.issues.len() >= MAX_ISSUES
    }

    /// The issues so far.
    pub(super) fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Runs `walk` on a part of the value, with separate evaluated properties.
    pub(super) fn descend(&mut self, walk: impl FnOnce(&mut Findings<'v>)) {
        let outer = std::mem::take(&mut self.evaluated);
        walk(self);
        self.evaluated = outer;
    }

    /// The issues, the last of which is the reason why the walk stopped early, if it did.
    pub(super) fn into_issues(mut self, gave_up: Option<Issue>) -> Vec<Issue> {
        if let Some(issue) = gave_up {
            self.issues.truncate(MAX_ISSUES - 1);
            self.issues.push(issue);
        }
        self.issues
    }
}
