//! Queries against an index.

use crate::fuzzy::similarity;
use crate::index::{Posting, ToolIndex};
use crate::synonyms::{self, SYNONYMS};
use crate::words::{for_each_word, is_light_verb, is_question_word, is_stop_word};
use std::collections::HashSet;

/// Begins a query for exact names.
const SELECT: &str = "select:";
/// The weight of verbs that a question implies.
const QUESTION: f32 = 0.3;
/// Verbs that a question implies.
const READING: &[&str] = &["get", "list", "search", "find", "show", "read", "check"];
/// The weight of verbs that other queries imply.
const COMMAND: f32 = 0.25;
/// Verbs that other queries imply.
const WRITING: &[&str] = &["create", "add", "set", "send", "update"];
/// The weight of a verb with little meaning of its own.
const LIGHT: f32 = 0.4;
/// The weight of the scores of related tools.
const RELATED: f32 = 0.1;
/// Number of related tools that count.
const RELATIVES: usize = 4;

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

    /// The words of a query that are in this index.
    fn understand(&self, query: &str) -> Vec<Alternatives> {
        let mut stems: Vec<String> = Vec::new();
        let mut is_question = query.contains('?');
        for_each_word(query, &mut String::new(), |word| {
            is_question |= is_question_word(word);
            if !is_stop_word(word) {
                stems.push(self.stems.stem(word).into_owned());
            }
        });
        let mut seen = HashSet::new();
        stems.retain(|stem| seen.insert(stem.clone()));
        let mut words: Vec<Alternatives> =
            stems.iter().map(|stem| self.alternatives(stem)).collect();
        words.retain(|alternatives| !alternatives.is_empty());
        if !words.is_empty() {
            words.push(self.intent(is_question));
        }
        words
    }

    /// Verbs implied by a query: reading for questions, otherwise writing.
    fn intent(&self, is_question: bool) -> Alternatives {
        let (verbs, weight) = if is_question { (READING, QUESTION) } else { (WRITING, COMMAND) };
        let terms = verbs.iter().filter_map(|verb| self.terms.get(&*self.stems.stem(verb)));
        terms.map(|term| (*term, weight)).collect()
    }

    /// The term itself and its synonyms; for an unknown word, similar terms.
    fn alternatives(&self, stem: &str) -> Alternatives {
        let exact = self.terms.get(stem).map(|term| (*term, 1.0));
        let synonyms = SYNONYMS.get(stem).into_iter().flatten();
        let synonyms = synonyms.filter_map(|word| Some((*self.terms.get(word)?, synonyms::WEIGHT)));
        let mut found: Alternatives = exact.into_iter().chain(synonyms).collect();
        if is_light_verb(stem) {
            found.iter_mut().for_each(|(_, weight)| *weight *= LIGHT);
        }
        if exact.is_none() {
            let near = self
                .terms
                .iter()
                .filter_map(|(known, term)| Some((*term, similarity(stem, known)?)));
            found.extend(near);
        }
        found
    }

    /// The score of each tool: the sum over words, each with its best alternative.
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
        self.add_relatives(&mut total);
        total
    }

    /// Adds to each score a share of the best of its relatives: a query about a service matches all
    /// of its tools a little.
    fn add_relatives(&self, scores: &mut [f32]) {
        let mut best = vec![[0.0_f32; RELATIVES]; self.families as usize];
        for (score, family) in scores.iter().zip(&self.family_of) {
            let best = &mut best[*family as usize];
            let mut score = *score;
            for place in best {
                if score > *place {
                    std::mem::swap(place, &mut score);
                }
            }
        }
        for (score, family) in scores.iter_mut().zip(&self.family_of) {
            if *score > 0.0 {
                *score += RELATED * best[*family as usize].iter().sum::<f32>();
            }
        }
    }
}
