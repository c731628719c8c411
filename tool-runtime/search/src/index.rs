//! The index: for each term the tools that it occurs in, with its weight there.

use crate::words::{Stems, for_each_word, is_stop_word};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fmt;
use tool_runtime_core::{Snapshot, ToolDefinition};

/// Weight of a word in the name.
const NAME: f32 = 0.8;
/// Weight of a word in a tag.
const TAG: f32 = 0.2;
/// Weight of a word in the title or the description.
const DESCRIPTION: f32 = 1.0;
/// Weight of a word in an argument's name.
const ARGUMENT: f32 = 0.3;
/// Weight of a word in an argument's description.
const ARGUMENT_DESCRIPTION: f32 = 0.06;
/// BM25: the weight of repetitions of a word.
const SATURATION: f32 = 1.0;
/// BM25: the penalty for long texts.
const LENGTH: f32 = 0.2;

/// A search index over the tools of one moment. It does not follow changes of a pool: a new
/// [`Snapshot`] needs a new index. Texts are expected in English.
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
/// assert_eq!(index.search("erase my files", 5)[0].name, "files.delete_file");
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
pub struct ToolIndex {
    /// Sorted.
    pub(crate) names: Vec<String>,
    pub(crate) terms: HashMap<String, u32, RandomState>,
    /// Postings by term.
    pub(crate) postings: Vec<Vec<Posting>>,
    pub(crate) stems: Stems,
    /// For each tool its family: the tools whose names begin with the same word.
    pub(crate) family_of: Vec<u32>,
    pub(crate) families: u32,
}

/// A tool that a term occurs in.
#[derive(Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) tool: u32,
    /// Frequency, rarity of the term and length of the texts in one number.
    pub(crate) weight: f32,
}

impl ToolIndex {
    /// Indexes the tools of a snapshot: their names, titles, descriptions, arguments and tags.
    pub fn new(snapshot: &Snapshot) -> Self {
        Self::of(snapshot.definitions())
    }

    /// Indexes definitions. If several have one name, a search returns all of them.
    pub fn of<'a>(definitions: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
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
    /// The terms of the texts of arguments and tags.
    texts: HashMap<String, Vec<u32>, RandomState>,
    terms: HashMap<String, u32, RandomState>,
    /// The terms of words as written: each word is stemmed once. Stop words have none.
    known: HashMap<String, Option<u32>, RandomState>,
    /// With plain frequencies until the end.
    postings: Vec<Vec<Posting>>,
    /// The weighted number of words of each tool.
    lengths: Vec<f32>,
}

impl Indexer {
    fn add(&mut self, definition: &ToolDefinition) {
        self.lengths.push(0.0);
        self.add_text(&definition.name, NAME);
        self.add_text(definition.title.as_deref().unwrap_or_default(), DESCRIPTION);
        self.add_text(&definition.description, DESCRIPTION);
        for tag in &definition.tags {
            self.add_repeated(tag, TAG);
        }
        let properties = definition.input_schema.get("properties").and_then(|all| all.as_object());
        for (name, schema) in properties.into_iter().flatten() {
            self.add_repeated(name, ARGUMENT);
            let description = schema.get("description").and_then(|text| text.as_str());
            self.add_repeated(description.unwrap_or_default(), ARGUMENT_DESCRIPTION);
        }
    }

    /// Adds a text of the tool that was added last.
    fn add_text(&mut self, text: &str, weight: f32) {
        let mut terms = std::mem::take(&mut self.scratch);
        terms.clear();
        self.read(text, &mut terms);
        self.count(&terms, weight);
        self.scratch = terms;
    }

    /// Adds a text that many tools have: it is read once.
    fn add_repeated(&mut self, text: &str, weight: f32) {
        let (key, terms) = self.texts.remove_entry(text).unwrap_or_else(|| {
            let mut terms = Vec::new();
            self.read(text, &mut terms);
            (text.to_owned(), terms)
        });
        self.count(&terms, weight);
        self.texts.insert(key, terms);
    }

    fn count(&mut self, terms: &[u32], weight: f32) {
        let tool = self.lengths.len() - 1;
        self.lengths[tool] += weight * terms.len() as f32;
        let tool = tool as u32;
        for term in terms {
            let postings = &mut self.postings[*term as usize];
            match postings.last_mut().filter(|posting| posting.tool == tool) {
                Some(posting) => posting.weight += weight,
                None => postings.push(Posting { tool, weight }),
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
        let Self { stems, terms, mut postings, lengths, .. } = self;
        let tools = lengths.len() as f32;
        let average = (lengths.iter().sum::<f32>() / tools).max(f32::MIN_POSITIVE);
        for postings in &mut postings {
            let found = postings.len() as f32;
            let rarity = (1.0 + (tools - found + 0.5) / (found + 0.5)).ln();
            for posting in postings {
                let length = lengths[posting.tool as usize] / average;
                let saturation = SATURATION * (1.0 - LENGTH + LENGTH * length);
                posting.weight *= rarity * (SATURATION + 1.0) / (posting.weight + saturation);
            }
        }
        let family_of = families(&names);
        let families = family_of.last().map_or(0, |last| last + 1);
        ToolIndex { names, terms, postings, stems, family_of, families }
    }
}

/// Numbers the families of sorted names: those that begin with the same word.
fn families(names: &[String]) -> Vec<u32> {
    let first =
        |name: &str| name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
    let mut family = 0;
    let mut last: &str = "";
    names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let prefix = &name[..first(name)];
            family += u32::from(at > 0 && prefix != last);
            last = prefix;
            family
        })
        .collect()
}
