//! The names and connections of the parts.

use crate::{Failure, files};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};
use tokio::time::sleep;
use tool_runtime::CancellationToken;
use tool_runtime_remote::{
    Board, BoardError, HttpBoard, HttpBoardOptions, NatsBoard, NatsOptions, Remote, RemoteBuilder,
};

/// The namespace on a NATS server.
pub(crate) const NAMESPACE: &str = "chaos";

/// The queue of all calls.
pub(crate) const QUEUE: &str = "chaos";

/// The names of the callers.
pub(crate) const CALLERS: [&str; 2] = ["caller0", "caller1"];

/// The name of all runners, and that of the driver, which reads the depth of the queue.
pub(crate) const RUNNER: &str = "runner";
pub(crate) const DRIVER: &str = "driver";

/// The name of the keeper of a NATS server.
pub(crate) const KEEPER: &str = "keeper";

/// The pause before an engine that is away is asked again.
const PAUSE: Duration = Duration::from_millis(50);

fn token(name: &str) -> String {
    format!("token-of-{name}")
}

/// The tokens that the hub knows.
pub(crate) fn tokens() -> String {
    let mut tokens = format!("{RUNNER}:{} scopes=run:{QUEUE}\n", token(RUNNER));
    for name in CALLERS.into_iter().chain([DRIVER]) {
        let _ = writeln!(tokens, "{name}:{} scopes=call:{QUEUE}", token(name));
    }
    tokens
}

/// The connection of a part.
pub(crate) enum Connected {
    Hub(HttpBoard),
    Nats(Box<NatsBoard>),
}

impl Connected {
    pub(crate) fn into_board(self) -> Box<dyn Board> {
        match self {
            Self::Hub(board) => Box::new(board),
            Self::Nats(board) => board,
        }
    }

    pub(crate) fn into_remote(self) -> RemoteBuilder {
        match self {
            Self::Hub(board) => Remote::builder(board),
            Self::Nats(board) => Remote::builder(*board),
        }
    }
}

/// Connects to the hub or the NATS server, as soon as it is there.
pub(crate) async fn connect(url: &str, name: &str, folder: &Path) -> Result<Connected, BoardError> {
    loop {
        match try_to_connect(url, name, folder).await {
            Err(BoardError::Disconnected(_)) => sleep(PAUSE).await,
            connected => return connected,
        }
    }
}

async fn try_to_connect(url: &str, name: &str, folder: &Path) -> Result<Connected, BoardError> {
    if url.starts_with("http:") {
        let options = HttpBoardOptions::default().token(token(name));
        return HttpBoard::connect(url, options).await.map(Connected::Hub);
    }
    let options = NatsOptions::default()
        .namespace(NAMESPACE)
        .name(name.parse().expect("the names of parts are valid"))
        .credentials(files::key(folder, name));
    let board = NatsBoard::connect(url, options).await?;
    Ok(Connected::Nats(Box::new(board)))
}

/// A token that is cancelled when the standard input ends: the driver has gone, or wants this process to end.
pub(crate) fn end_of_input() -> CancellationToken {
    let token = CancellationToken::new();
    let end = token.clone();
    // Not by tokio, whose end would wait for the thread that reads.
    thread::spawn(move || {
        // Nothing is ever written there.
        drop(io::copy(&mut io::stdin(), &mut io::sink()));
        end.cancel();
    });
    token
}

/// Fails when the driver has gone.
pub(crate) async fn orphaned() -> Result<(), Failure> {
    end_of_input().cancelled().await;
    Err("the driver has gone".into())
}
