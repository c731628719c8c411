//! The input side of the transport.

use std::io::{self, Read};

use tokio::io::{AsyncReadExt as _, DuplexStream, ReadHalf};
use tokio::sync::mpsc;

#[cfg(unix)]
use super::polled::Polled;
use tool_runtime_mcp::lines::{CHUNK, LineBuffer};

/// Chunks that a reading thread may be ahead of the parser.
const MAX_CHUNKS: usize = 4;

/// The incoming half of the stream.
pub(super) enum Reader {
    /// Read by whoever polls, see [`Polled`].
    #[cfg(unix)]
    Polled {
        /// The descriptor.
        descriptor: Polled,
        /// Nothing was read yet. A pipe that was reopened after its last writer had left never
        /// reports that to the event loop: the first read must not wait for it.
        untried: bool,
    },
    /// Read by a thread, which hands over chunks; the channel closes at the end.
    Thread(mpsc::Receiver<Vec<u8>>),
    /// Handed over by a test in the same process.
    Memory(ReadHalf<DuplexStream>),
}

impl Reader {
    /// Starts a thread that reads until the end, an error, or until nobody listens.
    ///
    /// It may sit in a read when the process ends, which is why it is not one of the runtime's
    /// blocking threads: those are waited for.
    pub(super) fn thread(input: impl Read + Send + 'static) -> io::Result<Self> {
        let (chunks, receiver) = mpsc::channel(MAX_CHUNKS);
        std::thread::Builder::new()
            .name("stdio-reader".to_owned())
            .spawn(move || read_all(input, &chunks))?;
        Ok(Self::Thread(receiver))
    }

    /// Whether nobody can write any more, whatever is still to be read, as far as that is known.
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

/// One read of a polled descriptor; a failing stream has ended as far as we are concerned.
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
            tracing::warn!(%error, "reading from the peer failed, taken for its end");
            lines.end();
        }
    }
}

/// The life of the reading thread.
fn read_all(mut input: impl Read, chunks: &mpsc::Sender<Vec<u8>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => chunk.truncate(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!(%error, "reading from the peer failed, taken for its end");
                return;
            }
        }
        if chunks.blocking_send(chunk).is_err() {
            return;
        }
    }
}
