//! Serves one connection.
//!
//! `axum::serve` limits neither the time nor the size of headers (`headers_have_a_time_limit`).

use super::access::Peer;
use super::guarded_body::guarded;
use super::open_connections::{InProcess, OpenConnection};
use super::options::HttpOptions;
use super::write_timeout::WriteTimeout;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// Limit on the headers of a request.
const MAX_HEADERS: usize = 100;

/// Idle time of a connection before TCP probes its client, and limit on the reply to the probes.
#[cfg(target_os = "linux")]
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// The answer to a connection beyond the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
retry-after: 1\r\n\
connection: close\r\n\
content-type: text/plain; charset=utf-8\r\n\
content-length: 44\r\n\
\r\n\
there are too many connections; try later on";

/// The parts that all connections share.
#[derive(Clone)]
pub(super) struct Connections {
    router: Router,
    builder: http1::Builder,
    options: HttpOptions,
    /// Ends running requests when it is cancelled.
    stop: CancellationToken,
}

impl Connections {
    pub(super) fn new(router: Router, options: HttpOptions, stop: CancellationToken) -> Self {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(options.idle_timeout)
            .max_headers(MAX_HEADERS)
            .max_header_size(options.max_headers);
        Self { router, builder, options, stop }
    }

    /// Serves a connection until its client disconnects or the server stops.
    pub(super) async fn serve(self, stream: TcpStream, connection: Arc<OpenConnection>) {
        if let Err(error) = prepare(&stream) {
            tracing::debug!(%error, "a connection was lost before its first request");
            return;
        }
        let peer = stream.peer_addr().ok().map(|address| Peer(address.ip()));
        tokio::select! {
            () = self.serve_socket(stream, peer, &connection) => {}
            () = connection.closed() => {}
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn serve_socket(
        self,
        stream: TcpStream,
        peer: Option<Peer>,
        connection: &Arc<OpenConnection>,
    ) {
        self.serve_stream(stream, peer, connection).await;
    }

    #[cfg(feature = "tls")]
    async fn serve_socket(
        self,
        stream: TcpStream,
        peer: Option<Peer>,
        connection: &Arc<OpenConnection>,
    ) {
        let Some(tls) = &self.options.tls else {
            return self.serve_stream(stream, peer, connection).await;
        };
        let handshake =
            tokio::time::timeout(self.options.body_timeout, tls.acceptor().accept(stream));
        match self.options.shutdown.run_until_cancelled(handshake).await {
            Some(Ok(Ok(stream))) => self.serve_stream(stream, peer, connection).await,
            Some(Ok(Err(error))) => {
                let peer = peer.map(|peer| tracing::field::display(peer.0));
                tracing::debug!(%error, peer, "a TLS handshake failed");
            }
            Some(Err(_)) => tracing::debug!("a TLS handshake took too long"),
            None => {}
        }
    }

    /// Serves the requests on a stream until it ends or the server stops.
    pub(super) async fn serve_stream(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        peer: Option<Peer>,
        connection: &Arc<OpenConnection>,
    ) {
        let stream = WriteTimeout::new(stream, &self.options, Arc::clone(connection));
        let stream = TokioIo::new(stream);
        let router = TowerToHyperService::new(self.router);
        // `begin` is called before the first poll of the answer, because hyper may read the end of the input before
        // that.
        let service = service_fn(|mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            answered(&router, connection.begin(), request)
        });
        let mut connection = pin!(self.builder.serve_connection(stream, service));
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = self.options.shutdown.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    served = connection => served,
                    () = self.stop.cancelled() => Ok(()),
                }
            }
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    /// Answers a connection beyond the limit. Its send buffer is empty, so that the write does not wait.
    pub(super) fn reject_connection(stream: &TcpStream) {
        tracing::warn!("a connection was rejected: there are too many");
        let _ = stream.try_write(FULL);
    }
}

/// The answer to a request. The connection is busy until the answer is sent.
async fn answered(
    router: &TowerToHyperService<Router>,
    in_process: Option<InProcess>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let Some(in_process) = in_process else {
        // The connection is closed.
        return pending().await;
    };
    Ok(router.call(request).await?.map(|body| guarded(body, in_process)))
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // An answer in several writes would wait for the client's delayed acknowledgement: 40 ms.
    stream.set_nodelay(true)?;
    // Finds clients whose machine was switched off.
    #[cfg(unix)]
    {
        use rustix::net::sockopt;
        sockopt::set_socket_keepalive(stream, true)?;
        #[cfg(target_os = "linux")]
        {
            sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
            sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE / 4)?;
            sockopt::set_tcp_keepcnt(stream, 4)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::open_connections::OpenConnections;
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    /// Connections to an application that gives long answers.
    fn connections() -> Connections {
        let router = Router::new().fallback(async || "x".repeat(300));
        Connections::new(router, HttpOptions::default(), CancellationToken::new())
    }

    #[tokio::test]
    async fn an_answer_does_not_wait_for_the_clients_acknowledgement() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut client = TcpStream::connect(address).await.expect("it listens");
        let (stream, _) = listener.accept().await.expect("a connection");
        let stream = stream.into_std().expect("a socket");
        // A duplicate has the same options.
        let socket = stream.try_clone().expect("a duplicate");
        let stream = TcpStream::from_std(stream).expect("a socket");
        assert!(!socket.nodelay().expect("an option"), "the default");
        let connection = OpenConnections::new(1).add().expect("a permit");
        tokio::spawn(connections().serve(stream, connection));
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("it reads");
        client.read_u8().await.expect("an answer");
        assert!(socket.nodelay().expect("an option"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_read_during_a_pending_write_is_answered() {
        let (stream, client) = tokio::io::duplex(512);
        let connection = OpenConnections::new(1).add().expect("a permit");
        tokio::spawn(async move { connections().serve_stream(stream, None, &connection).await });

        let (mut reader, mut writer) = tokio::io::split(client);
        // The end of the second request and the third one do not fit into the stream at first.
        let requests = format!(
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n\
             POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 450\r\n\r\n{:450}\
             GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            ""
        );
        tokio::spawn(async move {
            writer.write_all(requests.as_bytes()).await.expect("the server reads");
            writer.shutdown().await.expect("the stream is open");
        });
        let mut output = String::new();
        let read = timeout(Duration::from_secs(600), reader.read_to_string(&mut output)).await;
        read.expect("the connection ends").expect("text");
        assert_eq!(output.matches("HTTP/1.1 200 OK").count(), 3, "{output}");
    }
}
