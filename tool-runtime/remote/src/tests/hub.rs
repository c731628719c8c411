//! A hub over HTTP: who may do what, restarts, lost answers, garbage.

use super::board::{eventually, hear, job, queue, started, step, submit};
use crate::{
    Board, BoardError, Engine, Heard, HttpBoard, HttpBoardOptions, Hub, LEASE, Reach, Revision,
    SqliteStore, Swap, Topic, random,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::tool::StepId;
use tool_runtime_server::BearerTokens;

const TOKENS: &str = "pool1:token-of-pool1 scopes=call:web,call:files
    pool2:token-of-pool2 scopes=call:*
    runner1:token-of-runner1 scopes=run:web,run:files
    runner2:token-of-runner2 scopes=run:files
    bad.name:token-of-bad.name scopes=call:*";

/// A hub on a file, which serves until it is stopped or dropped.
pub(super) struct TestHub {
    folder: TempDir,
    lease: Duration,
    pub(super) address: SocketAddr,
    end: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl TestHub {
    pub(super) async fn start(lease: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut hub = Self { folder, lease, address, end: CancellationToken::new(), serving: None };
        hub.restart().await;
        hub
    }

    /// Starts to serve the file, at the address of before.
    async fn restart(&mut self) {
        let store = SqliteStore::open(self.folder.path().join("hub.db")).unwrap();
        let hub = Hub::over(Engine::with_lease(store, self.lease));
        let tokens = BearerTokens::parse(TOKENS).unwrap();
        let server = hub.serve(&self.address.to_string(), tokens).await.unwrap();
        self.address = server.address();
        self.end = CancellationToken::new();
        self.serving = Some(tokio::spawn(server.until(self.end.clone())));
    }

    async fn stop(&mut self) {
        self.end.cancel();
        self.serving.take().unwrap().await.unwrap();
    }

    pub(super) async fn connect(&self, name: &str) -> HttpBoard {
        connect(self.address, name).await.unwrap()
    }
}

impl Drop for TestHub {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

async fn connect(address: SocketAddr, name: &str) -> Result<HttpBoard, BoardError> {
    let options = HttpBoardOptions::default().token(format!("token-of-{name}"));
    HttpBoard::connect(&format!("http://{address}"), options).await
}

/// A proxy that loses the first answer to a request of a method.
async fn losing_proxy(to: SocketAddr, method: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut is_lost = false;
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = TcpStream::connect(to).await.unwrap();
            while let Some(request) = pass(&mut client, &mut server).await {
                let mut answer = vec![0; 64 * 1024];
                let length = server.read(&mut answer).await.unwrap();
                if request.starts_with(method.as_bytes()) && !is_lost {
                    is_lost = true;
                    break;
                }
                client.write_all(&answer[..length]).await.unwrap();
            }
        }
    });
    address
}

