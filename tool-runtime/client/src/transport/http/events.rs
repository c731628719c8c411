//! Reads event streams. What the format does not define never ends a stream: unknown fields, lines without a colon, repeated
//! fields, a `retry` that is no number, invalid UTF-8.

use super::sse_backoff::Events;
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::header::HeaderValue;
use rmcp::transport::streamable_http_client::SseError;
use serde::de::IgnoredAny;
use sse_stream::Sse;
use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;

/// UTF-8's byte order mark, which a stream may begin with.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The events of a body, each of at most `longest` bytes.
pub(super) fn events<B, E>(
    body: impl Stream<Item = Result<B, E>> + Send + 'static,
    longest: usize,
) -> Events
where
    B: AsRef<[u8]>,
    E: Error + Send + Sync + 'static,
{
    let source = Source { body: Box::pin(body), reader: Reader::new(longest), has_ended: false };
    stream::unfold(source, |mut source| async { source.next().await.map(|event| (event, source)) })
        .boxed()
}

struct Source<S> {
    body: Pin<Box<S>>,
    reader: Reader,
    has_ended: bool,
}

impl<S, B, E> Source<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    E: Error + Send + Sync + 'static,
{
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            if let Some(event) = self.reader.complete.pop_front() {
                return Some(Ok(event));
            }
            if self.has_ended {
                return None;
            }
            let problem: Box<dyn Error + Send + Sync> = match self.body.next().await {
                Some(Ok(bytes)) => match self.reader.read(bytes.as_ref()) {
                    Ok(()) => continue,
                    Err(problem) => problem.into(),
                },
                Some(Err(error)) => error.into(),
                None => {
                    self.has_ended = true;
                    self.reader.end();
                    continue;
                }
            };
            self.has_ended = true;
            return Some(Err(SseError::Body(problem)));
        }
    }
}

/// Splits bytes into lines, and lines into events.
struct Reader {
    longest: usize,
    /// A line without its end.
    line: Vec<u8>,
    is_first_line: bool,
    /// Whether the last line ended with a carriage return, whose line feed may follow.
    skips_line_feed: bool,
    event: Sse,
    /// Bytes of the current event.
    size: usize,
    complete: VecDeque<Sse>,
}

impl Reader {
    fn new(longest: usize) -> Self {
        Self {
            longest,
            line: Vec::new(),
            is_first_line: true,
            skips_line_feed: false,
            event: Sse::default(),
            size: 0,
            complete: VecDeque::new(),
        }
    }

    /// # Errors
    /// An event is too long.
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.skips_line_feed) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.size + self.line.len() > self.longest {
                return Err(format!(
                    "an event of its stream is longer than {} bytes",
                    self.longest
                ));
            }
            let Some(end) = end else { return Ok(()) };
            self.skips_line_feed = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.take_line();
        }
        Ok(())
    }

    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_first_line = std::mem::take(&mut self.is_first_line);
        let line = if is_first_line { line.strip_prefix(BOM).unwrap_or(&line) } else { &line };
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            // A comment.
            Some(0) => return,
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        self.size += value.len();
        self.field(field, &String::from_utf8_lossy(value));
    }

    fn field(&mut self, name: &[u8], value: &str) {
        match name {
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                data => *data = Some(value.to_owned()),
            },
            b"event" => self.event.event = Some(value.to_owned()),
            // The id is sent back as a header.
            b"id" if !value.is_empty() && HeaderValue::from_str(value).is_ok() => {
                self.event.id = Some(value.to_owned());
            }
            b"retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.event.retry = value.parse().ok().or(self.event.retry);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.event);
        self.size = 0;
        if event != Sse::default() {
            self.complete.push_back(event);
        }
    }

    /// Some servers end a stream without the blank line after the last event.
    fn end(&mut self) {
        self.take_line();
        let is_json = |data: &String| serde_json::from_str::<IgnoredAny>(data).is_ok();
        if self.event.data.as_ref().is_some_and(is_json) {
            self.dispatch();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::io;

    fn read(chunks: &[&str]) -> Vec<Sse> {
        let chunks: Vec<_> =
            chunks.iter().map(|chunk| Ok::<_, io::Error>(chunk.as_bytes().to_vec())).collect();
        let events = events(stream::iter(chunks), 100).collect::<Vec<_>>();
        events.now_or_never().unwrap().into_iter().map(|event| event.ok().unwrap()).collect()
    }

    fn data(text: &str) -> Sse {
        Sse::default().data(text)
    }

    #[test]
    fn fields_are_read_as_the_format_says() {
        for (text, expected) in [
            ("data: a\n\n", vec![data("a")]),
            ("data:a\r\ndata: b\r\n\r\n", vec![data("a\nb")]),
            ("data: a\r\rdata: b\r\r", vec![data("a"), data("b")]),
            ("\u{feff}data: a\n\n", vec![data("a")]),
            (": ping\n\n:\n\ndata: a\n\n", vec![data("a")]),
            ("data\n\n", vec![data("")]),
            ("event: ping\ndata: 5\n\n", vec![data("5").event("ping")]),
            ("id: 1\nretry: 10\n\n", vec![Sse::default().id("1").retry(10)]),
        ] {
            assert_eq!(read(&[text]), expected, "{text:?}");
            let chunks: Vec<String> = text.chars().map(String::from).collect();
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            assert_eq!(read(&chunks), expected, "{text:?} by characters");
        }
    }

    #[test]
    fn what_the_format_does_not_define_is_ignored() {
        for odd in [
            "retry: soon\n",
            "retry:\n",
            "retry: -1\n",
            "retry: 99999999999999999999999\n",
            "nonsense\n",
            "x-own: 1\n",
            "id\n",
            "id:\n",
            "id: a\u{0}b\n",
            "id: \u{1}\n",
            "comment 5: x\n",
            "event\n",
            "<html>\n",
        ] {
            let events = read(&[odd, "data: a\n\n", "data: b\n\n"]);
            let data: Vec<_> = events.iter().filter_map(|event| event.data.as_deref()).collect();
            assert_eq!(data, ["a", "b"], "{odd:?}");
            assert!(events.iter().all(|event| event.id.is_none() && event.retry.is_none()));
        }
        let twice = read(&["id: 1\nid: 2\nevent: a\nevent: b\nretry: 1\nretry: 2\ndata: a\n\n"]);
        assert_eq!(twice, [data("a").id("2").event("b").retry(2)]);
    }

    #[test]
    fn the_last_event_may_lack_its_blank_line() {
        assert_eq!(read(&["data: {\"a\":1}"]), [data("{\"a\":1}")]);
        assert_eq!(read(&["data: {\"a\":"]), []);
    }

    #[test]
    fn a_long_event_ends_the_stream() {
        let long = format!("data: {}\n\ndata: a\n\n", "x".repeat(200));
        let body = stream::iter([Ok::<_, io::Error>(long.into_bytes())]);
        let events = events(body, 100).collect::<Vec<_>>().now_or_never().unwrap();
        let [Err(error)] = &events[..] else { panic!("one error") };
        assert!(error.to_string().contains("longer than 100 bytes"), "{error}");
    }
}
