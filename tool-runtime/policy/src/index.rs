//! The rules that are about a tool.

use crate::rule::Rule;
use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::Arc;

/// The most tools whose rules are remembered. Those of others are looked up each time.
const MAX_TOOLS: usize = 16_384;

type Table = HashMap<String, Arc<[u32]>, RandomState>;

/// The positions of the rules about a tool, in order. Calls are of few tools: the first call of each
/// compares all patterns, later ones cost a lookup without a lock.
#[derive(Default)]
pub(crate) struct Index {
    known: ArcSwap<Table>,
    /// Rules whose patterns were compared.
    #[cfg(test)]
    pub(crate) compared: std::sync::atomic::AtomicUsize,
}

impl Index {
    pub(crate) fn for_tool(&self, tool: &str, rules: &[Rule]) -> Arc<[u32]> {
        if let Some(known) = self.known.load().get(tool) {
            return Arc::clone(known);
        }
        #[cfg(test)]
        self.compared.fetch_add(rules.len(), std::sync::atomic::Ordering::Relaxed);
        let about = rules.iter().enumerate().filter(|(_, rule)| rule.selects(tool));
        let about: Arc<[u32]> = about.map(|(position, _)| position as u32).collect();
        self.known.rcu(|table| {
            if table.len() >= MAX_TOOLS {
                return Arc::clone(table);
            }
            let mut table = Table::clone(table);
            table.insert(tool.to_owned(), Arc::clone(&about));
            Arc::new(table)
        });
        about
    }
}
