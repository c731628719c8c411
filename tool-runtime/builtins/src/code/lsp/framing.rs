//! Messages on a stream: headers, an empty line, as many bytes as `Content-Length` says.

use std::io;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

/// Bytes of all headers of a message.
const MAX_HEADERS: u64 = 8 << 10;
/// Bytes of a message. Symbols of a large file take some megabytes.
pub(super) const MAX_MESSAGE: u64 = 32 << 20;

/// Reads one message. `None` at the end of the stream.
///
/// # Errors
/// The stream fails, ends within a message, or has something else than a message.
pub(super) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = read_headers(stream).await? else { return Ok(None) };
    if length > MAX_MESSAGE {
        return Err(invalid(format!("a message of {length} bytes, more than {MAX_MESSAGE}")));
    }
    let mut message = Vec::new();
    stream.take(length).read_to_end(&mut message).await?;
    if (message.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(message))
}

/// The length of the message that follows. `None` at the end of the stream.
async fn read_headers(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<u64>> {
    let mut headers = stream.take(MAX_HEADERS);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if headers.read_until(b'\n', &mut line).await? == 0
            && headers.limit() > 0
            && length.is_none()
        {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\r\n").ok_or_else(|| not_a_header(&line))?;
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("a message without length".to_owned()));
        }
        let text = std::str::from_utf8(line).map_err(|_| not_a_header(line))?;
        let (name, value) = text.split_once(':').ok_or_else(|| not_a_header(line))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| not_a_header(line))?);
        }
    }
}

fn not_a_header(line: &[u8]) -> io::Error {
    let line = String::from_utf8_lossy(&line[..line.len().min(80)]);
    invalid(format!("{:?}, which is not a header", line.trim_end()))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Writes one message.
pub(super) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &[u8],
) -> io::Result<()> {
    stream.write_all(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes()).await?;
    stream.write_all(message).await?;
    stream.flush().await
}
