//! The input side of the transport.

use std::io::{self, Read};

use tokio::io::{AsyncReadExt as _, DuplexStream, ReadHalf};
use tokio::sync::mpsc;

#[cfg(unix)]
use super::polled::Polled;
use tool_runtime_mcp::lines::{CHUNK, LineBuffer};

/// Limit on the chunks between a reading thread and the parser.
const MAX_CHUNKS: usize = 4;

/// The incoming half of the stream.
pub(super) enum Reader {
    /// Read by the polling task, see [`Polled`].
    #[cfg(unix)]
    Polled {
        /// The descriptor.
        descriptor: Polled,
        /// No read was tried. A pipe that was reopened after its last writer had left never becomes
        /// readable: the first read must not wait for the event loop.
        untried: bool,
    },
    /// Read by a thread, which sends chunks; the channel closes at the end.
    Thread(mpsc::Receiver<Vec<u8>>),
    /// Sent by a client in the same process.
    Memory(ReadHalf<DuplexStream>),
}

impl Reader {
    /// Starts a thread that reads until the end, an error, or until the reader is dropped.
    ///
    /// The thread may be inside a read when the process ends. Therefore it is not one of the runtime's
    /// blocking threads, which a runtime waits for.
    pub(super) fn thread(input: impl Read + Send + 'static) -> io::Result<Self> {
        let (chunks, receiver) = mpsc::channel(MAX_CHUNKS);
        std::thread::Builder::new()
            .name("stdio-reader".to_owned())
            .spawn(move || read_all(input, &chunks))?;
        Ok(Self::Thread(receiver))
    }

    /// Whether the writing end is closed, even if bytes are unread. `false` if that is unknown.
    pub(super) fn has_hung_up(&self) -> bool {
        match self {
            #[cfg(unix)]
            Self::Polled { descriptor, .. } => descriptor.has_hung_up(),
            _ => false,
        }
    }

    /// Waits for bytes and puts them into `lines`, or marks their end. Cancel safe.
    pub(super) async fn fill(&mut self, lines: &mut LineBuffer) {
        match self {
            #[cfg(unix)]
            Self::Polled { descriptor, untried } => fill_polled(descriptor, untried, lines).await,
            Self::Thread(chunks) => match chunks.recv().await {
                Some(chunk) => lines.append(chunk),
                None => lines.end(),
            },
            Self::Memory(stream) => match stream.read_buf(lines.room()).await {
                Ok(read) if read > 0 => {}
                _ => lines.end(),
            },
        }
    }
}

/// Reads a polled descriptor once. An error counts as the end.
#[cfg(unix)]
async fn fill_polled(descriptor: &Polled, untried: &mut bool, lines: &mut LineBuffer) {
    let room = lines.room();
    let result = match std::mem::take(untried).then(|| descriptor.try_read(room)) {
        Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
            descriptor.read(room).await
        }
        Some(result) => result,
        None => descriptor.read(room).await,
    };
    match result {
        Ok(0) => lines.end(),
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(%error, "reading from the peer failed, which ends the input");
            lines.end();
        }
    }
}

/// The loop of the reading thread.
fn read_all(mut input: impl Read, chunks: &mpsc::Sender<Vec<u8>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => chunk.truncate(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!(%error, "reading from the peer failed, which ends the input");
                return;
            }
        }
        if chunks.blocking_send(chunk).is_err() {
            return;
        }
    }
}
