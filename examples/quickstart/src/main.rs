use std::sync::Mutex;
use tool_runtime::prelude::*;

/// Add two integers.
#[tool(read_only, idempotent)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    #[arg(default = 1)]
    b: i64,
) -> i64 {
    a + b
}

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
struct Note {
    title: String,
    text: String,
    tags: Vec<String>,
}

/// The notes that a search found.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    notes: Vec<Note>,
    /// How many notes matched, also those beyond the limit.
    total: usize,
}

/// Find notes that contain a text, the newest first.
#[tool(read_only)]
async fn search_notes(
    /// The text to look for, in any case.
    query: String,
    /// How many notes to return at most.
    #[arg(default = 10, range = 1..=50)]
    limit: usize,
    /// Only notes that have all of these tags.
    tags: Option<Vec<String>>,
    notes: &Notes,
) -> Found {
    let matches = notes.matching(&query.to_lowercase(), &tags.unwrap_or_default());
    Found {
        total: matches.len(),
        notes: matches.into_iter().take(limit).collect(),
    }
}

/// Keep a note for later.
#[tool(destructive = false, open_world = false)]
async fn remember(
    /// What to remember.
    #[arg(length = 1..=10_000)]
    text: String,
    notes: &Notes,
) -> String {
    let number = notes.keep(text);
    format!("kept as note {number}")
}

/// Divide one number by another.
#[tool(read_only, idempotent)]
fn divide(
    /// The number to divide.
    a: f64,
    /// The number to divide by.
    b: f64,
) -> Result<f64, String> {
    if b == 0.0 {
        return Err("cannot divide by zero; give a `b` other than 0".into());
    }
    Ok(a / b)
}

struct Notes(Mutex<Vec<Note>>);

impl Notes {
    fn keep(&self, text: String) -> usize {
        let mut notes = self.0.lock().unwrap();
        let title = text.chars().take(20).collect();
        notes.push(Note {
            title,
            text,
            tags: Vec::new(),
        });
        notes.len()
    }

    fn matching(&self, query: &str, tags: &[String]) -> Vec<Note> {
        let notes = self.0.lock().unwrap();
        let fits = |note: &&Note| {
            let text = note.text.to_lowercase();
            text.contains(query) && tags.iter().all(|tag| note.tags.contains(tag))
        };
        notes.iter().rev().filter(fits).cloned().collect()
    }
}

impl Default for Notes {
    fn default() -> Self {
        let note = |title: &str, text: &str| Note {
            title: title.into(),
            text: text.into(),
            tags: vec!["example".into()],
        };
        Self(Mutex::new(vec![
            note("Rust", "Rust functions become tools by one attribute."),
            note("Greetings", "Say hello before asking for anything."),
        ]))
    }
}

tool_runtime::main!(state = Notes::default());
