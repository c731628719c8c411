//! Lines that a quoted text resembles, for the error that does not find it.

use super::MatchRule;
use super::line_index::{LineIndex, comparable};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Passages that an error names.
const SHOWN: usize = 3;

/// Equal lines that are counted: a line such as `}` may be in a file a million times.
const MAX_VOTES: usize = 200_000;

/// Lines that resemble the quoted text, and where they first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::files) struct Nearest {
    /// Line numbers, counted from 1.
    pub(in crate::files) first: usize,
    pub(in crate::files) last: usize,
    /// The line that differs, in the file.
    pub(in crate::files) differs_at: usize,
    found: String,
    quoted: String,
}

/// The passages with most lines of the quoted text, or with the line that is most like its first.
pub(in crate::files) fn nearest(text: &str, old: &str) -> Vec<Nearest> {
    let index = LineIndex::from_text(text);
    let quoted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    if index.len() == 0 {
        return Vec::new();
    }
    let mut starts = starts_with_equal_lines(&quoted, &index);
    if starts.is_empty() {
        starts.extend(start_of_similar_line(&quoted, &index));
    }
    starts.into_iter().take(SHOWN).map(|start| describe(&quoted, &index, start)).collect()
}

/// The first lines of passages, by the number of equal lines.
fn starts_with_equal_lines(quoted: &[&str], index: &LineIndex<'_>) -> Vec<usize> {
    let [wanted, lines] = line_numbers(quoted, index);
    let mut by_number: HashMap<u32, Vec<usize>> = HashMap::new();
    for (line, number) in lines.iter().enumerate().filter(|(_, number)| **number != u32::MAX) {
        by_number.entry(*number).or_default().push(line);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let telling = wanted.iter().enumerate().filter(|(line, _)| is_telling(quoted[*line]));
    let pairs = telling.flat_map(|(line, number)| {
        by_number.get(number).into_iter().flatten().map(move |at| at.checked_sub(line))
    });
    for start in pairs.take(MAX_VOTES).flatten() {
        *votes.entry(start).or_default() += 1;
    }
    let mut starts: Vec<(usize, usize)> = votes.into_iter().collect();
    starts.sort_by_key(|(start, votes)| (usize::MAX - votes, *start));
    let most = starts.first().map_or(0, |(_, votes)| *votes);
    starts.into_iter().filter(|(_, votes)| votes * 2 > most).map(|(start, _)| start).collect()
}

/// A number for each line: equal if the lines are, with typographic characters as those of ASCII.
fn line_numbers(old: &[&str], index: &LineIndex<'_>) -> [Vec<u32>; 2] {
    let comparable = |line| comparable(line, MatchRule::TypographicCharacters);
    let mut known: HashMap<Cow<'_, str>, u32> = HashMap::new();
    let old = old.iter().map(|line| {
        let next = known.len() as u32;
        *known.entry(comparable(line)).or_insert(next)
    });
    let old = old.collect();
    // Lines that are not quoted need no number of their own.
    let number = |line| known.get(&comparable(line)).copied().unwrap_or(u32::MAX);
    [old, index.lines().map(number).collect()]
}

/// Whether a line has words: brackets are everywhere.
fn is_telling(line: &str) -> bool {
    line.chars().filter(|character| character.is_alphanumeric()).count() > 2
}

fn start_of_similar_line(quoted: &[&str], index: &LineIndex<'_>) -> Option<usize> {
    let (number, line) = quoted.iter().enumerate().find(|(_, line)| is_telling(line))?;
    let wanted = pairs_of_letters(line);
    let score = |at: &usize| {
        let found = pairs_of_letters(index.line(*at));
        let common = wanted.iter().filter(|pair| found.contains(pair)).count();
        1000 * 2 * common / (wanted.len() + found.len()).max(1)
    };
    let lines = 0..index.len().min(50_000);
    let best = lines.max_by_key(|at| (score(at), usize::MAX - at))?;
    (score(&best) >= 500).then(|| best.saturating_sub(number))
}

fn pairs_of_letters(line: &str) -> Vec<[u8; 2]> {
    let line = line.trim().as_bytes();
    line[..line.len().min(200)].windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

fn describe(quoted: &[&str], index: &LineIndex<'_>, start: usize) -> Nearest {
    let compared = |line: usize, trim: fn(&str) -> &str| {
        start + line < index.len() && trim(index.line(start + line)) == trim(quoted[line])
    };
    let differs = |trim| (0..quoted.len()).find(|line| !compared(*line, trim));
    let at = differs(str::trim).or_else(|| differs(str::trim_end)).unwrap_or(0);
    let found = if start + at < index.len() { index.line(start + at) } else { "" };
    Nearest {
        first: start + 1,
        last: (start + quoted.len()).min(index.len()),
        differs_at: start + at + 1,
        found: excerpt(found),
        quoted: excerpt(quoted[at]),
    }
}

fn excerpt(line: &str) -> String {
    const SHOWN: usize = 120;
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line.to_owned(),
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, differs_at, found, quoted } = self;
        write!(
            f,
            "nearest: lines {first} to {last}, which first differ at line {differs_at}: the file has `{found}`, not `{quoted}`"
        )
    }
}
