//! Reads responses: the part of HTTP/1.1 that MCP servers use.

use std::io::{self, BufRead, Read as _};

/// A response, read to its end.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) session: Option<String>,
    pub(super) body: String,
    is_stream: bool,
}

/// Length of a body.
#[derive(Default)]
enum Length {
    #[default]
    None,
    Known(usize),
    Chunked,
}

impl Response {
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut response = Self { status: status(&line(from)?)?, ..Self::default() };
        let length = response.read_head(from)?;
        let mut body = Vec::new();
        match length {
            Length::None => {}
            Length::Known(length) => read_exactly(from, length, &mut body)?,
            Length::Chunked => read_chunks(from, &mut body)?,
        }
        response.body = String::from_utf8(body).map_err(io::Error::other)?;
        Ok(response)
    }

    fn read_head(&mut self, from: &mut impl BufRead) -> io::Result<Length> {
        let mut length = Length::None;
        loop {
            let line = line(from)?;
            let Some((name, value)) = line.split_once(':') else {
                return Ok(length);
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    length = Length::Known(value.parse().map_err(io::Error::other)?);
                }
                "transfer-encoding" => length = Length::Chunked,
                "content-type" => self.is_stream = value.starts_with("text/event-stream"),
                "mcp-session-id" => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    /// The messages in the body: the whole body, or the events of a stream.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        let whole = (!self.is_stream).then_some(self.body.as_str());
        let events = self.body.lines().filter(|_| self.is_stream);
        whole.into_iter().chain(events.filter_map(|line| line.strip_prefix("data:")))
    }
}

/// A line without its end.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn status(line: &str) -> io::Result<u16> {
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other(format!("no status line: {line:?}")))
}

fn read_exactly(from: &mut impl BufRead, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
    match from.take(length as u64).read_to_end(body)? {
        read if read == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn read_chunks(from: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let length = usize::from_str_radix(&line(from)?, 16).map_err(io::Error::other)?;
        read_exactly(from, length, body)?;
        line(from)?;
        if length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Response> {
        Response::read(&mut text.as_bytes())
    }

    #[test]
    fn a_body_of_known_length_is_one_message() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n\
                    content-length: 2\r\n\r\n{}HTTP/1.1";
        let response = read(text).expect("a response");
        assert_eq!((response.status, response.session.as_deref()), (200, Some("s")));
        assert_eq!(response.messages().collect::<Vec<_>>(), ["{}"]);
    }

    #[test]
    fn chunks_are_joined_and_events_are_messages() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                    Transfer-Encoding: chunked\r\n\r\n\
                    10\r\nid: 1\ndata: {\"a\"\r\n5\r\n:1}\n\n\r\n0\r\n\r\n";
        let response = read(text).expect("a response");
        assert_eq!(response.messages().collect::<Vec<_>>(), [" {\"a\":1}"]);
    }

    #[test]
    fn truncated_input_is_an_error() {
        assert!(read("").is_err());
        assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}").is_err());
    }

    #[test]
    fn a_response_may_have_no_body() {
        assert_eq!(read("HTTP/1.1 202 Accepted\r\n\r\n").expect("a response").body, "");
    }
}
