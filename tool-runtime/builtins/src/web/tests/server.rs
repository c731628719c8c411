//! An HTTP server on loopback whose responses come from a function. The tests of the browser include this file, too.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server that runs until it is dropped. It closes each connection after one response.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// A server at 127.0.0.1. `respond` receives the path of a request and returns the response with its headers.
    pub(super) async fn new(
        respond: impl Fn(&str) -> Vec<u8> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::at("127.0.0.1", respond).await
    }

    /// A server at another loopback address.
    pub(super) async fn at(
        host: &str,
        respond: impl Fn(&str) -> Vec<u8> + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (respond, seen) = (respond.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    let request = request(&mut stream).await;
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    if path != "/favicon.ico" {
                        seen.lock().unwrap().push(request);
                    }
                    let _ = stream.write_all(&respond(&path)).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { address, requests, task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests except those for icons, with their bodies.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads one request, whose body has the length in `content-length`.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap_or(0);
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_ascii_lowercase();
            let length =
                lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        if read == 0 {
            return text;
        }
    }
}

/// A response with a status line, headers and a body.
pub(super) fn response(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = Vec::new();
    write!(bytes, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len())
        .unwrap();
    for header in headers {
        write!(bytes, "{header}\r\n").unwrap();
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A successful response of a content type.
pub(super) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", &[&format!("content-type: {content_type}")], body)
}