/// Passes on one small request.
async fn pass(client: &mut TcpStream, server: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = vec![0; 64 * 1024];
    let length = client.read(&mut request).await.ok().filter(|length| *length > 0)?;
    request.truncate(length);
    server.write_all(&request).await.ok()?;
    Some(request)
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_on_the_way_is_repeated_and_recognised() {
    let hub = TestHub::start(LEASE).await;
    let proxy = losing_proxy(hub.address, "PUT").await;
    let board = connect(proxy, "runner1").await.unwrap();
    let (step, record) = (step(), started());
    let written = board.swap(&step, &record, Revision::NONE, LEASE).await.unwrap();
    assert_eq!(written, Swap::Written(Revision(1)));
    let present = hub.connect("runner1").await.read(&step).await.unwrap().unwrap();
    assert_eq!((present.record, present.revision), (record, Revision(1)));
}

#[tokio::test]
async fn a_restart_keeps_records_loses_jobs_and_is_heard_as_a_gap() {
    let mut hub = TestHub::start(LEASE).await;
    let (caller, runner) = (hub.connect("pool1").await, hub.connect("runner1").await);
    let (step, record) = (step(), started());
    let topic = Topic::Step(step.clone());
    let mut of_step = caller.listen(&topic).await.unwrap();
    let mut presence = caller.listen(&Topic::AllPresence).await.unwrap();
    caller.submit(&queue(), &job(&step.step), LEASE).await.unwrap();
    runner.swap(&step, &record, Revision::NONE, LEASE).await.unwrap();
    assert!(matches!(hear(&mut of_step).await, Heard::Record(_)));

    hub.stop().await;
    let started = Instant::now();
    for error in [
        caller.read(&step).await.unwrap_err(),
        runner.claim(&queue(), 1).await.err().unwrap(),
        caller.send(&topic, "{}".into()).await.unwrap_err(),
    ] {
        let BoardError::Disconnected(text) = error else { panic!("{error}") };
        assert!(
            text.contains(&format!("cannot reach the hub at http://{}", hub.address)),
            "{text}"
        );
        assert!(text.contains("refused"), "{text}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));

    hub.restart().await;
    assert_eq!(hear(&mut of_step).await, Heard::Gap);
    assert_eq!(hear(&mut presence).await, Heard::Gap);
    assert_eq!(caller.read(&step).await.unwrap().unwrap().record, record);
    assert_eq!(caller.depth(&queue()).await.unwrap().queued, 0);
    // The record still tells whose step it is.
    assert_eq!(runner.send(&topic, "{}".into()).await.unwrap(), Reach::Somebody);
    assert_eq!(hear(&mut of_step).await, Heard::Message("{}".into()));
}

#[tokio::test]
async fn a_hub_ends_at_once_though_others_listen_and_wait_for_jobs() {
    let mut hub = TestHub::start(LEASE).await;
    let runner = Arc::new(hub.connect("runner1").await);
    let _listener = runner.listen(&Topic::Control(queue())).await.unwrap();
    let waiting = {
        let runner = Arc::clone(&runner);
        tokio::spawn(async move { runner.claim(&queue(), 1).await.err().unwrap() })
    };
    // Meanwhile the hub learns who waits.
    for _ in 0..10 {
        runner.depth(&queue()).await.unwrap();
    }
    let started = Instant::now();
    hub.stop().await;
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(matches!(waiting.await.unwrap(), BoardError::Disconnected(_)));
}

#[tokio::test]
async fn no_job_is_given_to_a_runner_that_has_gone() {
    let hub = TestHub::start(LEASE).await;
    let (caller, runner) = (hub.connect("pool1").await, Arc::new(hub.connect("runner1").await));
    let gone = {
        let runner = Arc::clone(&runner);
        tokio::spawn(async move { runner.claim(&queue(), 1).await.map(drop) })
    };
    let meanwhile = async || {
        for _ in 0..100 {
            caller.depth(&queue()).await.unwrap();
        }
    };
    meanwhile().await;
    gone.abort();
    meanwhile().await;
    submit(&caller).await;
    let claims = timeout(LEASE / 2, runner.claim(&queue(), 1)).await.expect("a job").unwrap();
    assert!(!claims[0].is_repeated());
}

#[tokio::test]
async fn a_runner_that_ends_is_answered_and_keeps_no_job() {
    let hub = TestHub::start(LEASE).await;
    let caller = hub.connect("pool1").await;
    // Without a job, and with one that may be on its way.
    for round in 0..20 {
        let runner = Arc::new(hub.connect("runner1").await);
        let waiting = {
            let runner = Arc::clone(&runner);
            tokio::spawn(async move { runner.claim(&queue(), 1).await.unwrap() })
        };
        // Meanwhile the hub learns who waits.
        for _ in 0..10 {
            runner.depth(&queue()).await.unwrap();
        }
        let queue = queue();
        let job = async {
            if round > 0 {
                submit(&caller).await;
            }
        };
        let ((), ended) = tokio::join!(job, runner.end_claims(&queue));
        assert!(ended);
        let claims = timeout(LEASE / 2, waiting).await.expect("an answer").unwrap();
        for claim in claims {
            claim.finish().await.unwrap();
        }
        assert_eq!(caller.depth(&queue).await.unwrap().claimed, 0);
    }
}

#[tokio::test]
async fn a_silent_hub_counts_as_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Answers who the caller is, and says nothing on streams but that they stand.
    tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = client.read(&mut request).await.unwrap();
            let is_stream = request[..length].starts_with(b"GET /remote/v1/messages");
            let answer = match is_stream {
                true => {
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: ready\ndata: {}\n\n"
                }
                false => {
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 16\r\n\r\n{\"name\":\"pool1\"}"
                }
            };
            client.write_all(answer.as_bytes()).await.unwrap();
            if is_stream {
                open.push(client);
            }
        }
    });
    let options = HttpBoardOptions::default().silence(Duration::from_millis(200));
    let board = HttpBoard::connect(&format!("http://{address}"), options).await.unwrap();
    let mut listener = board.listen(&Topic::Step(step())).await.unwrap();
    assert_eq!(hear(&mut listener).await, Heard::Gap);
    drop(board);
    assert_eq!(timeout(LEASE, listener.next()).await.unwrap(), None, "the board is closed");
}

