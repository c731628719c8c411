//! Queries against an index.

use crate::fuzzy::similarity;
use crate::index::{Posting, ToolIndex};
use crate::words::{for_each_word, is_stop_word};
use std::collections::HashSet;

/// Begins a query for exact names.
const SELECT: &str = "select:";
/// The weight of the share of a name that a query has.
const NAME: f32 = 0.5;

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The tool's name.
    pub name: String,
    /// The higher, the better. Scores of different queries do not compare. 1 for names that were
    /// selected.
    pub score: f32,
}

/// A word of a query: the terms that it may mean, with weights.
type Alternatives = Vec<(u32, f32)>;

impl ToolIndex {
    /// The best tools for a natural-language query, best first; ties are sorted by name.
    ///
    /// `select:a,b` returns the tools of these exact names, in this order; unknown names are left
    /// out. The limit applies to both.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        if let Some(names) = query.trim_start().strip_prefix(SELECT) {
            return self.select(names, limit);
        }
        let scores = self.scores(&self.understand(query));
        let mut found: Vec<u32> =
            (0..).zip(&scores).filter(|(_, score)| **score > 0.0).map(|(tool, _)| tool).collect();
        let score = |tool: &u32| scores[*tool as usize];
        let order = |a: &u32, b: &u32| score(b).total_cmp(&score(a)).then(a.cmp(b));
        if limit < found.len() {
            found.select_nth_unstable_by(limit, order);
            found.truncate(limit);
        }
        found.sort_unstable_by(order);
        found.iter().map(|tool| self.hit(*tool as usize, score(tool))).collect()
    }

    fn select(&self, names: &str, limit: usize) -> Vec<Hit> {
        let names = names.split(',').map(str::trim);
        let known = names
            .filter_map(|name| self.names.binary_search_by(|known| known.as_str().cmp(name)).ok());
        known.take(limit).map(|tool| self.hit(tool, 1.0)).collect()
    }

    fn hit(&self, tool: usize, score: f32) -> Hit {
        Hit { name: self.names[tool].clone(), score }
    }

    /// The words of a query that are in this index, each once.
    fn understand(&self, query: &str) -> Vec<Alternatives> {
        let (mut words, mut seen) = (Vec::new(), HashSet::new());
        for_each_word(query, &mut String::new(), |word| {
            if is_stop_word(word) {
                return;
            }
            let stem = self.stems.stem(word);
            if seen.insert(stem.to_string()) {
                words.push(self.alternatives(&stem));
            }
        });
        words.retain(|alternatives| !alternatives.is_empty());
        words
    }

    /// The term itself; for an unknown word, similar terms.
    fn alternatives(&self, stem: &str) -> Alternatives {
        match self.terms.get(stem) {
            Some(term) => vec![(*term, 1.0)],
            None => {
                let near = |(known, term): (&String, &u32)| Some((*term, similarity(stem, known)?));
                self.terms.iter().filter_map(near).collect()
            }
        }
    }

    /// The score of each tool: the sum over words, each with its best alternative, and a share for its name.
    fn scores(&self, words: &[Alternatives]) -> Vec<f32> {
        let mut total = vec![0.0_f32; self.len()];
        let mut best = vec![0.0_f32; self.len()];
        for alternatives in words {
            let mut touched = Vec::new();
            for (term, weight) in alternatives {
                for Posting { tool, weight: own } in &self.postings[*term as usize] {
                    let best = &mut best[*tool as usize];
                    if *best == 0.0 {
                        touched.push(*tool as usize);
                    }
                    *best = best.max(weight * own);
                }
            }
            for tool in touched {
                total[tool] += std::mem::take(&mut best[tool]);
            }
        }
        self.add_names(words, &mut total);
        total
    }

    /// Adds the rarities of the words that a name shares with the query, times their share of the name: a tool that the query
    /// names is better than one that mentions the same words.
    fn add_names(&self, words: &[Alternatives], scores: &mut [f32]) {
        let asked: HashSet<u32> = words.iter().flatten().map(|(term, _)| *term).collect();
        let rarity = |term: &u32| self.rarities[*term as usize];
        for (score, name) in scores.iter_mut().zip(&self.terms_of_names) {
            if *score > 0.0 {
                let whole: f32 = name.iter().map(rarity).sum();
                let shared: f32 = name.iter().filter(|term| asked.contains(term)).map(rarity).sum();
                *score += NAME * shared * shared / whole.max(f32::MIN_POSITIVE);
            }
        }
    }
}
