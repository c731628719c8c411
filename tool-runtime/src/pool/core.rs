//! What all handles and scopes of one pool share: everything that was offered, and what of it
//! is visible.

use super::change::PoolChange;
use super::offer::{Decision, Offer, Rules};
use super::problem::{PoolError, PoolProblem};
use super::report::{PoolReport, ToolReport, ToolStatus};
use super::{Governance, Snapshot, Source};
use crate::tool::Tool;
use arc_swap::ArcSwap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// Reads are lock-free snapshots; a change makes a new one under the lock.
pub(super) struct Core {
    rules: Rules,
    governance: Governance,
    snapshot: ArcSwap<Snapshot>,
    offered: Mutex<Offered>,
}

struct Offered {
    decision: Decision,
    /// What was offered once and is no more.
    removed: BTreeSet<(String, Source)>,
    listeners: Vec<UnboundedSender<PoolChange>>,
    is_closed: bool,
}

impl Core {
    pub(super) fn new(rules: Rules, governance: Governance, decision: Decision) -> Self {
        Self {
            snapshot: ArcSwap::from_pointee(Snapshot::new(decision.visible())),
            offered: Mutex::new(Offered {
                decision,
                removed: BTreeSet::new(),
                listeners: Vec::new(),
                is_closed: false,
            }),
            rules,
            governance,
        }
    }

    /// The visible tools, as the filter leaves them.
    pub(super) fn snapshot(&self) -> &ArcSwap<Snapshot> {
        &self.snapshot
    }

    pub(super) fn governance(&self) -> &Governance {
        &self.governance
    }

    pub(super) fn report(&self) -> PoolReport {
        let offered = self.offered();
        let mut report = offered.decision.report(&self.rules);
        let removed = offered.removed.iter().map(|(name, source)| ToolReport {
            name: name.clone(),
            source: source.clone(),
            status: ToolStatus::Removed,
        });
        report.tools.extend(removed);
        report.tools.sort_by(|a, b| (&a.name, &a.source).cmp(&(&b.name, &b.source)));
        report
    }

    pub(super) fn listen(&self, listener: UnboundedSender<PoolChange>) {
        self.offered().listeners.push(listener);
    }

    /// Changes what one source offers: all or nothing.
    pub(super) fn change(
        &self,
        source: &Source,
        change: impl FnOnce(&mut BTreeMap<String, Tool>) -> Result<(), Vec<PoolProblem>>,
    ) -> Result<PoolChange, PoolError> {
        let mut offered = self.offered();
        if offered.is_closed {
            return Err(PoolError::new(vec![PoolProblem::Closed]));
        }
        let (mut own, mut offers) = (BTreeMap::new(), Vec::new());
        for (offer, _) in &offered.decision.offers {
            if offer.source == *source {
                own.insert(offer.tool.name().to_owned(), offer.tool.clone());
            } else {
                offers.push(offer.clone());
            }
        }
        let before: Vec<String> = own.keys().cloned().collect();
        change(&mut own).map_err(PoolError::new)?;
        let gone: Vec<String> = before.into_iter().filter(|name| !own.contains_key(name)).collect();
        let own_offers = own.into_values().map(|tool| Offer { tool, source: source.clone() });
        offers.extend(own_offers);
        let decision = self.rules.decide(offers).checked()?;
        offered.removed.extend(gone.into_iter().map(|name| (name, source.clone())));
        Ok(self.publish(&mut offered, decision))
    }

    fn publish(&self, offered: &mut Offered, decision: Decision) -> PoolChange {
        for (offer, _) in &decision.offers {
            offered.removed.remove(&(offer.tool.name().to_owned(), offer.source.clone()));
        }
        let next = Snapshot::new(decision.visible());
        let change = PoolChange::between(&self.snapshot.load(), &next);
        self.snapshot.store(Arc::new(next));
        offered.decision = decision;
        if !change.is_empty() {
            // Whoever listens no more is forgotten.
            offered.listeners.retain(|listener| listener.send(change.clone()).is_ok());
        }
        change
    }

    /// Empties the pool for good. Gives what has to be ended, the last one first.
    pub(super) fn close(&self) -> Vec<Tool> {
        let mut offered = self.offered();
        offered.is_closed = true;
        let change = PoolChange::between(&self.snapshot.load(), &Snapshot::closed());
        self.snapshot.store(Arc::new(Snapshot::closed()));
        if !change.is_empty() {
            offered.listeners.retain(|listener| listener.send(change.clone()).is_ok());
        }
        offered.listeners.clear();
        offered.decision.offers.drain(..).rev().map(|(offer, _)| offer.tool).collect()
    }

    fn offered(&self) -> MutexGuard<'_, Offered> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
