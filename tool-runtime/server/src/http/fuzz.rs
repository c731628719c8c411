//! A connection to a server, for the fuzz targets.

use super::closing::Closing;
use super::connection::Connections;
use super::open_connections::OpenConnections;
use super::options::HttpOptions;
use super::service::Service;
use crate::McpServer;
use tokio::io::DuplexStream;

/// Serves one connection until it ends; see [`McpServer::serve_http`].
pub async fn serve_http(server: McpServer, options: HttpOptions, stream: DuplexStream) {
    let closing = Closing::new(options.shutdown.clone());
    let service = Service::new(&server.handler, options.clone(), None, closing.clone());
    let connection = OpenConnections::new(1).admit().expect("the first");
    Connections::new(service.router(), &options, closing).converse(stream, &connection).await;
}
