//! A handle's own view of a pool: the stack of restrictions that narrow it. Methods of the handle are in `handle/restrict`.

use super::attached::Attached;
use super::core::{Core, View};
use super::declared::Resolver;
use super::snapshot::{Snapshot, Visibility, both};
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::principal::Principal;
use crate::vocabulary::sync::lock;
use arc_swap::{ArcSwapOption, Guard};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The view of one handle and its clones.
pub(crate) struct Scope {
    pub(super) core: Arc<Core>,
    pub(super) attached: Attached,
    /// The scope that bounds it, besides the filter.
    parent: Option<Arc<Scope>>,
    /// The context of calls without one of their own.
    pub(super) context: ToolContext,
    is_restricted: AtomicBool,
    stack: Mutex<Stack>,
    /// `None` without restrictions, and after a change of the pool until the next read: it must
    /// not keep removed tools alive.
    view: ArcSwapOption<Narrowed>,
    /// The tools that the policies show to the principal of this scope, cleared as `view` is.
    visible: ArcSwapOption<Narrowed>,
}

/// The active restrictions, the innermost last.
#[derive(Default)]
struct Stack {
    entries: Vec<Entry>,
    next_id: u64,
}

struct Entry {
    id: u64,
    narrowing: Narrowing,
    replaces: bool,
}

/// The tools that a restriction lets through.
pub(super) enum Narrowing {
    Patterns(Vec<ToolPattern>),
    Declared(Arc<Resolver>),
}

/// The tools that the stack leaves of a snapshot.
struct Narrowed {
    /// The source snapshot; a newer one makes this one stale.
    base: Arc<Snapshot>,
    snapshot: Arc<Snapshot>,
}

impl Stack {
    /// The active entries, the innermost first, up to one that replaces all entries below it.
    fn effective(&self) -> impl Iterator<Item = &Entry> {
        let replaced = self.entries.iter().rposition(|entry| entry.replaces).unwrap_or(0);
        self.entries[replaced..].iter().rev()
    }

    /// The entry that hides a tool, if one does.
    fn hides(&self, tool: &Tool, of: &Snapshot) -> Option<&Entry> {
        self.effective()
            .find(|entry| matches!(entry.narrowing.visibility(tool, of), Visibility::Hidden))
    }

    fn visibility(&self, tool: &Tool, of: &Snapshot) -> Visibility {
        let mut rule = None;
        for entry in self.effective() {
            match entry.narrowing.visibility(tool, of) {
                Visibility::Hidden => return Visibility::Hidden,
                Visibility::Visible => {}
                Visibility::Checked(inner) => rule = both(rule, Some(inner)),
            }
        }
        rule.map_or(Visibility::Visible, Visibility::Checked)
    }
}

impl Narrowing {
    fn visibility(&self, tool: &Tool, of: &Snapshot) -> Visibility {
        match self {
            Self::Patterns(patterns) => {
                match patterns.iter().any(|pattern| pattern.matches(tool.name())) {
                    true => Visibility::Visible,
                    false => Visibility::Hidden,
                }
            }
            Self::Declared(declared) => declared.visibility(tool, of),
        }
    }
}

impl Scope {
    pub(super) fn new(core: Arc<Core>, parent: Option<Arc<Self>>, context: ToolContext) -> Self {
        Self {
            core,
            attached: Attached::default(),
            parent,
            context,
            is_restricted: AtomicBool::new(false),
            stack: Mutex::default(),
            view: ArcSwapOption::empty(),
            visible: ArcSwapOption::empty(),
        }
    }

