//! Estimates the cost of checking a value before the check, by visiting each pair of schema and value once.

use super::graph::{Graph, Part};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Limit on nested visits of schema parts, which take stack space.
const MAX_WAITING: u64 = 2000;
/// Limit on the depth of a value.
const MAX_DEPTH: u64 = 256;
/// Cost of a pattern, and of each byte that it is matched against.
const PATTERN: u64 = 100;
const BYTE: u64 = 10;

/// The size of a value.
#[derive(Default)]
struct Extent {
    values: u64,
    depth: u64,
}

impl Extent {
    fn of(value: &Value) -> Self {
        let mut extent = Self::default();
        extent.add(value, 1);
        extent
    }

    fn add(&mut self, value: &Value, depth: u64) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        // Deeper values are not visited, to bound the stack.
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item, depth + 1)),
            Value::Object(members) => {
                members.values().for_each(|member| self.add(member, depth + 1));
            }
            _ => {}
        }
    }
}

impl Graph {
    /// Whether checking a value takes at most `max` steps.
    pub(super) fn is_within(&self, max: u64, value: &Value) -> bool {
        let extent = Extent::of(value);
        let waiting = self.height.saturating_mul(extent.depth);
        if waiting > MAX_WAITING || extent.depth > MAX_DEPTH {
            return false;
        }
        let mut work = Work { graph: self, left: max };
        work.value(Times::from([(self.root, 1)]), value).is_some()
    }
}

/// Visits of each part.
type Times = BTreeMap<usize, u64>;

/// The remaining steps of an estimate.
struct Work<'a> {
    graph: &'a Graph,
    left: u64,
}

impl<'a> Work<'a> {
    fn spend(&mut self, times: u64, cost: u64) -> Option<()> {
        self.left = self.left.checked_sub(times.saturating_mul(cost))?;
        Some(())
    }

    /// Visits a value with the parts that check it. `None` once the steps are used up.
    fn value(&mut self, mut coming: Times, value: &Value) -> Option<()> {
        let mut looking = Vec::new();
        // In topological order each part is visited once.
        while let Some((index, times)) = coming.pop_first() {
            let part = &self.graph.parts[index];
            self.spend(times, cost(part, value))?;
            let again = if part.is_unevaluated { 1 + 2 * count(value) } else { 1 };
            for to in part.same.iter().filter(|to| **to > index) {
                add(&mut coming, *to, times.saturating_mul(again));
            }
            if part.looks_in() {
                looking.push((part, times));
            }
        }
        match value {
            _ if looking.is_empty() => Some(()),
            Value::Object(members) => self.members(&looking, members),
            Value::Array(items) => self.items(&looking, items),
            _ => Some(()),
        }
    }

    fn members(&mut self, looking: &[(&'a Part, u64)], members: &Map<String, Value>) -> Option<()> {
        for (name, member) in members {
            let (mut coming, mut named) = (Times::new(), Times::new());
            for (part, times) in looking {
                self.spend(*times, 1 + part.matching.len() as u64 * text_cost(name))?;
                let declared = part.properties.get(&**name);
                let others: &[usize] = if declared.is_some() { &[] } else { &part.others };
                declared
                    .into_iter()
                    .chain(others)
                    .chain(&part.matching)
                    .for_each(|to| add(&mut coming, *to, *times));
                part.names.iter().for_each(|to| add(&mut named, *to, *times));
            }
            if !named.is_empty() {
                self.value(named, &Value::String(name.clone()))?;
            }
            if !coming.is_empty() {
                self.value(coming, member)?;
            }
        }
        Some(())
    }

    fn items(&mut self, looking: &[(&'a Part, u64)], items: &[Value]) -> Option<()> {
        for (place, item) in items.iter().enumerate() {
            let mut coming = Times::new();
            for (part, times) in looking {
                self.spend(*times, 1)?;
                let first = part.first.get(place);
                first.into_iter().chain(&part.items).for_each(|to| add(&mut coming, *to, *times));
            }
            if !coming.is_empty() {
                self.value(coming, item)?;
            }
        }
        Some(())
    }
}

fn add(times: &mut Times, to: usize, more: u64) {
    let times = times.entry(to).or_default();
    *times = times.saturating_add(more);
}

/// Cost of a part for a value, without other parts.
fn cost(part: &Part, value: &Value) -> u64 {
    let text = match value {
        Value::String(text) if part.has_pattern => text_cost(text),
        _ => 0,
    };
    let unique = if part.is_unique { Extent::of(value).values } else { 0 };
    1 + part.own + text + unique
}

fn text_cost(text: &str) -> u64 {
    PATTERN + BYTE * text.len() as u64
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 0,
    }
}
