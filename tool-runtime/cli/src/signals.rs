//! SIGTERM, SIGINT and SIGHUP: the first asks to end, the second ends.

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
    tool_runtime_client::Subreaper::kill_all();
    process::exit(i32::from(exit::ERROR));
}

#[cfg(unix)]
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` where it is ignored, as under `nohup`.
    hang_up: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    fn hear() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    async fn next(&mut self) {
        let all = [&mut self.interrupt, &mut self.terminate].into_iter().chain(&mut self.hang_up);
        futures_util::future::select_all(all.map(|signal| Box::pin(signal.recv()))).await;
    }
}

/// Whether SIGHUP was ignored when the process started, as far as the system tells.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signals count from one, and SIGHUP is the first.
    ignored.is_some_and(|mask| mask & 1 == 1)
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
