//! Replacing text that a model quotes, without guessing.
//!
//! The quoted text is searched in steps of falling strictness, see [`MatchRule`]. A step that finds several matches is an
//! error with their line numbers, not a choice. Lines that the model leaves as they are keep the bytes of the file.

mod fold;
mod line_index;
mod line_search;
mod locate;
mod nearest;
mod shift;
mod splice;

pub(super) use line_search::LineSearch;
pub(super) use locate::{Located, Match, locate, locate_lines};
pub(super) use nearest::{Nearest, nearest};
pub(super) use splice::{Splice, replacement, spliced};

use super::snapshot::MAX_CHANGED;
use super::text::LfView;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// Limit on the time that a call takes to find and replace text.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The most matches of the quoted text in the new text that are compared with the file.
const MAX_COMPARED: usize = 1000;

/// The rule by which the quoted text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum MatchRule {
    /// As quoted. `\n` matches every line ending.
    Exact,
    /// Whole lines that differ in spaces at their ends.
    TrailingWhitespace,
    /// Whole lines with another indentation, by which the new text is indented, too.
    ShiftedIndentation,
    /// Quotation marks, dashes and spaces of typography count as those of ASCII; in whole lines, decomposed letters as
    /// composed ones.
    TypographicCharacters,
}

impl MatchRule {
    pub(super) const ALL: [Self; 4] = [
        Self::Exact,
        Self::TrailingWhitespace,
        Self::ShiftedIndentation,
        Self::TypographicCharacters,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TrailingWhitespace => "trailing_whitespace",
            Self::ShiftedIndentation => "shifted_indentation",
            Self::TypographicCharacters => "typographic_characters",
        }
    }
}

/// One replacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replace<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Replaces every match. Otherwise there must be one.
    pub(super) all: bool,
}

/// The result of a replacement.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) content: String,
    pub(super) step: MatchRule,
    /// The first lines of the matches, in the file before.
    pub(super) lines: Vec<usize>,
}

/// The reason why text was not replaced.
#[derive(Debug, PartialEq)]
pub(super) enum EditError {
    Empty,
    Identical,
    /// The first lines of all matches.
    Ambiguous {
        step: MatchRule,
        lines: Vec<usize>,
    },
    /// The new text is there already.
    AlreadyApplied {
        line: usize,
    },
    NotFound(Vec<Nearest>),
    /// More matches than are replaced at once.
    TooManyMatches,
    /// Another hunk of the patch changes the same lines.
    Overlaps,
    /// The only match is before the line that the hunk names.
    BeforeScope {
        line: usize,
    },
    /// The lines take too long to compare.
    Expired,
}

/// The end of the time for a call that begins now.
pub(super) fn deadline() -> Instant {
    Instant::now() + TIME_LIMIT
}

/// Replaces text in a file.
///
/// # Errors
/// The text is not in the file, or several times, or takes too long.
pub(super) fn replace(
    content: &str,
    edit: Replace<'_>,
    deadline: Instant,
) -> Result<Replaced, EditError> {
    let (old, new) = (lf(edit.old), lf(edit.new));
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::Identical);
    }
    let view = LfView::from_raw(content);
    let Located { step, matches, is_cut } =
        locate(&view.text, &old).ok_or_else(|| not_found(&view, &old, &new))?;
    let added = matches.len().saturating_mul(new.len()) as u64;
    if edit.all && (is_cut || matches.len() > 1 && added > MAX_CHANGED) {
        return Err(EditError::TooManyMatches);
    }
    let lines = line_numbers_of(&view.text, &matches);
    if matches.len() > 1 && !edit.all {
        return Err(EditError::Ambiguous { step, lines });
    }
    if !edit.all && is_applied(&view.text, &matches[0], &old, &new) {
        return Err(EditError::AlreadyApplied { line: lines[0] });
    }
    let (mut splices, mut kept) = (Vec::<Splice>::new(), Vec::new());
    for (found, line) in matches.iter().zip(lines) {
        // `aa` is in `aaa` twice, and is replaced once.
        if splices.last().is_none_or(|last| last.range.end <= view.raw_offset(found.start)) {
            splices.push(replacement(&view, found, &old, &new, deadline)?);
            kept.push(line);
        }
    }
    Ok(Replaced { content: spliced(content, &splices), step, lines: kept })
}

