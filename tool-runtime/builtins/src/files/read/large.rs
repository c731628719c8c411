//! Files that are too large to be read whole: one pass over blocks, which remembers where lines are.

use super::super::Files;
use super::super::dir_entry::{DirEntry, describe};
use super::super::snapshot::Stamp;
use super::super::text::{Encoding, Eol, is_binary};
use super::lines::{BLOCK, Lines, check_cancelled};
use super::window::{Window, past_the_end};
use super::{Binary, ReadOutput, not_text, text_output};
use crate::tool_output::ToolOutput;
use cap_std::fs::{File, Metadata};
use std::collections::VecDeque;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use tool_runtime::{ToolContext, ToolError};

/// Lines between two marks, at most.
const LINES_BETWEEN: usize = 10_000;

/// Bytes between two marks, at most: unless a line is longer.
const BYTES_BETWEEN: u64 = 4 * 1024 * 1024;

/// Bytes between two reports of progress.
const BYTES_OF_PROGRESS: u64 = 32 * 1024 * 1024;

/// Files whose marks are kept.
const MAX_FILES: usize = 8;

/// Offsets of lines here and there, so that the next call starts near its first line.
#[derive(Default)]
pub(crate) struct LineMarks(VecDeque<(PathBuf, Marks)>);

#[derive(Clone)]
struct Marks {
    stamp: Stamp,
    /// Lines, counted from 0, and where they start. Not empty.
    lines: Vec<(usize, u64)>,
    /// Number of all lines, once the end was reached.
    total: Option<usize>,
}

impl Marks {
    fn add(&mut self, line: usize, start: u64) {
        let (last, offset) = self.lines.last().copied().unwrap_or_default();
        if line >= last + LINES_BETWEEN || line > last && start >= offset + BYTES_BETWEEN {
            self.lines.push((line, start));
        }
    }
}

impl LineMarks {
    fn take(&mut self, entry: &DirEntry, stamp: Stamp) -> Marks {
        let found = self.0.iter().position(|(key, _)| *key == entry.key);
        let known = found.and_then(|index| self.0.remove(index)).map(|(_, marks)| marks);
        let is_current = |marks: &Marks| marks.stamp == stamp;
        known.filter(is_current).unwrap_or(Marks { stamp, lines: vec![(0, 0)], total: None })
    }

    fn put(&mut self, entry: &DirEntry, marks: Marks) {
        self.0.push_back((entry.key.clone(), marks));
        if self.0.len() > MAX_FILES {
            self.0.pop_front();
        }
    }
}

impl Files {
    /// Reads lines of a file that is not read whole, and not changed.
    pub(super) fn read_large(
        &self,
        entry: &DirEntry,
        mut file: File,
        metadata: &Metadata,
        window: Window,
        context: &ToolContext,
    ) -> Result<ToolOutput<ReadOutput>, ToolError> {
        let failed = |error: io::Error| describe(&entry.display_path, &error);
        let sample = sample(&mut file).map_err(failed)?;
        if is_binary(&sample) {
            let format = infer::get(&sample).map(|kind| kind.mime_type());
            return Err(not_text(&entry.display_path, metadata.len(), Binary::Format(format)));
        }
        let mut marks = self.line_marks().take(entry, Stamp::from_metadata(metadata));
        let mut search =
            Search { file: &mut file, marks: &mut marks, size: metadata.len(), context };
        let first = search.first_line(window, &entry.display_path);
        let known_total = marks.total;
        self.line_marks().put(entry, marks);
        let first = first?;
        let encoding = Encoding::detect(without_cut_character(&sample));
        let lines = Lines::new(file, encoding, context);
        let (writer, total) = lines.write(first, window.limit).map_err(failed)?;
        let cut = writer.finish(known_total.or(total), &entry.display_path);
        let eol = Eol::from_text(&String::from_utf8_lossy(&sample));
        Ok(text_output(entry, cut, encoding, eol, None))
    }
}

fn sample(file: &mut File) -> io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    file.by_ref().take(64 * 1024).read_to_end(&mut sample)?;
    Ok(sample)
}

/// The sample may end inside a character.
fn without_cut_character(sample: &[u8]) -> &[u8] {
    match std::str::from_utf8(sample) {
        Err(error) if error.error_len().is_none() => &sample[..error.valid_up_to()],
        _ => sample,
    }
}

/// The search for a line.
struct Search<'a> {
    file: &'a mut File,
    marks: &'a mut Marks,
    /// Bytes of the file.
    size: u64,
    context: &'a ToolContext,
}

impl Search<'_> {
    /// Moves to the first line of a window, and returns its number.
    fn first_line(&mut self, window: Window, display_path: &str) -> Result<usize, ToolError> {
        let failed = |error: io::Error| describe(display_path, &error);
        let first = match usize::try_from(window.offset) {
            Ok(line) => line.saturating_sub(1),
            Err(_) => window.first(display_path, self.count().map_err(failed)?)?,
        };
        let found = self.seek(first).map_err(failed)?;
        found.map_err(|total| past_the_end(display_path, first + 1, total))?;
        Ok(first + 1)
    }

    /// Moves to the beginning of a line, counted from 0. Inside, the number of all lines if there are not as many.
    fn seek(&mut self, line: usize) -> io::Result<Result<(), usize>> {
        if let Some(total) = self.marks.total
            && line >= total
        {
            return Ok(Err(total));
        }
        let mark = self.marks.lines.partition_point(|(known, _)| *known <= line);
        self.scan(mark - 1, line)
    }

    fn count(&mut self) -> io::Result<usize> {
        if let Some(total) = self.marks.total {
            return Ok(total);
        }
        let mark = self.marks.lines.len() - 1;
        Ok(self.scan(mark, usize::MAX)?.err().unwrap_or(usize::MAX))
    }

    /// Reads on from a mark to a line, and adds marks.
    fn scan(&mut self, mark: usize, wanted: usize) -> io::Result<Result<(), usize>> {
        let (mut line, mut offset) = self.marks.lines[mark];
        self.file.seek(SeekFrom::Start(offset))?;
        if line == wanted {
            return Ok(Ok(()));
        }
        let mut block = vec![0; BLOCK];
        let mut ends_with_newline = true;
        loop {
            check_cancelled(self.context)?;
            let length = self.file.read(&mut block)?;
            if length == 0 {
                let total = line + usize::from(!ends_with_newline);
                self.marks.total = Some(total);
                return Ok(Err(total));
            }
            for end in memchr::memchr_iter(b'\n', &block[..length]) {
                line += 1;
                let start = offset + end as u64 + 1;
                self.marks.add(line, start);
                if line == wanted {
                    return self.start_at(start, line);
                }
            }
            ends_with_newline = block[length - 1] == b'\n';
            let reported = offset / BYTES_OF_PROGRESS;
            offset += length as u64;
            if offset / BYTES_OF_PROGRESS > reported {
                self.context.progress(offset, self.size, "bytes searched for lines");
            }
        }
    }

    /// Moves to the beginning of a line, unless it is the end of the file.
    fn start_at(&mut self, start: u64, line: usize) -> io::Result<Result<(), usize>> {
        if self.file.seek(SeekFrom::End(0))? <= start {
            self.marks.total = Some(line);
            return Ok(Err(line));
        }
        self.file.seek(SeekFrom::Start(start))?;
        Ok(Ok(()))
    }
}
