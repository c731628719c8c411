//! Accepts connections until shutdown, then lets them finish.

use super::connection::Connections;
use super::open_connections::OpenConnections;
use super::options::HttpOptions;
use axum::Router;
use axum::serve::Listener;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Time for cancelled calls to be answered.
const CANCELLED_GRACE: Duration = Duration::from_millis(500);

/// Less than hyper's limit on idle connections, so that this timer is always due first.
const TICK: Duration = Duration::from_secs(5);

/// Serves until shutdown, and then until running calls have ended or `drain` has passed.
pub(super) async fn serve(
    mut listener: TcpListener,
    router: Router,
    options: HttpOptions,
    stop: CancellationToken,
) {
    let connections = Connections::new(router, options.clone(), stop.clone());
    let open = TaskTracker::new();
    let open_connections = OpenConnections::new(options.max_connections);
    let _ticking = tick();
    // axum waits a second after an error, such as too many open files.
    while let Some((stream, _)) =
        options.shutdown.run_until_cancelled(Listener::accept(&mut listener)).await
    {
        match open_connections.add() {
            Some(connection) => drop(open.spawn(connections.clone().serve(stream, connection))),
            None => Connections::reject_connection(&stream),
        }
    }
    drop(listener);
    open.close();
    tracing::info!(
        connections = open.len(),
        "the server stops: it accepts no connection, and open requests may end"
    );
    let drained = tokio::time::timeout(options.drain, open.wait()).await;
    stop.cancel();
    if drained.is_err() {
        tracing::warn!(left = open.len(), "calls were still running when the server ended");
        let _ = tokio::time::timeout(CANCELLED_GRACE, open.wait()).await;
    }
    tracing::info!("the server stopped");
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
