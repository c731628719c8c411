use tool_runtime::prelude::*;

use std::collections::HashMap;
use std::sync::{Mutex, RwLock};

/// Add a word.
#[tool]
async fn add(
    /// The word.
    word: String,
    words: &Mutex<Vec<String>>,
) -> usize {
    let mut words = words.lock().unwrap();
    tokio::task::yield_now().await;
    words.push(word);
    words.len()
}

struct Notes(RwLock<HashMap<u64, String>>);

#[toolset]
impl Notes {
    /// Count the notes.
    #[tool]
    async fn count(&self) -> usize {
        let notes = match self.0.read() {
            Ok(notes) => notes,
            Err(_) => return 0,
        };
        tokio::task::yield_now().await;
        notes.len()
    }

    /// The guard ends before the `.await`.
    #[tool]
    async fn total(&self) -> usize {
        let total = self.0.read().map_or(0, |notes| notes.len());
        tokio::task::yield_now().await;
        total
    }
}

impl Toolset for Notes {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(RwLock::default()))
    }
}

fn main() {}
