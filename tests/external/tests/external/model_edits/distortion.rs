//! Mistakes that models make when they quote.

use super::corpus::Edit;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distortion {
    None,
    /// The quoted lines lack the spaces at their ends, or have some.
    TrailingSpace,
    /// The indentation that all lines share is dropped.
    Dedented,
    Indented,
    /// Only the first line lacks its indentation.
    FirstLineDedented,
    Tabs,
    /// Quotation marks and dashes of the context are typographic.
    Typographic,
    /// The file has `\r\n`, the model writes `\n`.
    Crlf,
    /// The line numbers of a diff are wrong.
    StaleNumbers,
    /// One line of context instead of three.
    LessContext,
    /// No context at all.
    NoContext,
    /// A line of context is paraphrased.
    Paraphrased,
}

impl Distortion {
    pub(crate) const ALL: [Self; 12] = [
        Self::None,
        Self::TrailingSpace,
        Self::Dedented,
        Self::Indented,
        Self::FirstLineDedented,
        Self::Tabs,
        Self::Typographic,
        Self::Crlf,
        Self::StaleNumbers,
        Self::LessContext,
        Self::NoContext,
        Self::Paraphrased,
    ];

    /// The edit with the mistake, if it can be made in it.
    pub(crate) fn apply(self, edit: &Edit, number: usize) -> Option<Edit> {
        let mut edit = edit.clone();
        match self {
            Self::None => {}
            Self::TrailingSpace => each_context(&mut edit, |line| format!("{}  ", line.trim_end())),
            Self::Dedented => {
                let shared = edit.lines.iter().filter(|(_, line)| !line.trim().is_empty());
                let shared =
                    shared.map(|(_, line)| indent(line)).min().filter(|shared| *shared > 0)?;
                each(&mut edit, |line| line.get(shared..).unwrap_or_default().to_owned());
            }
            Self::Indented => each(&mut edit, |line| format!("    {line}")),
            Self::FirstLineDedented => {
                let (_, line) = edit.lines.first_mut().filter(|(side, _)| *side == ' ')?;
                *line = line.trim_start().to_owned();
            }
            Self::Tabs => {
                let is_regular = |(_, line): &(char, String)| indent(line).is_multiple_of(4);
                edit.lines.iter().all(is_regular).then_some(())?;
                // Where nothing that is quoted is indented, nothing shows the mistake.
                let is_telling = |(side, line): &(char, String)| *side != '+' && indent(line) > 0;
                edit.lines.iter().any(is_telling).then_some(())?;
                each(&mut edit, |line| "\t".repeat(indent(line) / 4) + line.trim_start());
            }
            Self::Typographic => each_context(&mut edit, |line| {
                line.replace('"', "\u{201C}").replace('\'', "\u{2019}").replace(" - ", " \u{2013} ")
            }),
            Self::Crlf => {
                edit.before = edit.before.replace('\n', "\r\n");
                edit.after = edit.after.replace('\n', "\r\n");
            }
            Self::StaleNumbers => edit.first = twin(&edit).unwrap_or(edit.first + 1 + number % 40),
            Self::LessContext => context(&mut edit, 1),
            Self::NoContext => context(&mut edit, 0),
            Self::Paraphrased => {
                let telling = |line: &str| line.split_whitespace().count() > 1;
                let mut lines = edit.lines.iter_mut();
                let (_, line) = lines.find(|(side, line)| *side == ' ' && telling(line))?;
                *line = line.replacen(' ', " very ", 1) + " really";
            }
        }
        edit.lines
            .iter()
            .any(|(side, line)| *side != '+' && !line.trim().is_empty())
            .then_some(edit)
    }
}

/// The number of another line where the quoted lines are as well: the worst of all stale numbers.
fn twin(edit: &Edit) -> Option<usize> {
    let quoted = edit.lines.iter().filter(|(side, _)| *side != '+');
    let quoted: Vec<&str> = quoted.map(|(_, line)| line.as_str()).collect();
    let lines: Vec<&str> = edit.before.lines().collect();
    let mut places = lines.windows(quoted.len()).enumerate();
    places.find(|(at, window)| at + 1 != edit.first && *window == quoted).map(|(at, _)| at + 1)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn each(edit: &mut Edit, change: impl Fn(&str) -> String) {
    for (_, line) in edit.lines.iter_mut().filter(|(_, line)| !line.trim().is_empty()) {
        *line = change(line);
    }
}

fn each_context(edit: &mut Edit, change: impl Fn(&str) -> String) {
    for (_, line) in edit.lines.iter_mut().filter(|(side, _)| *side == ' ') {
        *line = change(line);
    }
}

/// Keeps so many lines of context at both ends.
fn context(edit: &mut Edit, count: usize) {
    let is_context = |line: &&(char, String)| line.0 == ' ';
    let before = edit.lines.iter().take_while(is_context).count().saturating_sub(count);
    let after = edit.lines.iter().rev().take_while(is_context).count().saturating_sub(count);
    edit.lines.truncate(edit.lines.len() - after);
    edit.lines.drain(..before);
    edit.first += before;
}