#[tokio::test]
async fn a_wrong_token_or_address_is_an_error_of_connecting() {
    let hub = TestHub::start(LEASE).await;
    let refused = async |name: &str| {
        let BoardError::Refused(text) = connect(hub.address, name).await.unwrap_err() else {
            panic!("{name}")
        };
        text
    };
    let address = format!("the hub at http://{}: ", hub.address);
    assert_eq!(
        refused("nobody").await,
        format!("{address}the token is not one of the hub's; send another")
    );
    let text = refused("bad.name").await;
    assert!(text.contains("`bad.name` is not a valid name of a caller"), "{text}");
    let address = format!("http://{}", hub.address);
    let connect =
        async |address: &str, options| HttpBoard::connect(address, options).await.unwrap_err();
    let error = connect(&address, HttpBoardOptions::default()).await;
    assert!(error.to_string().ends_with("send `Authorization: Bearer TOKEN`"), "{error}");
    let options = || HttpBoardOptions::default().token("token-of-pool1");
    let error = connect(&format!("{address}/elsewhere"), options()).await;
    assert!(matches!(error, BoardError::Refused(_)), "{error}");
    assert!(error.to_string().contains("check the address of the hub"), "{error}");
    let error = connect("http://127.0.0.1:1", options()).await;
    assert!(matches!(error, BoardError::Disconnected(_)), "{error}");
    assert!(!format!("{:?} {error}", options()).contains("token-of"));
}

#[tokio::test]
async fn only_this_machine_and_tls_are_confidential() {
    let hub = TestHub::start(LEASE).await;
    let board = hub.connect("pool1").await;
    assert!(board.is_confidential());
    assert_eq!(board.address(), format!("http://{}", hub.address));
    assert_eq!(board.caller().as_str(), "pool1");
}

/// A client of its own, for requests that no board sends.
struct Raw {
    client: reqwest::Client,
    address: SocketAddr,
}

/// An answer: its status, and the JSON of its body.
type Answer = (u16, Value);

impl Raw {
    fn new(hub: &TestHub) -> Self {
        let builder = tool_runtime_mcp::http_client::builder(false).unwrap();
        Self { client: builder.no_proxy().build().unwrap(), address: hub.address }
    }

    fn request(&self, method: &str, path: &str, name: &str) -> reqwest::RequestBuilder {
        let method = method.parse().unwrap();
        let request =
            self.client.request(method, format!("http://{}/remote/v1/{path}", self.address));
        request.header("authorization", format!("Bearer token-of-{name}"))
    }

