//! The outcome of edits, and their table.

use super::corpus::Edit;
use super::distortion::Distortion;
use super::editor::{Editor, FILE};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The outcome of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Right,
    Wrong,
    Refused,
}

/// The way in which a model makes an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Edit,
    BeginEnd,
    Unified,
}

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::Edit, Self::BeginEnd, Self::Unified];

    fn call(self, edit: &Edit) -> (&'static str, Value) {
        let (old, new) = edit.quoted();
        match self {
            Self::Edit => {
                ("Edit", json!({ "file_path": FILE, "old_string": old, "new_string": new }))
            }
            Self::BeginEnd => ("apply_patch", json!({ "patch": begin_end(edit) })),
            Self::Unified => ("apply_patch", json!({ "patch": unified(edit, &old, &new) })),
        }
    }
}

impl Outcome {
    /// Makes the edit.
    pub(crate) async fn of(editor: &Editor, edit: &Edit, form: Form) -> Self {
        editor.write(&edit.before).await;
        let (tool, arguments) = form.call(edit);
        let result = editor.call(tool, arguments).await;
        let content = editor.content();
        match result.is_error() {
            true if content == edit.before => Self::Refused,
            false if content == edit.after => Self::Right,
            _ => {
                println!("wrong by {form:?}: {}", result.observation().to_text());
                Self::Wrong
            }
        }
    }
}

fn body(edit: &Edit) -> String {
    edit.lines.iter().map(|(side, line)| format!("{side}{line}\n")).collect()
}

fn begin_end(edit: &Edit) -> String {
    format!("*** Begin Patch\n*** Update File: {FILE}\n@@\n{}*** End Patch\n", body(edit))
}

fn unified(edit: &Edit, old: &str, new: &str) -> String {
    let first = edit.first;
    let [old, new] = [old, new].map(|text| text.lines().count());
    format!("--- a/{FILE}\n+++ b/{FILE}\n@@ -{first},{old} +{first},{new} @@\n{}", body(edit))
}

/// Whether the quoted text fits to several places by the first comparison that finds any. Written apart from the tools:
/// it compares every place.
pub(crate) fn is_ambiguous(edit: &Edit, form: Form) -> bool {
    let (old, _) = edit.quoted();
    let before = edit.before.replace("\r\n", "\n");
    // `Edit` takes any text, patches take lines.
    let exact = if form == Form::Edit { before.matches(&old).count() } else { 0 };
    let comparisons: [fn(&str) -> String; 4] = [
        str::to_owned,
        |line| line.trim_end().to_owned(),
        |line| line.trim().to_owned(),
        |line| {
            line.trim()
                .replace(['\u{201C}'], "\"")
                .replace('\u{2019}', "'")
                .replace('\u{2013}', "-")
        },
    ];
    let count = |comparable: &fn(&str) -> String| {
        let [file, quoted] =
            [&before, &old].map(|text| text.lines().map(comparable).collect::<Vec<String>>());
        file.windows(quoted.len()).filter(|window| *window == quoted).count()
    };
    let counts = [exact].into_iter().chain(comparisons.iter().map(count));
    counts.into_iter().find(|count| *count > 0).is_some_and(|count| count > 1)
}

#[derive(Default)]
struct Row {
    right: usize,
    wrong: usize,
    refused: usize,
    ambiguous_applied: usize,
    ambiguous_refused: usize,
}

/// Outcomes by mistake.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<Distortion, Row>);

impl Table {
    pub(crate) fn add(&mut self, distortion: Distortion, is_ambiguous: bool, outcome: Outcome) {
        let row = self.0.entry(distortion).or_default();
        let count = match (outcome, is_ambiguous) {
            (Outcome::Wrong, _) => &mut row.wrong,
            (Outcome::Right, false) => &mut row.right,
            (Outcome::Refused, false) => &mut row.refused,
            (Outcome::Right, true) => &mut row.ambiguous_applied,
            (Outcome::Refused, true) => &mut row.ambiguous_refused,
        };
        *count += 1;
    }

    fn sum(&self) -> Row {
        self.0.values().fold(Row::default(), |sum, row| Row {
            right: sum.right + row.right,
            wrong: sum.wrong + row.wrong,
            refused: sum.refused + row.refused,
            ambiguous_applied: sum.ambiguous_applied + row.ambiguous_applied,
            ambiguous_refused: sum.ambiguous_refused + row.ambiguous_refused,
        })
    }

    /// At least 85 of 100 unambiguous edits are applied, none wrongly. All others are refused.
    pub(crate) fn check(&self) {
        let sum = self.sum();
        assert_eq!(sum.wrong, 0, "edits were applied wrongly");
        assert_eq!(sum.ambiguous_applied, 0, "ambiguous edits were applied");
        let unambiguous = sum.right + sum.refused;
        assert!(unambiguous >= 300, "{unambiguous} unambiguous edits");
        assert!(sum.right * 100 >= unambiguous * 85, "{} of {unambiguous}", sum.right);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:18}  right  refused  wrong | ambiguous: refused  applied", "")?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, row: &Row| {
            writeln!(
                f,
                "{name:18} {:6} {:8} {:6} | {:18} {:8}",
                row.right, row.refused, row.wrong, row.ambiguous_refused, row.ambiguous_applied
            )
        };
        for (distortion, values) in &self.0 {
            row(f, &format!("{distortion:?}"), values)?;
        }
        row(f, "all", &self.sum())
    }
}
