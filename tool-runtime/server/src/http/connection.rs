//! Serves one connection.

use super::closing::Closing;
use super::guarded_body;
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

/// How many headers a request may have.
const MAX_HEADERS: usize = 100;

/// How long a connection may be silent before its client is asked whether it is there, and how
/// long it may then take to answer.
#[cfg(target_os = "linux")]
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// What is said to a connection for which there is no room.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
retry-after: 1\r\n\
connection: close\r\n\
content-type: text/plain; charset=utf-8\r\n\
content-length: 44\r\n\
\r\n\
there are too many connections; try later on";

/// How connections are served.
#[derive(Clone)]
pub(super) struct Connections {
    router: Router,
    builder: http1::Builder,
    options: HttpOptions,
    closing: Closing,
}

impl Connections {
    pub(super) fn new(router: Router, options: &HttpOptions, closing: Closing) -> Self {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(options.idle_timeout)
            .max_headers(MAX_HEADERS)
            .max_header_size(options.max_headers);
        Self { router, builder, options: options.clone(), closing }
    }

    /// Serves a connection until its client has gone or the server ends.
    pub(super) async fn serve(self, stream: TcpStream, connection: Arc<OpenConnection>) {
        if let Err(error) = prepare(&stream) {
            tracing::debug!(%error, "a connection was lost before its first request");
            return;
        }
        tokio::select! {
            () = self.converse(stream, &connection) => {}
            () = connection.closed() => {}
        }
    }

    /// Answers what comes on a stream, until there is nothing more or the server ends.
    pub(super) async fn converse(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        connection: &Arc<OpenConnection>,
    ) {
        let stream = WriteTimeout::new(stream, self.options.read_timeout, Arc::clone(connection));
        let stream = TokioIo::new(stream);
        let router = TowerToHyperService::new(self.router);
        // Before the first poll of the answer: hyper may see the end of the input before it.
        let service = service_fn(|request| answered(&router, connection.begin(), request));
        let mut connection = pin!(self.builder.serve_connection(stream, service));
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = self.closing.begun.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    served = connection => served,
                    () = self.closing.over.cancelled() => Ok(()),
                }
            }
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    /// Tells a connection that there is no room for it: all others have requests in process. It has sent nothing that fills its buffer,
    /// so that nothing has to wait.
    pub(super) fn refuse(stream: &TcpStream) {
        tracing::warn!("a connection was refused: there are too many");
        let _told = stream.try_write(FULL);
    }
}

/// The answer to a request, during which the connection is busy.
async fn answered(
    router: &TowerToHyperService<Router>,
    in_process: Option<InProcess>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let Some(in_process) = in_process else {
        // The connection is closed.
        return pending().await;
    };
    Ok(router.call(request).await?.map(|body| guarded_body::holding(body, in_process)))
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // An answer in several writes would wait for the client's delayed acknowledgement: 40 ms.
    stream.set_nodelay(true)?;
    // A machine that is switched off closes nothing.
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
