//! Edits as models make them: differences between two versions of crates, quoted with typical mistakes.
//!
//! The crates are those that the lock file has twice. Run it with `--nocapture` to see the table.

#![cfg(feature = "files")]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod corpus;
mod distortion;
mod outcome;
#[path = "../files/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use corpus::Edit;
use distortion::Distortion;
use outcome::{Outcome, Table};
use support::Tools;

/// Edits that the corpus must have at least.
const LEAST: usize = 300;

/// Edits that are made.
const MOST: usize = 480;

#[tokio::test]
async fn edits_with_mistakes_of_models_are_applied_rightly_or_not_at_all() {
    let edits = corpus::edits(MOST);
    if edits.is_empty() {
        println!("the sources of the crates are not on this machine; nothing was tried");
        return;
    }
    assert!(edits.len() >= LEAST, "{} edits", edits.len());
    let folder = support::Folder::new();
    let tools = Tools::over(folder.path(""));
    let mut table = Table::default();
    for (number, edit) in edits.iter().enumerate() {
        let distortion = Distortion::ALL[number % Distortion::ALL.len()];
        let Some(distorted) = distortion.apply(edit, number) else { continue };
        let outcome = Outcome::of(&folder, &tools, &distorted, number).await;
        table.add(distortion, &distorted, outcome);
    }
    println!("{table}");
    table.check();
}

impl Edit {
    /// The old and the new text that a model gives.
    fn quoted(&self) -> (String, String) {
        let side = |other: char| -> String {
            let lines = self.lines.iter().filter(|(side, _)| *side != other);
            lines.flat_map(|(_, line)| [line.as_str(), "\n"]).collect()
        };
        (side('+'), side('-'))
    }
}