    async fn send(&self, request: reqwest::RequestBuilder, body: &str) -> Answer {
        let response = request.body(body.to_owned()).send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn ask(&self, name: &str, method: &str, path: &str, body: &str) -> Answer {
        let request = self.request(method, path, name).header("if-none-match", "*");
        self.send(request, body).await
    }
}

#[tokio::test]
async fn every_deed_needs_its_scope_over_the_wire() {
    let hub = TestHub::start(LEASE).await;
    let raw = Raw::new(&hub);
    let own = submit(&hub.connect("pool1").await).await;
    let job = |step: &StepId| serde_json::to_string(&job(step)).unwrap();
    let started = |queue: &str| json!({ "v": 1, "state": "started", "round": 1, "nonce": "n", "runner": format!("{queue}.h-1") });
    let suspended = json!({ "v": 1, "state": "suspended", "round": 1, "nonce": "n" });
    let done = |by: &str, outcome: Value| json!({ "v": 1, "state": "done", "round": 1, "nonce": "n", "by": by, "outcome": outcome });
    let cancelled = json!({ "error": { "class": "cancelled", "message": "" } });
    let presence = |runner: &str| json!({ "queue": "web", "runner": runner }).to_string();
    let order = |caller: &str| json!({ "caller": caller, "step": own, "do": "look" }).to_string();
    let path = |step: &StepId| format!("steps/web/pool1/{step}");
    let (new, fresh) = (random::step(), || path(&random::step()));
    let rows: Vec<(&str, &str, String, String, u16)> = vec![
        // Reading: own, another's, a runner's, of another queue.
        ("pool1", "GET", path(&own), String::new(), 404),
        ("pool2", "GET", path(&own), String::new(), 403),
        ("runner1", "GET", path(&own), String::new(), 404),
        ("runner2", "GET", path(&own), String::new(), 403),
        // Writing.
        ("pool2", "PUT", path(&own), suspended.to_string(), 403),
        ("pool1", "PUT", fresh(), suspended.to_string(), 200),
        ("pool1", "PUT", fresh(), done("caller:pool1", cancelled.clone()).to_string(), 200),
        ("pool1", "PUT", fresh(), done("caller:pool2", cancelled.clone()).to_string(), 403),
        ("pool1", "PUT", fresh(), done("caller:pool1", json!({ "ok": {} })).to_string(), 403),
        ("pool1", "PUT", fresh(), done("runner:web.h-1", json!({ "ok": {} })).to_string(), 403),
        ("pool1", "PUT", fresh(), started("web").to_string(), 403),
        ("runner1", "PUT", path(&own), started("web").to_string(), 200),
        ("runner1", "PUT", fresh(), started("files").to_string(), 403),
        ("runner1", "PUT", fresh(), suspended.to_string(), 403),
        ("runner1", "PUT", fresh(), done("runner:web.h-1", json!({ "ok": {} })).to_string(), 200),
        ("runner1", "PUT", fresh(), done("caller:runner1", cancelled).to_string(), 403),
        ("runner2", "PUT", fresh(), started("web").to_string(), 403),
        // Jobs, claims, depth.
        ("pool1", "POST", "jobs/web".into(), job(&own), 202),
        ("pool2", "POST", "jobs/web".into(), job(&own), 202),
        ("runner1", "POST", "jobs/web".into(), job(&new), 403),
        ("pool1", "POST", "jobs/other".into(), job(&new), 403),
        ("pool2", "POST", "jobs/other".into(), job(&new), 202),
        ("pool1", "POST", "claims/web".into(), r#"{"max":1,"wait":0}"#.into(), 403),
        ("runner2", "POST", "claims/web".into(), r#"{"max":1,"wait":0}"#.into(), 403),
        ("runner2", "POST", "claims/files".into(), r#"{"max":1,"wait":0}"#.into(), 200),
        ("runner1", "GET", "queues/web".into(), String::new(), 200),
        ("runner2", "GET", "queues/web".into(), String::new(), 403),
        // Messages.
        ("runner1", "POST", format!("messages?topic={}", path(&own)), "{}".into(), 200),
        ("pool1", "POST", format!("messages?topic={}", path(&own)), "{}".into(), 403),
        ("runner2", "POST", format!("messages?topic={}", path(&own)), "{}".into(), 403),
        ("pool1", "POST", "messages?topic=control/web".into(), order("pool1"), 200),
        ("pool1", "POST", "messages?topic=control%2Fweb".into(), order("pool1"), 200),
        ("pool1", "POST", "messages?topic=control/web".into(), order("pool2"), 403),
        ("runner1", "POST", "messages?topic=control/web".into(), order("runner1"), 403),
        ("runner1", "POST", "messages?topic=presence/web".into(), presence("web.h-1"), 200),
        ("runner1", "POST", "messages?topic=presence/web".into(), presence("files.h-1"), 403),
        ("runner1", "POST", "messages?topic=presence/files".into(), presence("files.h-1"), 403),
        ("pool1", "POST", "messages?topic=presence/web".into(), presence("web.h-1"), 403),
        ("runner2", "POST", "messages?topic=roll".into(), "{}".into(), 200),
        ("pool1", "GET", "messages?topic=control/web".into(), String::new(), 403),
        ("runner2", "GET", "messages?topic=control/web".into(), String::new(), 403),
        ("runner2", "GET", "messages?topic=presence/web".into(), String::new(), 403),
        ("pool1", "GET", format!("messages?topic={}", path(&own)), String::new(), 403),
        // Anything, with a token that is none.
        ("nobody", "GET", "whoami".into(), String::new(), 401),
        ("nobody", "PUT", fresh(), suspended.to_string(), 401),
        ("nobody", "GET", "messages?topic=mine".into(), String::new(), 401),
        ("nobody", "GET", format!("blobs/{}?size=1", "0".repeat(64)), String::new(), 401),
    ];
    for (name, method, path, body, expected) in rows {
        let (status, answer) = raw.ask(name, method, &path, &body).await;
        assert_eq!(status, expected, "{name}: {method} {path} {body}: {answer}");
        if status >= 400 {
            assert!(answer["error"].as_str().is_some_and(|text| text.len() > 10), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_claim_belongs_to_the_token_that_claimed() {
    let hub = TestHub::start(LEASE).await;
    let raw = Raw::new(&hub);
    let caller = hub.connect("pool1").await;
    let files = "files".parse().unwrap();
    caller.submit(&files, &job(&random::step()), LEASE).await.unwrap();
    let wanted = r#"{"max":1000000,"wait":0}"#;
    let (_, claims) = raw.ask("runner1", "POST", "claims/files", wanted).await;
    let id = claims[0]["claim"].as_str().unwrap();
    assert_eq!((claims[0]["caller"].as_str(), id.len()), (Some("pool1"), 32));
    let (order, path) = (r#"{"do":"finish"}"#, format!("claims/files/{id}"));
    assert_eq!(raw.ask("runner2", "POST", &path, order).await.0, 410, "another token");
    let elsewhere = format!("claims/web/{id}");
    assert_eq!(raw.ask("runner1", "POST", &elsewhere, order).await.0, 410, "another queue");
    assert_eq!(raw.ask("runner1", "POST", &path, r#"{"do":"renew"}"#).await.0, 204);
    let longest = format!(r#"{{"do":"later","delay":{}}}"#, u64::MAX);
    assert_eq!(raw.ask("runner1", "POST", &path, &longest).await.0, 204);
    assert_eq!(raw.ask("runner1", "POST", &path, order).await.0, 410);
}

#[tokio::test]
async fn presence_is_heard_of_the_queues_of_the_token_alone() {
    let hub = TestHub::start(LEASE).await;
    let (runner1, runner2) = (hub.connect("runner1").await, hub.connect("runner2").await);
    let mut of_files = runner2.listen(&Topic::AllPresence).await.unwrap();
    for queue in ["web", "files"] {
        let presence = json!({ "queue": queue, "runner": format!("{queue}.h-1") }).to_string();
        let topic = Topic::Presence(queue.parse().unwrap());
        runner1.send(&topic, presence.into()).await.unwrap();
    }
    let Heard::Message(first) = hear(&mut of_files).await else { panic!() };
    assert!(first.starts_with(br#"{"queue":"files""#), "{first:?}");
}

#[tokio::test]
async fn slow_uploads_of_one_client_leave_room_for_others() {
    let hub = TestHub::start(LEASE).await;
    let mut slow = Vec::new();
    for _ in 0..16 {
        let mut stream = TcpStream::connect(hub.address).await.unwrap();
        let path = format!("/remote/v1/blobs/{}", "0".repeat(64));
        let head = format!(
            "PUT {path} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer token-of-runner1\r\ncontent-length: 9\r\n\r\nhalf"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let caller = hub.connect("pool1").await;
    let put = timeout(Duration::from_secs(10), caller.put("quick".into())).await;
    assert!(put.is_ok_and(|put| put.is_ok()));
}

#[tokio::test]
async fn garbage_is_answered_with_what_to_do_and_harms_nobody() {
    let hub = TestHub::start(LEASE).await;
    let raw = Raw::new(&hub);
    let step = format!("steps/web/pool1/{}", random::step());
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("\"{}\"", "x".repeat(2 * 1024 * 1024));
    let newer = r#"{"v":2,"state":"suspended","round":1,"nonce":"n"}"#;
    for (method, path, body, expected) in [
        ("PUT", step.as_str(), "", 400),
        ("PUT", &step, "{", 400),
        ("PUT", &step, "\u{0}\u{1}", 400),
        ("PUT", &step, "{}", 400),
        ("PUT", &step, newer, 400),
        ("PUT", &step, &deep, 400),
        ("PUT", &step, &long, 413),
        ("PUT", "steps/web/pool1/9f", "{}", 400),
        ("PUT", &format!("{step}/2"), "{}", 404),
        ("GET", &format!("{step}%2F2"), "", 400),
        ("GET", "steps/we%20b/pool1/9f9f9f9f9f9f9f9f", "", 400),
        ("GET", "steps/../../healthz", "", 404),
        ("POST", "jobs/web", &deep, 400),
        ("POST", "jobs/web", r#"{"v":1,"step":"x"}"#, 400),
        ("POST", "jobs/web", &long, 413),
        ("POST", "claims/web", r#"{"max":-1}"#, 403),
        ("POST", "messages", "{}", 400),
        ("POST", "messages?topic=", "{}", 400),
        ("POST", "messages?topic=%FF%00", "{}", 400),
        ("POST", "messages?topic=roll", "no JSON", 400),
        ("POST", "messages?topic=roll", &long, 413),
        ("GET", "messages?topic=mine/x", "", 400),
        ("PUT", "blobs/x", "x", 400),
        ("PUT", &format!("blobs/{}", "0".repeat(64)), "x", 400),
        ("GET", &format!("blobs/{}", "0".repeat(64)), "", 400),
        ("GET", &format!("blobs/{}?size=99999999999999999999", "0".repeat(64)), "", 400),
        ("GET", &format!("blobs/{}?size=18446744073709551615", "0".repeat(64)), "", 404),
        ("DELETE", &step, "", 404),
        ("GET", "", "", 404),
        ("GET", "nothing", "", 404),
    ] {
        let (status, answer) = raw.ask("pool1", method, path, body).await;
        let start: String = body.chars().take(60).collect();
        assert_eq!(status, expected, "{method} {path} {start}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|text| text.len() > 10), "{path}: {answer}");
    }
    let suspended = r#"{"v":1,"state":"suspended","round":1,"nonce":"n"}"#;
    for (header, value, expected) in [
        ("if-match", "1", 428),
        ("if-match", "\"x\"", 428),
        ("if-none-match", "\"1\"", 428),
        ("x-keep", "soon", 400),
        ("if-match", "\"18446744073709551615\"", 412),
    ] {
        let request = raw.request("PUT", &step, "pool1").header(header, value);
        let (status, answer) = raw.send(request, suspended).await;
        // Without a precondition, that is what is missing.
        let expected = if header == "x-keep" { 428 } else { expected };
        assert_eq!(status, expected, "{header}: {value}: {answer}");
    }
    let request = raw.request("PUT", &step, "pool1").header("if-none-match", "*");
    assert_eq!(raw.send(request.header("x-keep", "soon"), suspended).await.0, 400);
    let request = raw.request("PUT", &step, "pool1").header("if-none-match", "*");
    assert_eq!(raw.send(request.header("x-keep", u64::MAX), suspended).await.0, 200);
    let request = raw.request("POST", "jobs/web", "pool1").header("x-keep", u64::MAX);
    let job = serde_json::to_string(&job(&random::step())).unwrap();
    assert_eq!(raw.send(request, &job).await.0, 202);
    assert_eq!(hub.connect("pool1").await.depth(&queue()).await.unwrap().queued, 1);
}

#[tokio::test]
async fn what_is_too_long_is_not_sent() {
    let hub = TestHub::start(LEASE).await;
    let board = hub.connect("pool1").await;
    let message = vec![b' '; 1024 * 1024 + 1];
    let error = board.send(&Topic::Roll, message.into()).await.unwrap_err();
    assert!(error.to_string().starts_with("1048577 bytes are more than the 1048576"), "{error}");
    let error = board.put(vec![0; 64 * 1024 * 1024 + 1].into()).await.unwrap_err();
    assert!(error.to_string().starts_with("67108865 bytes are more than the 67108864"), "{error}");
}

#[tokio::test]
async fn a_health_check_needs_no_token() {
    let hub = TestHub::start(LEASE).await;
    let raw = Raw::new(&hub);
    let response = raw.client.get(format!("http://{}/healthz", hub.address)).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), response.text().await.unwrap().as_str()),
        (200, "ok\n")
    );
}

#[tokio::test]
async fn callers_of_the_process_and_of_others_share_a_hub() {
    let hub = Hub::memory();
    let server = hub.serve("127.0.0.1:0", BearerTokens::parse(TOKENS).unwrap()).await.unwrap();
    let address = server.address();
    let end = CancellationToken::new();
    let serving = tokio::spawn(server.until(end.clone()));
    let (here, there) =
        (hub.board("pool1".parse().unwrap()), connect(address, "runner1").await.unwrap());
    let step = step();
    let mut listener = here.listen(&Topic::Step(step.clone())).await.unwrap();
    here.submit(&queue(), &job(&step.step), LEASE).await.unwrap();
    let claim = there.claim(&queue(), 1).await.unwrap().remove(0);
    there.swap(&step, &started(), Revision::NONE, LEASE).await.unwrap();
    assert!(matches!(hear(&mut listener).await, Heard::Record(_)));
    claim.finish().await.unwrap();
    eventually(async || here.depth(&queue()).await.unwrap().claimed == 0).await;
    end.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn one_hub_has_a_file_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hub.db");
    let first = crate::Hub::open(&path).unwrap();
    let error = crate::Hub::open(&path).unwrap_err().to_string();
    assert!(error.contains("another hub has") && error.contains("hub.db` open"), "{error}");
    drop(first);
    drop(crate::Hub::open(&path).unwrap());
}
