//! Accepts connections until shutdown, then lets them finish.

use super::closing::Closing;
use super::connection::Connections;
use super::open_connections::OpenConnections;
use super::options::HttpOptions;
use axum::Router;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// How long to wait when the process has run out of descriptors.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(200);

/// How long connections have, once everything was ended, to say so to their clients.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Less than hyper's limit on idle connections, so that a timer which runs is always due first.
const TICK: Duration = Duration::from_secs(5);

/// Serves until it is told to end, and then for as long as calls in flight may take.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    options: &HttpOptions,
    closing: Closing,
) -> io::Result<()> {
    let connections = Connections::new(router, options, closing.clone());
    let open = TaskTracker::new();
    let admitted = OpenConnections::new(options.max_connections);
    let _ticking = tick();
    while let Some(stream) = accept(&listener, &closing.begun).await {
        match admitted.admit() {
            Some(connection) => drop(open.spawn(connections.clone().serve(stream, connection))),
            None => Connections::refuse(&stream),
        }
    }
    drop(listener);
    open.close();
    let drained = tokio::time::timeout(options.drain, open.wait()).await;
    closing.over.cancel();
    if drained.is_err() {
        tracing::warn!(left = open.len(), "calls were still running when the server ended");
        let _told = tokio::time::timeout(LAST_WORDS, open.wait()).await;
    }
    Ok(())
}

/// Keeps a timer running. Where none runs, tokio wakes another thread for each one that is set, and
/// hyper sets one a request: that was half of all wake-ups.
fn tick() -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async {
        loop {
            tokio::time::sleep(TICK).await;
        }
    }))
}

/// The next connection, unless the server is told to end.
async fn accept(listener: &TcpListener, closing: &CancellationToken) -> Option<TcpStream> {
    loop {
        let accepted = tokio::select! {
            biased;
            () = closing.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => return Some(stream),
            Err(error) if is_clients(&error) => tracing::debug!(%error, "a client left early"),
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
            }
        }
    }
}

/// Whether it is the one client's matter alone.
fn is_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
