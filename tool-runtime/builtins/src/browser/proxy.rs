//! The proxy between a browser and the network. It connects to allowed addresses only.
//!
//! The browser resolves no names and connects to nothing but the proxy. So each connection goes to the address that was
//! checked, for pages, scripts, images, WebSockets and redirects.

use crate::addresses::{AddressRules, NotPublic};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, UPGRADE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tool_runtime::__seam::lock;

/// Limit on concurrent connections.
const MAX_CONNECTIONS: usize = 256;
/// Limit on the recorded refusals.
const MAX_REFUSALS: usize = 100;
/// Time limit for connecting to a host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

type Body = http_body_util::Either<Incoming, Full<Bytes>>;

/// A proxy for one browser, which stops on drop.
pub(super) struct Proxy {
    pub(super) port: u16,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    rules: AddressRules,
    refusals: Mutex<Refusals>,
}

#[derive(Default)]
struct Refusals {
    last: VecDeque<Refusal>,
    count: u64,
}

/// A refused or failed connection to a host.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) host: String,
    pub(super) reason: String,
    /// Whether the address is not allowed. Otherwise the host has no address, or does not respond.
    pub(super) is_forbidden: bool,
}

impl Proxy {
    /// Starts a proxy on a loopback port.
    ///
    /// # Errors
    /// No port is available.
    pub(super) async fn start(rules: AddressRules) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { rules, refusals: Mutex::default() });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, task })
    }

    /// Number of refused connections so far.
    pub(super) fn refused(&self) -> u64 {
        self.shared.refusals().count
    }

    /// Refusals after the first `count`, one for each host.
    pub(super) fn refused_after(&self, count: u64) -> Vec<Refusal> {
        let refusals = self.shared.refusals();
        let new = usize::try_from(refusals.count - count).unwrap_or(usize::MAX);
        let skipped = refusals.last.len().saturating_sub(new);
        let mut found: Vec<Refusal> = Vec::new();
        for refusal in refusals.last.iter().skip(skipped) {
            if !found.iter().any(|known| known.host == refusal.host) {
                found.push(refusal.clone());
            }
        }
        found
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn refusals(&self) -> std::sync::MutexGuard<'_, Refusals> {
        lock(&self.refusals)
    }

    fn refuse(&self, host: &str, reason: String, is_forbidden: bool) -> Refusal {
        let refusal = Refusal { host: host.to_owned(), reason, is_forbidden };
        let mut refusals = self.refusals();
        refusals.count += 1;
        if refusals.last.len() == MAX_REFUSALS {
            refusals.last.pop_front();
        }
        refusals.last.push_back(refusal.clone());
        refusal
    }

    /// Connects to the host of a URL.
    async fn connect(&self, uri: &Uri, default_port: u16) -> Result<TcpStream, Refusal> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = uri.port_u16().unwrap_or(default_port);
        let found = self.rules.resolve(host).await;
        let found = found.map_err(|error| {
            let is_forbidden = error.is::<NotPublic>();
            self.refuse(host, error.to_string(), is_forbidden)
        })?;
        let mut last = String::from("no address");
        for address in found {
            let address = SocketAddr::new(address.ip(), port);
            match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => last = "no answer in time".to_owned(),
            }
        }
        Err(self.refuse(host, format!("`{host}` cannot be reached: {last}"), false))
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Aborts all connections when this task ends.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) if is_own(peer) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    serve(stream, shared).await;
                    drop(permit);
                });
            }
            Ok(_) => tracing::warn!("another user of this machine used the proxy of a browser"),
            Err(error) => {
                tracing::warn!(%error, "the proxy of a browser cannot accept connections");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Whether a loopback connection belongs to the user of this process. Other users must not use the proxy.
#[cfg(target_os = "linux")]
fn is_own(peer: SocketAddr) -> bool {
    let SocketAddr::V4(peer) = peer else { return false };
    let address = u32::from_ne_bytes(peer.ip().octets());
    let wanted = format!("{address:08X}:{:04X}", peer.port());
    let own = rustix::process::geteuid().as_raw().to_string();
    let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else { return true };
    table.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace();
        fields.nth(1) == Some(wanted.as_str()) && fields.nth(5) == Some(own.as_str())
    })
}

#[cfg(not(target_os = "linux"))]
fn is_own(_: SocketAddr) -> bool {
    true
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let tunnel = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&tunnel);
    let service = service_fn(move |request| {
        let (shared, slot) = (Arc::clone(&shared), Arc::clone(&slot));
        async move { Ok::<_, Infallible>(answer(request, &shared, &slot).await) }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
    // Fails if the browser or the host closes a connection early.
    let _ = connection.await;
    let tunnel = lock(&tunnel).take();
    if let Some((upgrade, mut host)) = tunnel {
        let upgrade: hyper::upgrade::OnUpgrade = upgrade;
        if let Ok(browser) = upgrade.await {
            let mut browser = TokioIo::new(browser);
            let _ = tokio::io::copy_bidirectional(&mut browser, &mut host).await;
        }
    }
}

type Tunnel = Mutex<Option<(hyper::upgrade::OnUpgrade, TcpStream)>>;

async fn answer(
    mut request: Request<Incoming>,
    shared: &Shared,
    tunnel: &Tunnel,
) -> Response<Body> {
    let is_tunnel = request.method() == Method::CONNECT;
    let is_plain = request.uri().scheme_str() == Some("http");
    if !is_tunnel && !is_plain {
        return text(StatusCode::BAD_REQUEST, "not a request of a browser to its proxy");
    }
    let host = match shared.connect(request.uri(), if is_tunnel { 443 } else { 80 }).await {
        Ok(host) => host,
        Err(refusal) if refusal.is_forbidden => {
            return text(StatusCode::FORBIDDEN, &refusal.reason);
        }
        Err(refusal) => return text(StatusCode::BAD_GATEWAY, &refusal.reason),
    };
    if is_tunnel {
        let upgrade = hyper::upgrade::on(&mut request);
        *lock(tunnel) = Some((upgrade, host));
        return Response::new(Body::Right(Full::default()));
    }
    match forward(request, host).await {
        Ok(response) => response.map(Body::Left),
        Err(error) => text(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

/// Forwards a request without its proxy headers.
async fn forward(
    mut request: Request<Incoming>,
    host: TcpStream,
) -> hyper::Result<Response<Incoming>> {
    let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    for name in [CONNECTION, PROXY_AUTHORIZATION, UPGRADE] {
        headers.remove(name);
    }
    headers.remove(HeaderName::from_static("proxy-connection"));
    if let Ok(authority) = HeaderValue::from_str(&authority) {
        headers.insert(HOST, authority);
    }
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(host)).await?;
    tokio::spawn(connection);
    sender.send_request(request).await
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::Right(Full::from(text.to_owned())));
    *response.status_mut() = status;
    response
}
