//! State that all handles and scopes of a pool share: everything that was offered, and the visible part.

use super::catalog::{self, Catalog, Entry};
use super::change::PoolChange;
use super::extras::Extras;
use super::governance::Governance;
use super::offer::{Decision, Offer, Rules};
use super::problem::{PoolError, PoolProblem};
use super::report::{AbsentSource, PoolReport, ToolReport, ToolStatus};
use super::snapshot::Snapshot;
use super::watch::{PoolNews, Watcher};
use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use arc_swap::ArcSwap;
use futures_util::future::join_all;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// Reads are lock-free snapshots; a change makes a new one under the lock.
pub(super) struct Core {
    rules: Rules,
    governance: Governance,
    /// Cancelled when the pool is closed, which cancels running calls.
    closing: CancellationToken,
    /// Whether the pool is closed, read without a lock by each call.
    is_closing: AtomicBool,
    snapshot: ArcSwap<Snapshot>,
    offered: Mutex<Offered>,
    /// Caches of a snapshot, which must not keep removed tools alive.
    scopes: Mutex<Vec<Weak<dyn View>>>,
    /// Watchers that notify clients of changes.
    watchers: Mutex<Vec<Weak<Watcher>>>,
    /// Explanations of absent tools.
    absences: Mutex<Vec<Weak<dyn Absence>>>,
    /// Sources that a [`Claim`](super::claim::Claim) reserves.
    claims: Mutex<BTreeSet<Source>>,
    /// Values of other crates.
    extras: Extras,
}

/// Caches something derived from a snapshot.
pub(super) trait View: Send + Sync {
    /// Clears the cache: it must not keep removed tools alive.
    fn renew(&self);
}

/// Explains why tools are unavailable for now.
pub trait Absence: Send + Sync {
    /// The reason why the tool of that name is absent, if it belongs to this source.
    fn why(&self, name: &str) -> Option<CallError>;

