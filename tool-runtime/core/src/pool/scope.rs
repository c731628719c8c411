//! A handle's own view of a pool: the stack of restrictions that narrow it.

use super::core::Core;
use super::{Snapshot, ToolPool};
use crate::context::ToolContext;
use crate::pattern::ToolPattern;
use crate::sync::lock;
use arc_swap::{ArcSwapOption, Guard};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// What one handle and its clones see.
pub(crate) struct Scope {
    pub(super) core: Arc<Core>,
    /// What bounds it beside the filter.
    parent: Option<Arc<Scope>>,
    /// What calls without a context of their own share.
    pub(super) context: ToolContext,
    is_restricted: AtomicBool,
    stack: Mutex<Stack>,
    /// None without restrictions, and after a change of the pool until somebody looks: tools
    /// that are removed must not live on in it.
    view: ArcSwapOption<View>,
}

/// The restrictions in force, the innermost last.
#[derive(Default)]
struct Stack {
    entries: Vec<Entry>,
    next_id: u64,
}

struct Entry {
    id: u64,
    patterns: Vec<ToolPattern>,
    replaces: bool,
}

/// What the stack leaves of a snapshot.
struct View {
    /// What it was made from; another one makes it stale.
    base: Arc<Snapshot>,
    snapshot: Arc<Snapshot>,
}

impl Stack {
    /// What hides a tool, if something does: each entry narrows what is below it, up to one
    /// that sets the visible tools anew.
    fn hides(&self, name: &str) -> Option<&Entry> {
        for entry in self.entries.iter().rev() {
            if !entry.patterns.iter().any(|pattern| pattern.matches(name)) {
                return Some(entry);
            }
            if entry.replaces {
                return None;
            }
        }
        None
    }
}

impl Scope {
    pub(super) fn new(core: Arc<Core>, parent: Option<Arc<Self>>, context: ToolContext) -> Self {
        Self {
            core,
            parent,
            context,
            is_restricted: AtomicBool::new(false),
            stack: Mutex::default(),
            view: ArcSwapOption::empty(),
        }
    }

    /// The visible tools: without restrictions, one atomic load.
    pub(super) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        if self.is_restricted.load(Ordering::Acquire) {
            return Guard::from_inner(self.restricted());
        }
        self.base()
    }

    fn base(&self) -> Guard<Arc<Snapshot>> {
        match &self.parent {
            None => self.core.snapshot().load(),
            Some(parent) => parent.snapshot(),
        }
    }

    fn restricted(&self) -> Arc<Snapshot> {
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

    /// Makes the view of a stack that nobody else can change meanwhile. The snapshot is taken
    /// under the lock: what is stored last belongs to the newest stack. The view that it
    /// replaces is for the caller to drop without the lock, for tools may end with it.
    fn remake(&self, stack: &Stack) -> (Arc<Snapshot>, Option<Arc<View>>) {
        let base = Arc::clone(&self.base());
        if base.is_closed() || stack.entries.is_empty() {
            return (base, self.view.swap(None));
        }
        let snapshot = Arc::new(base.narrowed(|name| stack.hides(name).is_none()));
        let view = View { base, snapshot: Arc::clone(&snapshot) };
        (snapshot, self.view.swap(Some(Arc::new(view))))
    }

    /// Forgets a view of what the pool has no more. Views that are being made of it are waited
    /// for.
    pub(super) fn renew(&self) {
        let stack = self.stack();
        let stale = self.view.swap(None);
        drop(stack);
        drop(stale);
    }

    fn push(&self, patterns: Vec<ToolPattern>, replaces: bool) -> u64 {
        let mut stack = self.stack();
        let id = stack.next_id;
        stack.next_id += 1;
        stack.entries.push(Entry { id, patterns, replaces });
        self.changed(stack);
        id
    }

    fn pop(&self, id: u64) {
        let mut stack = self.stack();
        stack.entries.retain(|entry| entry.id != id);
        self.changed(stack);
    }

    fn changed(&self, stack: MutexGuard<'_, Stack>) {
        let stale = self.remake(&stack);
        self.is_restricted.store(!stack.entries.is_empty(), Ordering::Release);
        drop(stack);
        drop(stale);
        self.core.tell(&|news| news.view = true);
    }

    /// What hides a tool of the pool from this scope, as text.
    pub(super) fn restriction(&self, name: &str) -> Option<String> {
        let own = self.stack().hides(name).map(Entry::to_string);
        own.or_else(|| self.parent.as_ref()?.restriction(name))
    }

    fn stack(&self) -> MutexGuard<'_, Stack> {
        lock(&self.stack)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns: Vec<String> = self.patterns.iter().map(|p| format!("`{p}`")).collect();
        match patterns.as_slice() {
            [] => f.write_str("nothing"),
            some => f.write_str(&some.join(", ")),
        }
    }
}

impl ToolPool {
    /// Narrows what this handle and its clones see and call, until the guard is dropped. What
    /// an outer restriction hides stays hidden; no pattern at all hides everything.
    ///
    /// It holds for calls that tools make themselves, too. Guards may be dropped in any order and
    /// on any thread; write `let _skill = ..`, since `let _ = ..` drops at once. Calls that run go
    /// on.
    /// Restrictions of parts of a program that run side by side belong on handles of their own,
    /// see [`Self::scope`].
    ///
    /// # Errors
    /// A pattern that is none.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(tool("fs.read")).add(tool("fs.write")).build()?;
    /// let skill = pool.restrict(["fs.read"])?;
    /// assert_eq!(pool.tools().len(), 1);
    /// let error = pool.call(ToolCall::new("fs.write", "")).await;
    /// assert_eq!(error.error().unwrap().class(), ErrorClass::Denied);
    /// drop(skill);
    /// assert_eq!(pool.tools().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn restrict<P>(&self, to: impl IntoIterator<Item = P>) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        self.pushed(to, false)
    }

    /// Sets what this handle and its clones see anew, until the guard is dropped: outer
    /// restrictions of this handle do not count meanwhile. The pool's filter does, and so does
    /// what restricts the handle that this one was made from by [`Self::scope`].
    ///
    /// # Errors
    /// A pattern that is none.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(tool("fs.read")).add(tool("web.get")).build()?;
    /// let _outer = pool.restrict(["fs.*"])?;
    /// let _inner = pool.replace(["web.*"])?;
    /// assert_eq!(pool.tools()[0].name(), "web.get");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace<P>(&self, to: impl IntoIterator<Item = P>) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        self.pushed(to, true)
    }

    fn pushed<P>(
        &self,
        to: impl IntoIterator<Item = P>,
        replaces: bool,
    ) -> Result<Restriction, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        let patterns = to.into_iter().map(TryInto::try_into).collect::<Result<Vec<_>, _>>()?;
        let id = self.0.push(patterns, replaces);
        Ok(Restriction { scope: Arc::downgrade(&self.0), id })
    }

    /// A handle on the same pool with restrictions of its own: they never show in this one,
    /// while this one's restrictions bound it.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(ping).build()?;
    /// let agent = pool.scope();
    /// let _none = agent.restrict([] as [&str; 0])?;
    /// assert_eq!((pool.tools().len(), agent.tools().len()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scope(&self) -> Self {
        Self::scoped(Arc::clone(&self.0.core), Some(Arc::clone(&self.0)), &self.0.context)
    }
}

/// A restriction that is in force until this is dropped.
#[derive(Debug)]
#[must_use = "the restriction ends when this is dropped"]
pub struct Restriction {
    scope: Weak<Scope>,
    id: u64,
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
