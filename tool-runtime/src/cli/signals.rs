//! SIGTERM and SIGINT: the first asks to end, the second ends.

use super::{exit, log};
use std::io;
use std::process;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that the first signal cancels. The second ends the process, whatever it does.
///
/// Where signals cannot be heard they do what they always do.
pub(super) fn first() -> CancellationToken {
    let token = CancellationToken::new();
    // Heard from here on: whoever is told that we are there may send one at once.
    match Signals::hear() {
        Ok(signals) => drop(tokio::spawn(end(signals, token.clone()))),
        Err(error) => tracing::warn!(%error, "signals are not heard"),
    }
    token
}

async fn end(mut signals: Signals, token: CancellationToken) {
    signals.next().await;
    token.cancel();
    signals.next().await;
    log::finish();
    #[cfg(feature = "mcp-client")]
    crate::mcp::Subreaper::kill_all();
    process::exit(i32::from(exit::ERROR));
}

#[cfg(unix)]
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    fn hear() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        let interrupt = std::pin::pin!(self.interrupt.recv());
        let terminate = std::pin::pin!(self.terminate.recv());
        futures_util::future::select(interrupt, terminate).await;
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn hear() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