    /// Waits for sources that are still connecting, for a limited time; `None` if no source is
    /// connecting.
    fn settling(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// The sources that should offer tools and are not connected.
    fn absent(&self) -> Vec<AbsentSource> {
        Vec::new()
    }

    /// The value, by which its owner finds it in a pool.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// The number of removed tools that a report lists at most.
const MAX_REMOVED: usize = 10_000;

struct Offered {
    decision: Decision,
    /// Prompts and resources, shadowed ones included.
    entries: Vec<Entry>,
    /// Tools that were removed.
    removed: BTreeSet<(String, Source)>,
    listeners: Vec<UnboundedSender<PoolChange>>,
    is_closed: bool,
}

/// The state before a change, for the caller to drop.
type PreviousTools = (Arc<Snapshot>, Decision);

/// Prompts and resources before a change, for the caller to drop.
type PreviousOfferings = (Arc<Snapshot>, Vec<Entry>);

impl Core {
    pub(super) fn new(
        rules: Rules,
        governance: Governance,
        decision: Decision,
        entries: Vec<Entry>,
        catalog: Catalog,
    ) -> Self {
        let snapshot = Snapshot::new(decision.visible_tools(), Arc::new(catalog), &governance);
        Self {
            snapshot: ArcSwap::from_pointee(snapshot),
            offered: Mutex::new(Offered {
                decision,
                entries,
                removed: BTreeSet::new(),
                listeners: Vec::new(),
                is_closed: false,
            }),
            scopes: Mutex::default(),
            watchers: Mutex::default(),
            absences: Mutex::default(),
            claims: Mutex::default(),
            rules,
            governance,
            closing: CancellationToken::new(),
            is_closing: AtomicBool::new(false),
            extras: Extras::default(),
        }
    }

    pub(super) fn with_extras(self, extras: Extras) -> Self {
        Self { extras, ..self }
    }

    pub(super) fn extras(&self) -> &Extras {
        &self.extras
    }

    /// Registers a scope for changes.
    pub(super) fn add_scope(&self, scope: Weak<dyn View>) {
        let mut scopes = lock(&self.scopes);
        if scopes.len() == scopes.capacity() {
            scopes.retain(|scope| scope.strong_count() > 0);
        }
        scopes.push(scope);
    }

    /// Registers a watcher.
    pub(super) fn add_watcher(&self, watcher: Weak<Watcher>) {
        let mut watchers = self.watchers();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    /// Registers an explanation of absent tools.
    pub(super) fn add_absence(&self, absence: Weak<dyn Absence>) {
        let mut absences = lock(&self.absences);
        absences.retain(|absence| absence.strong_count() > 0);
        absences.push(absence);
    }

    /// Reserves a source; `false` if it is taken.
    pub(super) fn reserve(&self, source: &Source) -> bool {
        lock(&self.claims).insert(source.clone())
    }

    pub(super) fn release(&self, source: &Source) {
        lock(&self.claims).remove(source);
    }

    /// The reason why the tool of that name is absent, if known.
    pub(super) fn why_absent(&self, name: &str) -> Option<CallError> {
        let absences = lock(&self.absences).clone();
        let why = absences.iter().filter_map(Weak::upgrade).find_map(|absence| absence.why(name));
        why.or_else(|| {
            let text = format!(
                "`{name}` cannot be used here: {}",
                self.offered().decision.unusable(name)?
            );
            Some(CallError::new(ErrorClass::NotFound, text))
        })
    }

    /// The explanations of a type.
    pub(super) fn absences_of<T: Any + Send + Sync>(&self) -> Vec<Arc<T>> {
        let absences = lock(&self.absences).clone();
        let sources = absences.iter().filter_map(Weak::upgrade);
        sources.filter_map(|source| source.as_any().downcast().ok()).collect()
    }

    /// Waits for sources that are still connecting, for a limited time.
    pub(super) async fn settled(&self) {
        let absences = lock(&self.absences).clone();
        let sources = absences.iter().filter_map(Weak::upgrade);
        join_all(sources.filter_map(|source| source.settling()).collect::<Vec<_>>()).await;
    }

    /// Notifies all watchers.
    pub(super) fn notify(&self, change: &dyn Fn(&mut PoolNews)) {
        self.watchers().iter().filter_map(Weak::upgrade).for_each(|watcher| watcher.add(change));
    }

    /// The visible tools, as the filter leaves them.
    pub(super) fn snapshot(&self) -> &ArcSwap<Snapshot> {
        &self.snapshot
    }

    pub(super) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    pub(super) fn governance(&self) -> &Governance {
        &self.governance
    }

    pub(super) fn report(&self) -> PoolReport {
        let offered = self.offered();
        let mut report = offered.decision.report(&self.rules);
        if offered.is_closed {
            // No selector matches in a closed pool.
            report.unmatched.clear();
            report.idle_hooks.clear();
            report.idle_transforms.clear();
        }
        // Called without the lock, because they may call the pool.
        let absences = lock(&self.absences).clone();
        let removed = offered.removed.iter().map(|(name, source)| ToolReport {
            name: name.clone(),
            source: source.clone(),
            made_from: None,
            status: ToolStatus::Removed,
            requirements: Vec::new(),
        });
        report.tools.extend(removed);
        drop(offered);
        report.absent =
            absences.iter().filter_map(Weak::upgrade).flat_map(|asked| asked.absent()).collect();
        if let Some(mask) = &self.governance.mask {
            report.mask(&**mask);
        }
        report.tools.sort_by(|a, b| (&a.name, &a.source).cmp(&(&b.name, &b.source)));
        report
    }

    pub(super) fn listen(&self, listener: UnboundedSender<PoolChange>) {
        let mut offered = self.offered();
        if !offered.is_closed {
            if offered.listeners.len() == offered.listeners.capacity() {
                offered.listeners.retain(|listener| !listener.is_closed());
            }
            offered.listeners.push(listener);
        }
    }

    /// Changes the tools of one source: all or nothing. Removed tools are dropped after the lock is
    /// released: closing them may call the pool.
    pub(super) fn change(
        &self,
        source: &Source,
        change: impl FnOnce(&mut BTreeMap<String, Tool>) -> Result<(), Vec<PoolProblem>>,
    ) -> Result<PoolChange, PoolError> {
        let (change, gone) = {
            let mut offered = self.offered();
            let decided = self.decide_change(&offered, source, change);
            let (decision, removed) = decided.map_err(PoolError::of_change)?;
            offered.removed.extend(removed.into_iter().map(|name| (name, source.clone())));
            while offered.removed.len() > MAX_REMOVED {
                offered.removed.pop_first();
            }
            self.publish(&mut offered, decision)
        };
        self.renew_scopes();
        drop(gone);
        Ok(change)
    }

    /// The decision after a change of one source's offers, and the names that it loses.
    fn decide_change(
        &self,
        offered: &Offered,
        source: &Source,
        change: impl FnOnce(&mut BTreeMap<String, Tool>) -> Result<(), Vec<PoolProblem>>,
    ) -> Result<(Decision, Vec<String>), PoolError> {
        if offered.is_closed {
            return Err(PoolError::new(vec![PoolProblem::Closed]));
        }
        // The names before transforms.
        let (mut own, mut before, mut offers) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (offer, _) in &offered.decision.offers {
            if offer.source == *source {
                own.insert(offer.original().name().to_owned(), offer.original().clone());
                before.insert(offer.original().name(), offer);
            } else {
                offers.push(offer.clone());
            }
        }
        change(&mut own).map_err(PoolError::new)?;
        let is_gone = |(name, _): &(&&str, &&Offer)| !own.contains_key(**name);
        let gone = before.iter().filter(is_gone).map(|(_, offer)| offer.tool.name().to_owned());
        let gone = gone.collect();
        // Tools that stay keep their transformed form.
        offers.extend(own.iter().map(|(name, tool)| match before.get(name.as_str()) {
            Some(offer) if offer.original().is_one(tool) => (*offer).clone(),
            _ => Offer::new(tool.clone(), source.clone()),
        }));
        Ok((self.rules.decide(offers).into_result()?, gone))
    }

    /// Returns the state before.
    fn publish(&self, offered: &mut Offered, decision: Decision) -> (PoolChange, PreviousTools) {
        for (offer, _) in &decision.offers {
            offered.removed.remove(&(offer.tool.name().to_owned(), offer.source.clone()));
        }
        let catalog = Arc::clone(self.snapshot.load().catalog());
        let tools = decision.visible_tools();
        let snapshot = Snapshot::new(tools, catalog, &self.governance);
        let (change, before) = self.replace(offered, snapshot);
        (change, (before, std::mem::replace(&mut offered.decision, decision)))
    }

    /// Swaps the snapshot and notifies the listeners.
    fn replace(&self, offered: &mut Offered, next: Snapshot) -> (PoolChange, Arc<Snapshot>) {
        let next = Arc::new(next);
        let before = self.snapshot.swap(Arc::clone(&next));
        let change = PoolChange::between(&before, &next);
        if !change.is_empty() {
            // Closed listeners are removed.
            offered.listeners.retain(|listener| listener.send(change.clone()).is_ok());
            self.notify(&|news| news.tools = true);
        }
        (change, before)
    }

    /// Changes which prompts and resources one source offers: all or nothing.
    pub(super) fn change_catalog(
        &self,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<(), Vec<PoolProblem>>,
    ) -> Result<(), PoolError> {
        let gone = {
            let mut offered = self.offered();
            self.replace_catalog(&mut offered, change).map_err(PoolError::of_change)?
        };
        self.renew_scopes();
        drop(gone);
        Ok(())
    }

    fn replace_catalog(
        &self,
        offered: &mut Offered,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<(), Vec<PoolProblem>>,
    ) -> Result<PreviousOfferings, PoolError> {
        if offered.is_closed {
            return Err(PoolError::new(vec![PoolProblem::Closed]));
        }
        let (mut entries, mut problems) = (offered.entries.clone(), Vec::new());
        change(&mut entries).map_err(PoolError::new)?;
        let settled = catalog::settle(entries.clone(), &self.rules.state, &mut problems);
        if !problems.is_empty() {
            return Err(PoolError::new(problems));
        }
        let before = self.snapshot.load_full();
        let catalog = Catalog::after(before.catalog(), &settled);
        let tools = before.pooled_tools().to_vec();
        self.snapshot.store(Arc::new(Snapshot::new(tools, Arc::new(catalog), &self.governance)));
        Ok((before, std::mem::replace(&mut offered.entries, entries)))
    }

    /// Called after the snapshot was swapped.
    fn renew_scopes(&self) {
        let scopes = lock(&self.scopes).clone();
        scopes.iter().filter_map(Weak::upgrade).for_each(|scope| scope.renew());
    }

    /// Empties the pool for good. Returns the tools to close, the last one first.
    pub(super) fn close(&self) -> Vec<Tool> {
        let (_before, _entries, tools) = {
            let mut offered = self.offered();
            offered.is_closed = true;
            self.is_closing.store(true, Ordering::Release);
            self.closing.cancel();
            let (_, before) = self.replace(&mut offered, Snapshot::closed());
            offered.listeners.clear();
            let entries = std::mem::take(&mut offered.entries);
            let offers: Vec<_> = offered.decision.offers.drain(..).rev().collect();
            let named =
                |(offer, _): &(Offer, _)| (offer.tool.name().to_owned(), offer.source.clone());
            offered.removed.extend(offers.iter().map(named));
            (before, entries, offers.into_iter().map(|(offer, _)| offer.tool).collect())
        };
        self.renew_scopes();
        tools
    }

    fn watchers(&self) -> MutexGuard<'_, Vec<Weak<Watcher>>> {
        lock(&self.watchers)
    }

    fn offered(&self) -> MutexGuard<'_, Offered> {
        lock(&self.offered)
    }
}
