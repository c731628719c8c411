//! One file: how often a pattern matches, and the matching lines.

use super::line::Line;
use super::stop::Stop;
use super::stop::Stoppable;
use cap_std::fs::File;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::io;

/// Bytes of one line, or of one file in a search across lines.
const MAX_HEAP: usize = 64 << 20;

/// A pattern, and what is wanted of its matches.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) multiline: bool,
    /// A file counts once, so its search ends at the first match.
    pub(super) first_only: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    /// The model named the file, so it is searched even if it is binary.
    pub(super) is_named: bool,
}

/// Outcome of a search for the number of matches.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Matching lines; with `multiline`, matches.
    pub(super) count: u64,
    pub(super) is_binary: bool,
}

impl Query {
    /// A searcher for [`Self::tally`]; each thread has its own.
    pub(super) fn searcher(&self) -> Searcher {
        self.builder().line_number(false).build()
    }

    fn builder(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        let binary =
            if self.is_named { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) };
        builder.multi_line(self.multiline).heap_limit(Some(MAX_HEAP)).binary_detection(binary);
        builder
    }

    /// Why a file could not be searched.
    pub(super) fn reason(&self, error: &io::Error) -> String {
        let limit = MAX_HEAP >> 20;
        // The searcher has no other error of its own.
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::Other, None) if self.multiline => {
                format!("it has more than {limit} MiB, the limit of `multiline`")
            }
            (io::ErrorKind::Other, None) => {
                format!("it has a line of more than {limit} MiB; run a command such as `grep -o`")
            }
            _ => error.to_string(),
        }
    }

    /// Counts the matches in a file.
    pub(super) fn tally(
        &self,
        searcher: &mut Searcher,
        file: File,
        stop: &Stop<'_>,
    ) -> io::Result<Tally> {
        let mut sink = TallySink { query: self, tally: Tally::default() };
        searcher.search_reader(&self.matcher, Stoppable { reader: file, stop }, &mut sink)?;
        // As ripgrep: matches before the first byte 0 would be a part of those in the file.
        if sink.tally.is_binary && !self.is_named {
            return Ok(Tally::default());
        }
        Ok(sink.tally)
    }

    /// The matching lines of a file and their context, after `skip` of them and at most `limit`.
    pub(super) fn lines(
        &self,
        file: File,
        stop: &Stop<'_>,
        skip: &mut usize,
        limit: usize,
    ) -> io::Result<Vec<Line>> {
        let mut builder = self.builder();
        builder.before_context(self.before).after_context(self.after);
        let mut sink = LineSink { query: self, skip, limit, lines: Vec::new() };
        let file = Stoppable { reader: file, stop };
        builder.build().search_reader(&self.matcher, file, &mut sink)?;
        Ok(sink.lines)
    }
}

struct TallySink<'a> {
    query: &'a Query,
    tally: Tally,
}

impl Sink for TallySink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.tally.count += if self.query.multiline { matches_in(self.query, found) } else { 1 };
        Ok(!self.query.first_only)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.tally.is_binary = true;
        Ok(true)
    }
}

/// Matches in one block of lines, which the searcher joins when they touch.
fn matches_in(query: &Query, found: &SinkMatch<'_>) -> u64 {
    let (buffer, range) = (found.buffer(), found.bytes_range_in_buffer());
    let mut count = 0;
    let counted = query.matcher.find_iter_at(buffer, range.start, |found| {
        let is_inside = found.start() < range.end;
        count += u64::from(is_inside);
        is_inside
    });
    counted.map_or(1, |()| count.max(1))
}

struct LineSink<'a> {
    query: &'a Query,
    skip: &'a mut usize,
    limit: usize,
    lines: Vec<Line>,
}

impl LineSink<'_> {
    /// Returns whether more lines are wanted.
    fn push(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) -> bool {
        let first = number.unwrap_or_default();
        for (number, bytes) in (first..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            if *self.skip > 0 {
                *self.skip -= 1;
            } else if self.lines.len() == self.limit {
                return false;
            } else {
                self.lines.push(Line::new(number, bytes, is_match, &self.query.matcher));
            }
        }
        true
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.push(found.line_number(), found.bytes(), true))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.push(context.line_number(), context.bytes(), false))
    }
}
