//! Many concurrent HTTP connections.

use super::HANG_LIMIT;
use super::random::Rng;
use super::resource_usage::ResourceUsage;
use crate::http::client::{Answer, Connection, RawRequest};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suite::limit::Limit;

const CLIENTS: u64 = 16;
const WARM_UP: u64 = 1_600;
/// Times the variable `SEARCH`.
const MESSAGES: u64 = 3_200;

/// Number of unfinished requests that a client abandons.
const MAX_UNFINISHED: usize = 4;

/// Idle timeout of a session.
const SESSION_IDLE: Duration = Duration::from_secs(1);

/// Time for the server to release the resources of abandoned requests.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(600);

struct Server {
    child: Child,
    address: SocketAddr,
    _limit: Limit,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_limited_server"))
            .arg("http")
            // A panicking thread waits for the backtraces of others, which would take too long.
            .env("RUST_BACKTRACE", "0")
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let _limit = Limit::within(HANG_LIMIT, &child);
        let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = log.next().expect("a line").expect("UTF-8");
        // The server logs every panic, so its log must be drained.
        std::thread::spawn(move || log.for_each(drop));
        Self { address: address.parse().expect("an address"), child, _limit }
    }

    /// Retries while abandoned requests of other clients are in flight.
    async fn usage(&self) -> ResourceUsage {
        let end = Instant::now() + RELEASE_TIMEOUT;
        loop {
            let mut connection = Connection::open(self.address).await;
            let answer = connection.request(&call(1, "usage", json!({}))).await;
            if answer.status() != 503 || Instant::now() > end {
                return ResourceUsage::of(&answer.json()["result"]);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Runs all clients concurrently, each with its share.
    async fn load(&self, messages: u64, seed: u64) {
        let clients = (0..CLIENTS).map(|number| {
            let client = Client::new(self.address, seed * CLIENTS + number);
            tokio::spawn(client.run(messages / CLIENTS))
        });
        for client in clients.collect::<Vec<_>>() {
            client.await.expect("everything was answered or closed");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn call(id: u64, tool: &str, arguments: Value) -> RawRequest {
    RawRequest::stateless(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

struct Client {
    address: SocketAddr,
    rng: Rng,
    connection: Option<Connection>,
    unfinished: VecDeque<Connection>,
    next_id: u64,
}

impl Client {
    fn new(address: SocketAddr, seed: u64) -> Self {
        let (connection, unfinished) = (None, VecDeque::new());
        Self { address, rng: Rng::new(seed), connection, unfinished, next_id: 0 }
    }

    async fn run(mut self, messages: u64) {
        for _ in 0..messages {
            self.next_id += 1;
            self.random_step().await;
        }
    }

    async fn random_step(&mut self) {
        let id = self.next_id;
        match self.rng.below(100) {
            0..45 => self.add().await,
            45..50 => {
                let answer = self.request(&call(id, "boom", json!({}))).await;
                answer.inspect(|answer| assert_eq!(answer.json()["result"]["isError"], true));
            }
            50..54 => self.expect_rejection(&RawRequest::post("{\"jsonrpc\": "), 400).await,
            54..58 => {
                self.expect_rejection(&RawRequest::stateless(id, "no/such/method", json!({})), 404)
                    .await;
            }
            58..61 => self.expect_rejection(&RawRequest::post("x".repeat(70 << 10)), 413).await,
            61..64 => {
                self.expect_rejection(&call(id, "add", json!({})).with("mcp-name", "sub"), 400)
                    .await;
            }
            64..67 => {
                self.expect_rejection(&call(id, "add", json!({})).with("host", "evil.test"), 403)
                    .await;
            }
            67..70 => self.expect_rejection(&RawRequest::new("PUT", "/mcp"), 405).await,
            70..75 => {
                self.disconnect_in_the_middle(&call(id, "add", json!({"a": 1, "b": 2}))).await;
            }
            75..80 => {
                let mut connection = Connection::open(self.address).await;
                connection.send(&call(id, "wait", json!({"millis": 60_000}))).await;
            }
            80..84 => self.send_incomplete().await,
            84..88 => self.read_slowly().await,
            _ => self.open_session().await,
        }
    }

    /// Sends a request on the open connection. `None` if the server is overloaded and rejects it.
    async fn request(&mut self, request: &RawRequest) -> Option<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address).await,
        };
        let answer = connection.request(request).await;
        if answer.head.header("connection") != "close" {
            self.connection = Some(connection);
        }
        (answer.status() != 503).then_some(answer)
    }

    async fn add(&mut self) {
        let (id, a, b) = (self.next_id, self.rng.below(1000), self.rng.below(1000));
        if let Some(answer) = self.request(&call(id, "add", json!({"a": a, "b": b}))).await {
            let answer = answer.json();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["content"][0]["text"], (a + b).to_string());
        }
    }

    async fn expect_rejection(&mut self, request: &RawRequest, status: u16) {
        if let Some(answer) = self.request(request).await {
            assert_eq!(answer.status(), status, "{answer:?}");
        }
        // The unread rest of the request may still be on the connection.
        self.connection = None;
    }

    async fn disconnect_in_the_middle(&mut self, request: &RawRequest) {
        let bytes = request.bytes();
        let end = usize::try_from(self.rng.below(bytes.len() as u64)).expect("a length");
        Connection::open(self.address).await.write(&bytes[..end]).await;
    }

    /// Abandons requests; the server must have closed the oldest with an error.
    async fn send_incomplete(&mut self) {
        let mut connection = Connection::open(self.address).await;
        let request = call(1, "add", json!({})).with("content-length", "1000");
        connection.write(&request.bytes()).await;
        self.unfinished.push_back(connection);
        if self.unfinished.len() > MAX_UNFINISHED {
            let mut oldest = self.unfinished.pop_front().expect("there are some");
            let answer = oldest.rest().await;
            assert!(answer.contains(" 408 ") || answer.contains(" 503 "), "{answer:?}");
        }
    }

    async fn read_slowly(&mut self) {
        let mut connection = Connection::open(self.address).await;
        connection.send(&call(1, "big", json!({"kib": 512}))).await;
        tokio::time::sleep(Duration::from_millis(self.rng.below(20))).await;
        let answer = connection.answer().await;
        assert!(answer.status() == 503 || answer.body.len() > 512 << 10, "{}", answer.status());
    }

    async fn open_session(&mut self) {
        let begun = Instant::now();
        let Some(initialized) = self.request(&RawRequest::initialize()).await else {
            return;
        };
        let session = initialized.head.header("mcp-session-id").to_owned();
        match self.rng.below(8) {
            // Abandoned until it expires.
            0 => return,
            1 => Connection::open(self.address).await.send(&RawRequest::listen(&session)).await,
            _ => {
                let request = RawRequest::call_within(&session, self.next_id, "boom");
                if let Some(answer) = self.request(&request).await {
                    if answer.status() == 404 {
                        assert!(begun.elapsed() >= SESSION_IDLE, "{answer:?}");
                        return;
                    }
                    assert_eq!(answer.last_event()["result"]["isError"], true);
                }
            }
        }
        self.request(&RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_requests_over_http() {
    let server = Server::start();
    server.load(WARM_UP, 1).await;
    let before = settled(&server, None).await;
    server.load(MESSAGES * u64::from(crate::property::search()), 2).await;
    settled(&server, Some(&before)).await;
}

/// Waits until sessions have expired and connections are closed.
async fn settled(server: &Server, before: Option<&ResourceUsage>) -> ResourceUsage {
    let end = Instant::now() + RELEASE_TIMEOUT;
    let mut last = server.usage().await;
    loop {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let now = server.usage().await;
        let is_settled = before.unwrap_or(&last).is_within(&now);
        if is_settled {
            return now;
        }
        assert!(Instant::now() < end, "{before:?} {now:?}");
        last = now;
    }
}