    /// The visible tools: without restrictions, one atomic load.
    pub(super) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        if self.is_restricted.load(Ordering::Acquire) {
            return Guard::from_inner(self.restricted_snapshot());
        }
        self.base()
    }

    /// The tools that the principal of this scope sees in lists. Calls look tools up in
    /// [`Self::snapshot`], so that a hidden one is denied with a reason.
    pub(super) fn listing(&self) -> Arc<Snapshot> {
        let callable = Guard::into_inner(self.snapshot());
        match self.visibility() {
            Some(sees) => self.visible(callable, sees),
            None => callable,
        }
    }

    /// Whether a principal sees a tool: it has the scopes, and no policy hides it. `None` if all
    /// principals see all tools.
    pub(super) fn visibility(&self) -> Option<impl Fn(&ToolDefinition, &Principal) -> bool + '_> {
        let governors = &self.core.governance().governors;
        if !governors.has_policies() && !self.snapshot().has_scopes() {
            return None;
        }
        Some(move |tool: &ToolDefinition, principal: &Principal| {
            principal.may_use(tool) && governors.sees(tool, principal)
        })
    }

    /// Policies are asked each time, since their decisions may change. While these stay the same, so
    /// does the snapshot, with its exports.
    fn visible(
        &self,
        callable: Arc<Snapshot>,
        sees: impl Fn(&ToolDefinition, &Principal) -> bool,
    ) -> Arc<Snapshot> {
        let principal = self.context.principal();
        let seen = callable.tools().iter().map(|tool| sees(tool.definition(), principal));
        let seen: Vec<bool> = seen.collect();
        if seen.iter().all(|seen| *seen) {
            return callable;
        }
        let mut each = callable.tools().iter().zip(&seen);
        let names: Vec<&str> =
            each.by_ref().filter(|(_, seen)| **seen).map(|(tool, _)| tool.name()).collect();
        let is_same = |known: &&Arc<Narrowed>| {
            Arc::ptr_eq(&known.base, &callable)
                && known.snapshot.tools().iter().map(Tool::name).eq(names.iter().copied())
        };
        if let Some(known) = self.visible.load().as_ref().filter(is_same) {
            return Arc::clone(&known.snapshot);
        }
        let narrowed = callable.narrowed(|tool| match names.binary_search(&tool.name()) {
            Ok(_) => Visibility::Visible,
            Err(_) => Visibility::Hidden,
        });
        let snapshot = Arc::new(narrowed);
        let view = Narrowed { base: Arc::clone(&callable), snapshot: Arc::clone(&snapshot) };
        self.visible.store(Some(Arc::new(view)));
        snapshot
    }

    fn base(&self) -> Guard<Arc<Snapshot>> {
        match &self.parent {
            None => self.core.snapshot().load(),
            Some(parent) => parent.snapshot(),
        }
    }

    fn restricted_snapshot(&self) -> Arc<Snapshot> {
        let base = self.base();
        let view = self.view.load();
        if let Some(view) = view.as_ref().filter(|view| Arc::ptr_eq(&view.base, &base)) {
            return Arc::clone(&view.snapshot);
        }
        drop((base, view));
        let stack = self.stack();
        let (snapshot, stale) = self.remake(&stack);
        drop(stack);
        drop(stale);
        snapshot
    }

    /// Makes the view of a locked stack. The snapshot is taken under the lock, so the view stored
    /// last belongs to the newest stack. The caller drops the replaced view after unlocking:
    /// tools may end with it.
    fn remake(&self, stack: &Stack) -> (Arc<Snapshot>, Option<Arc<Narrowed>>) {
        let base = Arc::clone(&self.base());
        if base.is_closed() || stack.entries.is_empty() {
            return (base, self.view.swap(None));
        }
        let snapshot = Arc::new(base.narrowed(|tool| stack.visibility(tool, &base)));
        let view = Narrowed { base, snapshot: Arc::clone(&snapshot) };
        (snapshot, self.view.swap(Some(Arc::new(view))))
    }

    fn push(&self, narrowing: Narrowing, replaces: bool) -> u64 {
        let mut stack = self.stack();
        let id = stack.next_id;
        stack.next_id += 1;
        stack.entries.push(Entry { id, narrowing, replaces });
        self.remake_and_notify(stack);
        id
    }

    fn pop(&self, id: u64) {
        let mut stack = self.stack();
        stack.entries.retain(|entry| entry.id != id);
        self.remake_and_notify(stack);
    }

    fn remake_and_notify(&self, stack: MutexGuard<'_, Stack>) {
        let stale = self.remake(&stack);
        self.is_restricted.store(!stack.entries.is_empty(), Ordering::Release);
        drop(stack);
        drop(stale);
        self.core.notify(&|news| news.view = true);
    }

    /// The restriction that hides a tool of the pool from this scope, as text.
    pub(super) fn restriction(&self, tool: &Tool) -> Option<String> {
        let base = Arc::clone(&self.base());
        let own = self.stack().hides(tool, &base).map(Entry::to_string);
        own.or_else(|| self.parent.as_ref()?.restriction(tool))
    }

    fn stack(&self) -> MutexGuard<'_, Stack> {
        lock(&self.stack)
    }
}

impl View for Scope {
    /// Waits for a view that is being made.
    fn renew(&self) {
        let stack = self.stack();
        let stale = (self.view.swap(None), self.visible.swap(None));
        drop(stack);
        drop(stale);
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns = match &self.narrowing {
            Narrowing::Declared(declared) => return declared.fmt(f),
            Narrowing::Patterns(patterns) => patterns,
        };
        let patterns: Vec<String> = patterns.iter().map(|p| format!("`{p}`")).collect();
        match patterns.as_slice() {
            [] => f.write_str("nothing"),
            some => f.write_str(&some.join(", ")),
        }
    }
}

/// A restriction that is active until this is dropped.
#[derive(Debug)]
#[must_use = "the restriction ends when this is dropped"]
pub struct Restriction {
    scope: Weak<Scope>,
    id: u64,
}

impl Restriction {
    /// Pushes a restriction.
    pub(super) fn new(scope: &Arc<Scope>, to: Narrowing, replaces: bool) -> Self {
        Self { scope: Arc::downgrade(scope), id: scope.push(to, replaces) }
    }
}

impl Drop for Restriction {
    fn drop(&mut self) {
        if let Some(scope) = self.scope.upgrade() {
            scope.pop(self.id);
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("tools", &*self.snapshot()).finish_non_exhaustive()
    }
}
