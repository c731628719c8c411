//! Edits as models make them: differences between two versions of crates, quoted with typical mistakes.
//!
//! The crates are those that the lock file has twice.

mod corpus;
mod distortion;
mod editor;
mod outcome;

pub(crate) use corpus::missing as missing_sources;

use crate::needs::Need;
use corpus::Edit;
use distortion::Distortion;
use editor::Editor;
use libtest_mimic::Trial;
use outcome::{Form, Outcome, Table, is_ambiguous};

/// Edits that the corpus must have at least.
const LEAST: usize = 300;

/// Edits that are made.
const MOST: usize = 480;

pub(crate) fn tests() -> Vec<Trial> {
    let name = "model_edits::edits_with_mistakes_of_models_are_applied_rightly_or_not_at_all";
    vec![Need::CrateSources.test(name, edits_with_mistakes_are_applied_rightly_or_not_at_all)]
}

async fn edits_with_mistakes_are_applied_rightly_or_not_at_all() {
    let edits = corpus::edits(MOST);
    assert!(edits.len() >= LEAST, "{} edits", edits.len());
    let editor = Editor::new();
    let mut table = Table::default();
    for (number, edit) in edits.iter().enumerate() {
        let distortion = Distortion::ALL[number % Distortion::ALL.len()];
        let Some(distorted) = distortion.apply(edit, number) else { continue };
        let form = Form::ALL[number / Distortion::ALL.len() % Form::ALL.len()];
        let outcome = Outcome::of(&editor, &distorted, form).await;
        table.add(distortion, is_ambiguous(&distorted, form), outcome);
    }
    // Without context and with the number of a twin, more are ambiguous.
    for (number, edit) in edits.iter().enumerate() {
        let Some(bare) = Distortion::NoContext.apply(edit, number) else { continue };
        let Some(stale) = Distortion::StaleNumbers.apply(&bare, number) else { continue };
        for form in Form::ALL.into_iter().filter(|form| is_ambiguous(&stale, *form)) {
            let outcome = Outcome::of(&editor, &stale, form).await;
            table.add(Distortion::StaleNumbers, true, outcome);
        }
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
