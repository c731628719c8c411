//! A connection to a server, for the fuzz targets.

use super::connection::Connections;
use super::open_connections::OpenConnections;
use super::options::HttpOptions;
use super::service::Service;
use crate::McpServer;
use tokio::io::DuplexStream;
use tokio_util::sync::CancellationToken;

/// Serves one connection until it ends; see [`McpServer::serve_http`].
pub async fn serve_http(server: McpServer, options: HttpOptions, stream: DuplexStream) {
    let stop = CancellationToken::new();
    let service = Service::new(&server.handler, options.clone(), None, stop.clone());
    let connection = OpenConnections::new(1).add().expect("the first");
    Connections::new(service.whole_router(), options, stop)
        .serve_stream(stream, None, &connection)
        .await;
}
