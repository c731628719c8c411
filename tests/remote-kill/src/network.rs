//! The names and connections of the parts.

use crate::Failure;
use std::fmt::Write as _;
use std::time::Duration;
use std::{io, thread};
use tokio::time::sleep;
use tool_runtime::CancellationToken;
use tool_runtime_remote::{BoardError, HttpBoard, HttpBoardOptions};

/// The queue of all calls.
pub(crate) const QUEUE: &str = "kill";

/// The names of the callers.
pub(crate) const CALLERS: [&str; 2] = ["caller0", "caller1"];

/// The name of all runners, and that of the driver, which reads the depth of the queue.
pub(crate) const RUNNER: &str = "runner";
pub(crate) const DRIVER: &str = "driver";

/// The pause before a hub that is away is asked again.
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

/// Connects to the hub, as soon as it is there.
pub(crate) async fn connect(url: &str, name: &str) -> Result<HttpBoard, BoardError> {
    loop {
        let options = HttpBoardOptions::default().token(token(name));
        match HttpBoard::connect(url, options).await {
            Err(BoardError::Disconnected(_)) => sleep(PAUSE).await,
            connected => return connected,
        }
    }
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
