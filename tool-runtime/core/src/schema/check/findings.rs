//! Results of a walk: issues, and the evaluated parts of the value.

use std::collections::{BTreeSet, HashSet};

use crate::issue::Issue;

/// A model corrects a few mistakes at a time; more would only bury them.
pub(crate) const MAX_ISSUES: usize = 32;

/// The outcome of one or more subschemas for one value.
#[derive(Debug, Default)]
pub(super) struct Findings<'v> {
    issues: Vec<Issue>,
    /// For `unevaluatedProperties` and `unevaluatedItems`.
    pub(super) seen: Seen<'v>,
}

impl<'v> Findings<'v> {
    /// Notes an issue, unless it is known already or there are enough.
    pub(super) fn add(&mut self, issue: Issue) {
        if !self.is_full() && !self.issues.contains(&issue) {
            self.issues.push(issue);
        }
    }

    /// Notes several issues.
    pub(super) fn add_all(&mut self, issues: impl IntoIterator<Item = Issue>) {
        for issue in issues {
            self.add(issue);
        }
    }

    /// Whether the value conforms so far.
    pub(super) fn is_clean(&self) -> bool {
        self.issues.is_empty()
    }

    /// Whether no further issue would be taken, so that nobody needs to look for one.
    pub(super) fn is_full(&self) -> bool {
        self.issues.len() >= MAX_ISSUES
    }

    /// The issues so far.
    pub(super) fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Runs `walk` on a part of the value, whose own parts are none of this value's.
    pub(super) fn descend(&mut self, walk: impl FnOnce(&mut Findings<'v>)) {
        let outer = std::mem::take(&mut self.seen);
        walk(self);
        self.seen = outer;
    }

    /// The issues, and with them, however many there are, the reason why the walk did not get to its end.
    pub(super) fn into_issues(mut self, gave_up: Option<Issue>) -> Vec<Issue> {
        if let Some(issue) = gave_up {
            self.issues.truncate(MAX_ISSUES - 1);
            self.issues.push(issue);
        }
        self.issues
    }
}

/// The properties and items of a value that some subschema has evaluated, in the standard's sense of the word.
#[derive(Debug, Default)]
pub(super) struct Seen<'v> {
    names: HashSet<&'v str>,
    first_items: usize,
    other_items: BTreeSet<usize>,
}

impl<'v> Seen<'v> {
    /// The property `name` is evaluated.
    pub(super) fn name(&mut self, name: &'v str) {
        self.names.insert(name);
    }

    /// The first `count` items are evaluated.
    pub(super) fn items_before(&mut self, count: usize) {
        self.first_items = self.first_items.max(count);
    }

    /// The item at `index` is evaluated.
    pub(super) fn item(&mut self, index: usize) {
        self.other_items.insert(index);
    }

    /// Whether the property `name` is evaluated.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether the item at `index` is evaluated.
    pub(super) fn has_item(&self, index: usize) -> bool {
        index < self.first_items || self.other_items.contains(&index)
    }

    /// Takes over what another subschema has evaluated of the same value.
    pub(super) fn merge(&mut self, other: Seen<'v>) {
        self.names.extend(other.names);
        self.first_items = self.first_items.max(other.first_items);
        self.other_items.extend(other.other_items);
    }
}
