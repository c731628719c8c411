//! Serves over HTTP until a signal ends it.

use super::options::ServeHttp;
use super::{exit, print};
use crate::mcp::{self, HttpOptions, McpServer};
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long calls in flight may go on after the first signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until the first signal, and then until calls are done or the second signal.
pub(super) async fn serve(server: McpServer, command: ServeHttp) -> ExitCode {
    let end = CancellationToken::new();
    let options =
        HttpOptions::default().sessions(!command.no_sessions).shutdown(end.clone(), DRAIN);
    let serving = listen_and_serve(server, &command.address, options);
    let signals = async {
        signal().await;
        end.cancel();
        signal().await;
    };
    tokio::select! {
        served = serving => exit::served(served),
        () = signals => ExitCode::from(exit::ERROR),
    }
}

async fn listen_and_serve(
    server: McpServer,
    address: &str,
    options: HttpOptions,
) -> io::Result<()> {
    let listener = mcp::listen(address).await?;
    print::status(&format!("listening on http://{}/mcp", listener.local_addr()?));
    server.serve_http_on(listener, options).await
}

/// The next request to end.
#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
        tracing::warn!("signals cannot be heard: the server ends without finishing calls");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// The next request to end.
#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
