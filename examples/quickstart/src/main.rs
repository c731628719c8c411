use std::sync::Mutex;
use tool_runtime::prelude::*;

type Notes = Mutex<Vec<String>>;

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

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    notes: Vec<String>,
    total: usize,
}

/// Find notes that contain a text, the newest first.
#[tool(read_only)]
async fn search_notes(
    /// The text to look for.
    #[arg(example = "milk")]
    query: String,
    /// The maximum number of notes.
    #[arg(default = 10, range = 1..=50)]
    limit: usize,
    /// Only notes that have all of these `#tags`.
    tags: Option<Vec<String>>,
    notes: &Notes,
) -> Found {
    let tagged = |note: &str| tags.iter().flatten().all(|tag| note.contains(&format!("#{tag}")));
    let notes = notes.lock().unwrap();
    let found = notes.iter().rev().filter(|note| note.contains(&query) && tagged(note));
    Found { total: found.clone().count(), notes: found.take(limit).cloned().collect() }
}

/// Keep a note for later.
#[tool(destructive = false, open_world = false)]
async fn remember(
    /// The text of the note; words such as `#rust` become tags.
    #[arg(length = 1..=10_000, example = "Buy milk. #errand")]
    text: String,
    notes: &Notes,
) -> String {
    let mut notes = notes.lock().unwrap();
    notes.push(text);
    format!("kept as note {}", notes.len())
}

/// Divide one number by another.
#[tool(read_only, idempotent)]
fn divide(
    /// The number to divide.
    a: f64,
    /// The number to divide by, not 0.
    b: f64,
) -> Result<f64, &'static str> {
    if b == 0.0 {
        return Err("cannot divide by zero; give another `b`");
    }
    Ok(a / b)
}

tool_runtime::main!(
    state = Notes::new(vec!["One attribute makes a tool of a rust function. #rust".into()])
);
