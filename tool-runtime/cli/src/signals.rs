//! Handles SIGTERM, SIGINT and SIGHUP: the first starts a graceful shutdown, the second ends the process.

use super::{exit, log};
use std::io;
use std::process;
#[cfg(unix)]
use std::{future::poll_fn, task::Poll};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::spawn;

/// A token that the first signal cancels. The second signal ends the process. `reloads`: SIGHUP is none of them.
///
/// If no handler can be installed, signals keep their default effect.
pub(super) fn shutdown_token(reloads: bool) -> CancellationToken {
    let token = CancellationToken::new();
    match Signals::install(reloads) {
        Ok(signals) => drop(spawn(Box::pin(handle(signals, token.clone())))),
        Err(error) => tracing::warn!(%error, "signals are not handled"),
    }
    token
}

async fn handle(mut signals: Signals, token: CancellationToken) {
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
    /// `None` if SIGHUP is ignored, as under `nohup`.
    hang_up: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    fn install(reloads: bool) -> io::Result<Self> {
        let ends = !reloads && !ignores_hang_up();
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: if ends { Some(signal(SignalKind::hangup())?) } else { None },
        })
    }

    async fn next(&mut self) {
        poll_fn(|context| {
            let mut all =
                [&mut self.interrupt, &mut self.terminate].into_iter().chain(&mut self.hang_up);
            match all.any(|signal| signal.poll_recv(context).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Tells of each SIGHUP, for a server that reads its configuration again.
pub(super) struct HangUps(#[cfg(unix)] Option<Signal>);

impl HangUps {
    #[cfg(unix)]
    pub(super) fn install() -> Self {
        let signal = signal(SignalKind::hangup());
        Self(signal.inspect_err(|error| tracing::warn!(%error, "SIGHUP is not handled")).ok())
    }

    #[cfg(not(unix))]
    pub(super) fn install() -> Self {
        Self()
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.0
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Whether SIGHUP was ignored when the process started. False on systems without `/proc`.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1, the lowest bit.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn install(_reloads: bool) -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
