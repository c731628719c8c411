//! The index: for each term the tools that it occurs in, with its weight there.

use crate::words::{Stems, for_each_word, is_stop_word};
use foldhash::fast::RandomState;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use tool_runtime_core::pool::Snapshot;
use tool_runtime_core::tool::ToolDefinition;

/// BM25: the weight of repetitions of a word.
const SATURATION: f32 = 1.2;
/// BM25: the penalty for long documents.
const LENGTH: f32 = 0.5;

/// A search index over the tools of one moment. It does not follow changes of a pool: a new
/// [`Snapshot`] needs a new index. Descriptions are expected in English.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::search::ToolIndex;
///
/// let tool = |name: &str, description: &str| {
///     Tool::builder(name, description).handler(|| async { "done" })
/// };
/// let pool = ToolPool::builder()
///     .add(tool("mail.send_message", "Send an email to recipients."))
///     .add(tool("files.delete_file", "Delete a file."))
///     .build()?;
/// let index = ToolIndex::new(&pool.snapshot());
/// assert_eq!(index.search("deleting files", 5)[0].name, "files.delete_file");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub struct ToolIndex {
    /// Sorted.
    pub(crate) names: Vec<String>,
    pub(crate) terms: HashMap<String, u32, RandomState>,
    /// Postings by term.
    pub(crate) postings: Vec<Vec<Posting>>,
    pub(crate) stems: Stems,
    /// For each term how rare it is.
    pub(crate) rarities: Vec<f32>,
    /// For each tool the terms of its name.
    pub(crate) terms_of_names: Vec<Vec<u32>>,
}

/// A tool that a term occurs in.
#[derive(Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) tool: u32,
    /// Frequency, rarity of the term and length of the document in one number.
    pub(crate) weight: f32,
}

impl ToolIndex {
    /// Indexes the tools of a snapshot: their names, titles, descriptions, tags, and the names, descriptions and choices of
    /// their arguments.
    pub fn new(snapshot: &Snapshot) -> Self {
        Self::from_definitions(snapshot.definitions())
    }

    /// Indexes definitions. If several have one name, a search returns all of them.
    pub fn from_definitions<'a>(definitions: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
        let mut definitions: Vec<&ToolDefinition> = definitions.into_iter().collect();
        definitions.sort_by(|a, b| a.name.cmp(&b.name));
        let mut indexer = Indexer::default();
        for definition in &definitions {
            indexer.add(definition);
        }
        let names = definitions.iter().map(|definition| definition.name.clone()).collect();
        indexer.finish(names)
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the index has no tools.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl fmt::Debug for ToolIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, terms) = (self.names.len(), self.postings.len());
        f.debug_struct("ToolIndex").field("tools", &tools).field("terms", &terms).finish()
    }
}

#[derive(Default)]
struct Indexer {
    stems: Stems,
    buffer: String,
    scratch: Vec<u32>,
    /// The terms of the descriptions of arguments and tags.
    repeated: HashMap<String, Vec<u32>, RandomState>,
    terms: HashMap<String, u32, RandomState>,
    /// The terms of words as written: each word is stemmed once. Stop words have none.
    known: HashMap<String, Option<u32>, RandomState>,
    /// With plain frequencies until the end.
    postings: Vec<Vec<Posting>>,
    /// The number of words of each tool.
    lengths: Vec<f32>,
    terms_of_names: Vec<Vec<u32>>,
}

impl Indexer {
    fn add(&mut self, definition: &ToolDefinition) {
        self.lengths.push(0.0);
        let mut name = Vec::new();
        self.read(&definition.name, &mut name);
        self.count(&name);
        self.terms_of_names.push(name);
        self.add_text(definition.title.as_deref().unwrap_or_default());
        self.add_text(&definition.description);
        for tag in &definition.tags {
            self.add_repeated(tag);
        }
        let properties = definition.input_schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            self.add_repeated(name);
            let description = schema.get("description").and_then(Value::as_str);
            self.add_repeated(description.unwrap_or_default());
            let choices = schema.get("enum").and_then(Value::as_array);
            choices
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .for_each(|it| self.add_repeated(it));
        }
    }

    /// Adds a string of the tool that was added last.
    fn add_text(&mut self, text: &str) {
        let mut terms = std::mem::take(&mut self.scratch);
        terms.clear();
        self.read(text, &mut terms);
        self.count(&terms);
        self.scratch = terms;
    }

    /// Adds a string that many tools have: it is read once.
    fn add_repeated(&mut self, text: &str) {
        let (key, terms) = self.repeated.remove_entry(text).unwrap_or_else(|| {
            let mut terms = Vec::new();
            self.read(text, &mut terms);
            (text.to_owned(), terms)
        });
        self.count(&terms);
        self.repeated.insert(key, terms);
    }

    fn count(&mut self, terms: &[u32]) {
        let tool = self.lengths.len() - 1;
        self.lengths[tool] += terms.len() as f32;
        let tool = tool as u32;
        for term in terms {
            let postings = &mut self.postings[*term as usize];
            match postings.last_mut().filter(|posting| posting.tool == tool) {
                Some(posting) => posting.weight += 1.0,
                None => postings.push(Posting { tool, weight: 1.0 }),
            }
        }
    }

    fn read(&mut self, text: &str, terms: &mut Vec<u32>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for_each_word(text, &mut buffer, |word| terms.extend(self.term(word)));
        self.buffer = buffer;
    }

    fn term(&mut self, word: &str) -> Option<u32> {
        if let Some(term) = self.known.get(word) {
            return *term;
        }
        let term = (!is_stop_word(word)).then(|| self.term_of_stem(word));
        self.known.insert(word.to_owned(), term);
        term
    }

    fn term_of_stem(&mut self, word: &str) -> u32 {
        let stem = self.stems.stem(word);
        if let Some(term) = self.terms.get(&*stem) {
            return *term;
        }
        let term = self.postings.len() as u32;
        self.terms.insert(stem.into_owned(), term);
        self.postings.push(Vec::new());
        term
    }

    fn finish(self, names: Vec<String>) -> ToolIndex {
        let Self { stems, terms, mut postings, lengths, terms_of_names, .. } = self;
        let tools = lengths.len() as f32;
        let average = (lengths.iter().sum::<f32>() / tools).max(f32::MIN_POSITIVE);
        let mut rarities = Vec::with_capacity(postings.len());
        for postings in &mut postings {
            let found = postings.len() as f32;
            let rarity = (1.0 + (tools - found + 0.5) / (found + 0.5)).ln();
            rarities.push(rarity);
            for posting in postings {
                let length = lengths[posting.tool as usize] / average;
                let saturation = SATURATION * (1.0 - LENGTH + LENGTH * length);
                posting.weight *= rarity * (SATURATION + 1.0) / (posting.weight + saturation);
            }
        }
        ToolIndex { names, terms, postings, stems, rarities, terms_of_names }
    }
}
