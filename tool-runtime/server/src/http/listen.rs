//! Accepts connections until shutdown, then lets them finish.

use super::connection::Connections;
use super::open_connections::OpenConnections;
use super::options::HttpOptions;
use axum::Router;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Delay before accepting again when the process has run out of descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Time for cancelled calls to be answered.
const CANCELLED_GRACE: Duration = Duration::from_millis(500);

/// Less than hyper's limit on idle connections, so that this timer is always due first.
const TICK: Duration = Duration::from_secs(5);

/// Serves until shutdown, and then until running calls have ended or `drain` has passed.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    options: HttpOptions,
    stop: CancellationToken,
) {
    let connections = Connections::new(router, options.clone(), stop.clone());
    let open = TaskTracker::new();
    let open_connections = OpenConnections::new(options.max_connections);
    let _ticking = tick();
    while let Some(stream) = accept(&listener, &options.shutdown).await {
        match open_connections.add() {
            Some(connection) => drop(open.spawn(connections.clone().serve(stream, connection))),
            None => Connections::reject_connection(&stream),
        }
    }
    drop(listener);
    open.close();
    let drained = tokio::time::timeout(options.drain, open.wait()).await;
    stop.cancel();
    if drained.is_err() {
        tracing::warn!(left = open.len(), "calls were still running when the server ended");
        let _ = tokio::time::timeout(CANCELLED_GRACE, open.wait()).await;
    }
}

/// Keeps a timer running. Without one, tokio wakes another thread for each timer that is set, and
/// hyper sets one per request: that was half of all wake-ups.
fn tick() -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async {
        loop {
            tokio::time::sleep(TICK).await;
        }
    }))
}

/// The next connection, unless the server shuts down.
async fn accept(listener: &TcpListener, shutdown: &CancellationToken) -> Option<TcpStream> {
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => return Some(stream),
            Err(error) if is_client_error(&error) => tracing::debug!(%error, "a client left early"),
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Whether the error concerns one client only.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
