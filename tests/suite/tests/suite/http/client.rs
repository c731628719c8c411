//! A minimal HTTP client: one connection, raw requests and complete responses.

use serde_json::{Value, json};
use std::net::SocketAddr;
use suite::limit::limited;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A request that can be changed before it is sent.
#[derive(Clone)]
pub(crate) struct RawRequest {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl RawRequest {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let line = format!("{method} {path} HTTP/1.1");
        Self { line, headers: Vec::new(), body: Vec::new() }.with("host", "localhost")
    }

    /// A POST request with a message.
    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        let request = Self::new("POST", "/mcp")
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream");
        let body = body.into();
        Self { body, ..request }
    }

    /// A request of 2026-07-28.
    pub(crate) fn stateless(id: u64, method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let request = Self::post(message.to_string())
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", method);
        match params["name"].as_str() {
            Some(name) => request.with("mcp-name", name),
            None => request,
        }
    }

    /// A call in 2026-07-28.
    pub(crate) fn call(id: u64, tool: &str) -> Self {
        Self::stateless(id, "tools/call", json!({"name": tool, "arguments": {}}))
    }

    pub(crate) fn initialize() -> Self {
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}
        }});
        Self::post(message.to_string())
    }

    /// A message in a session.
    pub(crate) fn within(session: &str, message: &Value) -> Self {
        Self::post(message.to_string())
            .with("mcp-session-id", session)
            .with("mcp-protocol-version", "2025-11-25")
    }

    /// A call in a session.
    pub(crate) fn call_within(session: &str, id: u64, tool: &str) -> Self {
        let params = json!({"name": tool, "arguments": {}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        Self::within(session, &call)
    }

    /// The event stream of a session.
    pub(crate) fn listen(session: &str) -> Self {
        Self::new("GET", "/mcp").with("accept", "text/event-stream").with("mcp-session-id", session)
    }

    /// Sets a header, or removes it with an empty value.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Replaces the body.
    pub(crate) fn with_body(self, body: &str) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Modifies the parameters of the message.
    pub(crate) fn with_params(mut self, change: impl FnOnce(&mut Value)) -> Self {
        let mut message: Value = serde_json::from_slice(&self.body).expect("JSON");
        change(&mut message["params"]);
        self.body = message.to_string().into_bytes();
        self
    }

    /// Makes rmcp handle the request instead of the fast path, by an unusual `Accept`.
    pub(crate) fn through_rmcp(self) -> Self {
        self.with("accept", "application/json;q=0.9, text/event-stream;q=1")
    }

    /// Adds a second header of a name.
    pub(crate) fn with_second(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() && !self.headers.iter().any(|(name, _)| name == "content-length") {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        [(text + "\r\n").as_bytes(), self.body.as_slice()].concat()
    }
}

/// Status and headers of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    /// A header's value, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The only message, or the last of a stream.
    pub(crate) fn last_event(&self) -> Value {
        if self.head.header("content-type") == "application/json" {
            return self.json();
        }
        let mut data = self.body.lines().rev().filter_map(|line| line.strip_prefix("data: {"));
        let last = data.next().unwrap_or_else(|| panic!("no event: {self:?}"));
        serde_json::from_str(&format!("{{{last}")).expect("JSON")
    }
}

/// One connection.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.expect("it listens")))
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).await.expect("it reads");
    }

    pub(crate) async fn send(&mut self, request: &RawRequest) {
        self.write(&request.bytes()).await;
    }

    /// Sends the last request and closes the sending direction.
    pub(crate) async fn send_last(&mut self, request: &RawRequest) {
        self.send(request).await;
        self.half_close().await;
    }

    /// Closes the sending direction, and still reads.
    pub(crate) async fn half_close(&mut self) {
        self.0.get_mut().shutdown().await.expect("an open connection");
    }

    pub(crate) async fn request(&mut self, request: &RawRequest) -> Answer {
        self.send(request).await;
        self.answer().await
    }

    /// Sends a request repeatedly without reading; returns the number of successful sends.
    pub(crate) async fn send_until_closed(&mut self, request: &RawRequest, most: usize) -> usize {
        for sent in 0..most {
            if self.0.get_mut().write_all(&request.bytes()).await.is_err() {
                return sent;
            }
        }
        most
    }

    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let body = self.body(&head).await;
        Answer { head, body }
    }

    pub(crate) async fn head(&mut self) -> Head {
        let status = self.line().await.expect("an answer");
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut headers = Vec::new();
        while let Some((name, value)) =
            self.line().await.expect("headers").split_once(": ").map(owned_pair)
        {
            headers.push((name, value));
        }
        Head { status: status.expect("a status"), headers }
    }

    async fn body(&mut self, head: &Head) -> String {
        if head.header("transfer-encoding") == "chunked" {
            let mut body = String::new();
            while let Some(chunk) = self.chunk().await {
                body.push_str(&chunk);
            }
            return body;
        }
        let length = head.header("content-length").parse().unwrap_or(0);
        let mut body = vec![0; length];
        limited(self.0.read_exact(&mut body)).await.expect("a body");
        String::from_utf8(body).expect("UTF-8")
    }

    /// The next chunk of a stream, unless it has ended.
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line().await?, 16).expect("a length");
        let mut chunk = vec![0; length + 2];
        limited(self.0.read_exact(&mut chunk)).await.ok()?;
        chunk.truncate(length);
        (length > 0).then(|| String::from_utf8(chunk).expect("UTF-8"))
    }

    /// A line, unless the connection is closed.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = limited(self.0.read_line(&mut line)).await;
        let is_line = read.is_ok_and(|bytes| bytes > 0);
        is_line.then(|| line.trim_end_matches("\r\n").to_owned())
    }

    /// Waits until the server closes the connection, and returns the remaining output.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let _closed_or_reset = limited(self.0.read_to_end(&mut rest)).await;
        String::from_utf8_lossy(&rest).into_owned()
    }
}

fn owned_pair((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