/// The number of the first line of each match, counted from 1.
fn line_numbers_of(text: &str, matches: &[Match]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let number = |found: &Match| {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[at..found.start]).count();
        at = found.start;
        line
    };
    matches.iter().map(number).collect()
}

/// Text of a model with `\n` alone.
pub(super) fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Whether finding a string says something: short ones are in many files by chance.
pub(super) fn is_telling(text: &str) -> bool {
    text.chars().filter(|character| !character.is_whitespace()).count() >= 8
}

/// Whether the match has the new text already, which contains the old one: the edit would add it again.
pub(super) fn is_applied(text: &str, found: &Match, old: &str, new: &str) -> bool {
    let positions = memchr::memmem::find_iter(new.as_bytes(), old.as_bytes());
    positions.take(MAX_COMPARED).any(|at| {
        let start = found.start.checked_sub(at);
        start.and_then(|start| text.as_bytes().get(start..start + new.len()))
            == Some(new.as_bytes())
    })
}

/// New content of a file: its lines that are kept have the endings that they had, new ones that of their neighbour. If
/// comparing takes too long, all have their own.
pub(super) fn rewritten(old: &str, new: &str) -> String {
    let view = LfView::from_raw(old);
    let whole = Match { start: 0, end: view.text.len(), shift: shift::Shift::default() };
    let splice = replacement(&view, &whole, &view.text, new, deadline());
    splice.map_or_else(|_| new.to_owned(), |splice| splice.text)
}

fn not_found(view: &LfView<'_>, old: &str, new: &str) -> EditError {
    if is_telling(new)
        && let Some(Located {
            step: MatchRule::Exact | MatchRule::TrailingWhitespace, matches, ..
        }) = locate(&view.text, new)
        && let [found] = &*matches
    {
        return EditError::AlreadyApplied { line: view.line_of(found.start) };
    }
    EditError::NotFound(nearest(&view.text, old))
}

/// Continues a sentence about the quoted text.
impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty; quote the lines around the change"),
            Self::TooManyMatches => f.write_str(
                "is in the file too often for all matches to be replaced at once; use a command such as `sed`, or a script",
            ),
            Self::Expired => f.write_str(
                "takes too long to replace; quote fewer lines, or use a command such as `sed`, or a script",
            ),
            Self::Overlaps => f.write_str("overlaps with another hunk; merge the two"),
            Self::BeforeScope { line } => write!(
                f,
                "is at line {line}, before the line that `@@` names; correct the one or the other"
            ),
            Self::Identical => f.write_str("equals the new text; nothing would change"),
            Self::Ambiguous { step, lines } => {
                write!(f, "is in the file {} times, at lines {}", lines.len(), numbers(lines))?;
                if *step != MatchRule::Exact {
                    write!(f, " (compared by {})", step.name())?;
                }
                f.write_str("; quote more of the lines around the one you mean")
            }
            Self::AlreadyApplied { line } => {
                write!(f, "was replaced already: the new text is at line {line}")
            }
            Self::NotFound(nearest) => {
                f.write_str("is not in the file")?;
                nearest.iter().try_for_each(|lines| write!(f, "\n{lines}"))?;
                f.write_str("\nread the file again and quote it exactly")
            }
        }
    }
}

/// The first line numbers, as text.
fn numbers(lines: &[usize]) -> String {
    const SHOWN: usize = 20;
    let first: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    let rest = if lines.len() > SHOWN { ", .." } else { "" };
    format!("{}{rest}", first.join(", "))
}

#[cfg(test)]
mod tests;
