//! The lines of a file that is not read whole.

use super::super::text::Encoding;
use super::window::{MAX_LINE, Rest, Writer};
use std::io::{self, BufRead as _, BufReader, Read};
use tool_runtime::ToolContext;

/// Bytes of a block.
pub(super) const BLOCK: usize = 256 * 1024;

/// Bytes of a line that are looked at. A character has four at most.
const MAX_LINE_BYTES: u64 = 4 * (MAX_LINE as u64 + 1);

pub(super) fn check_cancelled(context: &ToolContext) -> io::Result<()> {
    match context.is_cancelled() {
        true => Err(io::Error::other("the call was cancelled")),
        false => Ok(()),
    }
}

/// The lines of a file from here on.
pub(super) struct Lines<'a, R> {
    reader: BufReader<R>,
    encoding: Encoding,
    context: &'a ToolContext,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(reader: R, encoding: Encoding, context: &'a ToolContext) -> Self {
        Self { reader: BufReader::with_capacity(BLOCK, reader), encoding, context }
    }

    /// Writes lines. With the number of all lines if the end was reached.
    pub(super) fn write(
        mut self,
        first: usize,
        limit: usize,
    ) -> io::Result<(Writer, Option<usize>)> {
        let mut writer = Writer::new(first);
        let mut bytes = Vec::new();
        let mut is_ended = true;
        for line in 0..limit {
            check_cancelled(self.context)?;
            bytes.clear();
            if self.reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)? == 0 {
                return Ok((writer, Some(first + line - 1)));
            }
            let is_cut = !bytes.ends_with(b"\n") && bytes.len() as u64 == MAX_LINE_BYTES;
            let is_last = line + 1 == limit;
            let rest = if is_cut { self.skip_rest(is_last)? } else { Rest::default() };
            is_ended = !rest.has_more;
            let text = self.encoding.decode_lossy(&bytes);
            if !writer.push(text.trim_end_matches(['\n', '\r']), rest) {
                return Ok((writer, None));
            }
        }
        let is_at_end = is_ended && self.reader.fill_buf()?.is_empty();
        Ok((writer, is_at_end.then(|| first + limit - 1)))
    }

    /// Skips the rest of a line. Of the last one at most a block is read, as nothing after it is shown.
    fn skip_rest(&mut self, is_last: bool) -> io::Result<Rest> {
        let mut bytes = 0;
        loop {
            check_cancelled(self.context)?;
            let block = self.reader.fill_buf()?;
            let end = memchr::memchr(b'\n', block);
            let length = end.unwrap_or(block.len());
            let is_ended = end.is_some() || block.is_empty();
            bytes += length as u64;
            self.reader.consume(length + usize::from(end.is_some()));
            if is_ended || is_last {
                return Ok(Rest { bytes, has_more: !is_ended });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use tool_runtime::CancellationToken;

    /// An endless line, which counts the bytes that were read of it.
    struct Endless<'a>(&'a Cell<usize>, &'a CancellationToken);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            self.0.set(self.0.get() + buffer.len());
            if self.0.get() > 8 * BLOCK {
                self.1.cancel();
            }
            Ok(buffer.len())
        }
    }

    fn written(reader: impl Read, limit: usize) -> (String, Option<usize>) {
        let context = ToolContext::default();
        let lines = Lines::new(reader, Encoding::Utf8, &context);
        let (writer, total) = lines.write(1, limit).unwrap();
        (writer.finish(total, "a").text, total)
    }

    #[test]
    fn the_bytes_of_long_lines_are_counted() {
        let content = format!("{}\nnext\n{}", "x".repeat(3_000_000), "y".repeat(10_000));
        let (text, total) = written(content.as_bytes(), 9);
        assert_eq!(total, Some(3));
        assert!(text.contains("x [2998000 more bytes]\n     2\tnext\n"), "{text}");
        assert!(text.contains("y [8000 more bytes]\n["), "{text}");
        let (text, total) = written(content.as_bytes(), 1);
        assert_eq!(total, None);
        assert!(text.contains("x [more than 260144 more bytes]\n[lines 1 to 1; "), "{text}");
        let exact = format!("{}\n", "x".repeat(8004));
        let (text, total) = written(exact.as_bytes(), 1);
        assert_eq!(total, Some(1));
        assert!(text.contains("x [6004 more characters]\n["), "{text}");
    }

    #[test]
    fn a_line_is_read_until_the_call_is_cancelled_and_the_last_one_only_in_part() {
        for (limit, most) in [(1, 2 * BLOCK), (2, 10 * BLOCK)] {
            let (read, token) = (Cell::new(0), CancellationToken::new());
            let context = ToolContext::default().with_cancellation(token.clone());
            let lines = Lines::new(Endless(&read, &token), Encoding::Utf8, &context);
            assert_eq!(lines.write(1, limit).is_ok(), limit == 1);
            assert!(read.get() <= most, "{}", read.get());
        }
    }
}
