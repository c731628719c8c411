//! `RemoteTrigger` and a target on this machine.

use super::*;
use crate::schedule::delivery::WebhookClient;
use crate::schedule::signature::{key_bytes, sign};
use crate::schedule::{Target, TriggerTools};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tool_runtime::pool::Source;
use tool_runtime::secret::Secrets;

const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request as the target received it.
struct Received {
    headers: BTreeMap<String, String>,
    body: String,
}

/// A target that gives the responses in turn, and closes the connection where one is empty.
struct Peer {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Peer {
    async fn with_responses(responses: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let responses: Vec<String> = responses.iter().map(|it| (*it).to_owned()).collect();
        let sink = Arc::clone(&received);
        tokio::spawn(async move {
            for response in responses {
                let (mut stream, _) = listener.accept().await.unwrap();
                let received = receive(&mut stream).await;
                sink.lock().unwrap().push(received);
                stream.write_all(response.as_bytes()).await.unwrap();
            }
        });
        Self { url, received }
    }

    fn target(&self) -> Target {
        Target::new("builds", &self.url, KEY)
    }
}

async fn receive(stream: &mut tokio::net::TcpStream) -> Received {
    let mut bytes = Vec::new();
    loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let headers: BTreeMap<String, String> = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        if body.len() >= headers["content-length"].parse::<usize>().unwrap() {
            return Received { headers, body: body.to_owned() };
        }
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// A pool whose pauses are noted instead of waited for.
fn setup(target: Target) -> (Setup, Arc<Mutex<Vec<Duration>>>) {
    let time = Time::at(BEGINNING);
    let workspace = time.workspace();
    let schedule = Schedule::builder(&workspace).target(target).open().unwrap();
    let pauses = Arc::<Mutex<Vec<Duration>>>::default();
    let sink = Arc::clone(&pauses);
    let client =
        WebhookClient::new().unwrap().sleeping(move |pause| sink.lock().unwrap().push(pause));
    let tools = Tool::of_toolset(None, TriggerTools::with_client(&schedule, client));
    let jobs = Tool::of_toolset(None, crate::schedule::CronTools::new(&schedule));
    let pool = ToolPool::builder()
        .add_from(&Source::Custom, tools)
        .add_from(&Source::Custom, jobs)
        .secrets(Secrets::new().with("TOKEN", "8fQm2x1v"))
        .build()
        .unwrap();
    (Setup { time, notes: Notes::default(), schedule, pool }, pauses)
}

async fn trigger(pool: &ToolPool) {
    let create = json!({ "action": "create", "name": "nightly", "prompt": "build it" });
    value(pool, "RemoteTrigger", create).await;
}

fn run() -> Value {
    json!({ "action": "run", "id": "trigger_1" })
}

#[tokio::test]
async fn a_delivery_is_signed_and_its_response_returned() {
    let peer = Peer::with_responses(&[&response("202 Accepted", "", "queued as 17")]).await;
    let (setup, _) = setup(peer.target());
    trigger(&setup.pool).await;
    let result = call(&setup.pool, "RemoteTrigger", run()).await;
    assert_eq!(result.observation().to_text(), "answered 202 (attempt 1)\nqueued as 17");
    let received = peer.received.lock().unwrap();
    let Received { headers, body } = &received[0];
    let time: i64 = headers["webhook-timestamp"].parse().unwrap();
    assert_eq!(time, BEGINNING.parse::<Timestamp>().unwrap().as_second());
    let expected = sign(&key_bytes(KEY).unwrap(), &headers["webhook-id"], time, body);
    assert_eq!(headers["webhook-signature"], expected);
    assert_eq!(headers["idempotency-key"], headers["webhook-id"]);
    assert_eq!(result.observation().structured().unwrap()["delivery"], headers["webhook-id"]);
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["data"]["prompt"], &body["data"]["name"]),
        (&json!("build it"), &json!("nightly"))
    );
}

#[tokio::test]
async fn two_runs_of_one_execution_are_two_deliveries() {
    let ok = response("200 OK", "", "");
    let peer = Peer::with_responses(&[&ok, &ok]).await;
    let (setup, _) = setup(peer.target());
    trigger(&setup.pool).await;
    let execution = Arc::new(tool_runtime::tool::Execution::new("agent-1"));
    let context = setup.pool.context().in_execution(&execution);
    for _ in 0..2 {
        setup.pool.call_with(ToolCall::json("RemoteTrigger", run()), &context).await;
    }
    let received = peer.received.lock().unwrap();
    assert_ne!(received[0].headers["webhook-id"], received[1].headers["webhook-id"]);
}

#[tokio::test]
async fn a_target_that_is_not_available_is_tried_again() {
    let (busy, wait) = (
        response("503 Service Unavailable", "", ""),
        response("429 Too Many Requests", "retry-after: 7\r\n", ""),
    );
    // 11 seconds after the beginning.
    let date =
        response("503 Service Unavailable", "retry-after: Mon, 01 Jun 2026 07:59:41 GMT\r\n", "");
    let peer =
        Peer::with_responses(&[&busy, "", &wait, &date, &response("200 OK", "", "done")]).await;
    let (setup, pauses) = setup(peer.target());
    trigger(&setup.pool).await;
    let text = call(&setup.pool, "RemoteTrigger", run()).await.observation().to_text();
    assert_eq!(text, "answered 200 (attempt 5)\ndone");
    assert_eq!(*pauses.lock().unwrap(), [1, 2, 7, 11].map(Duration::from_secs));
    let received = peer.received.lock().unwrap();
    assert!(
        received.iter().all(|it| it.headers["webhook-id"] == received[0].headers["webhook-id"])
    );
}

#[tokio::test]
async fn a_target_is_given_up_with_its_reason() {
    let peer = Peer::with_responses(&[&response("500 Internal Server Error", "", "oops")]).await;
    let (unavailable, pauses) = setup(peer.target().attempts(3));
    trigger(&unavailable.pool).await;
    let text = error(&unavailable.pool, "RemoteTrigger", run()).await;
    assert_eq!(text, "`builds` cannot be connected to; given up after 3 attempts");
    assert_eq!(*pauses.lock().unwrap(), [1, 2].map(Duration::from_secs));

    let cases = [
        (
            response("400 Bad Request", "", "no such build"),
            "answered 400 Bad Request: no such build",
        ),
        (
            response("302 Found", "location: http://127.0.0.1:1/\r\n", ""),
            "redirects are not followed",
        ),
        (response("503 Busy", "retry-after: 3600\r\n", ""), "since it asks to wait for 3600s"),
    ];
    for (body, expected) in cases {
        let peer = Peer::with_responses(&[&body]).await;
        let (setup, pauses) = setup(peer.target());
        trigger(&setup.pool).await;
        let text = error(&setup.pool, "RemoteTrigger", run()).await;
        assert!(text.contains(expected), "{text}");
        assert!(pauses.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_response_that_ends_early_counts_by_its_status() {
    for (status, expected) in [
        ("200 OK", "answered 200 (attempt 1)\nqueued"),
        ("400 Bad Request", "answered 400 Bad Request: queued"),
    ] {
        let cut = format!("HTTP/1.1 {status}\r\ncontent-length: 100\r\n\r\nqueued");
        let peer = Peer::with_responses(&[&cut]).await;
        let (setup, pauses) = setup(peer.target());
        trigger(&setup.pool).await;
        let text = call(&setup.pool, "RemoteTrigger", run()).await.observation().to_text();
        assert!(text.contains(expected), "{text}");
        assert!(pauses.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn long_responses_are_cut_and_silent_targets_are_not_waited_for() {
    let peer = Peer::with_responses(&[&response("200 OK", "", &"x".repeat(100_000))]).await;
    let (long, _) = setup(peer.target());
    trigger(&long.pool).await;
    let text = call(&long.pool, "RemoteTrigger", run()).await.observation().to_text();
    assert!(text.len() < 4100 && text.ends_with("… (61536 more bytes)"), "{}", text.len());

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let target = Target::new("silent", url, KEY).timeout(Duration::from_millis(50)).attempts(2);
    let (silent, _) = setup(target);
    trigger(&silent.pool).await;
    let text = error(&silent.pool, "RemoteTrigger", run()).await;
    assert_eq!(text, "`silent` did not answer in time; given up after 2 attempts");
}

#[tokio::test]
async fn a_trigger_with_a_schedule_is_a_job() {
    let peer = Peer::with_responses(&[&response("200 OK", "", "done")]).await;
    let (setup, _) = setup(peer.target());
    let create = json!({ "action": "create", "name": "nightly", "prompt": "build it", "schedule": "* * * * *" });
    let created = value(&setup.pool, "RemoteTrigger", create).await;
    assert_eq!(created["triggers"][0]["job"], "cron_1");
    setup.time.advance(30);
    let (mut host, events) = setup.host();
    host.tick().await.unwrap();
    host.idle().await;
    let last = events.lock().unwrap().last().unwrap().to_string();
    assert!(
        last.ends_with("succeeded, due 2026-06-01T08:00:00+00:00: answered 200 (attempt 1) done"),
        "{last}"
    );
    let remove = json!({ "action": "update", "id": "trigger_1", "schedule": "" });
    let removed = value(&setup.pool, "RemoteTrigger", remove).await;
    assert_eq!(removed["triggers"][0].get("job"), None);
    assert_eq!(setup.list().await["jobs"], json!([]));
}

#[tokio::test]
async fn triggers_are_listed_changed_and_deleted_and_mistakes_refused() {
    let (setup, _) = setup(Target::new("builds", "http://127.0.0.1:1/", KEY));
    let refused = |arguments| error(&setup.pool, "RemoteTrigger", arguments);
    assert!(refused(json!({ "action": "run" })).await.contains("`id` is missing"));
    assert!(refused(run()).await.contains("you have no triggers"));
    assert!(
        refused(json!({ "action": "create", "name": "a" })).await.contains("`prompt` is missing")
    );
    let other =
        json!({ "action": "create", "name": "a", "prompt": "b", "target": "http://10.0.0.1/" });
    assert!(refused(other).await.contains("is not a target; the targets are `builds`"));
    let secret = json!({ "action": "create", "name": "a", "prompt": "8fQm2x1v" });
    assert!(refused(secret).await.contains("must not contain a secret"));
    let late = json!({ "action": "create", "name": "a", "prompt": "b", "schedule": "99 * * * *" });
    assert!(refused(late).await.contains("field 1 of `schedule`"));
    assert_eq!(
        value(&setup.pool, "RemoteTrigger", json!({ "action": "list" })).await["triggers"],
        json!([])
    );

    let created = value(
        &setup.pool,
        "RemoteTrigger",
        json!({ "action": "create", "name": "a", "prompt": "b" }),
    )
    .await;
    let id = created["triggers"][0]["id"].clone();
    let again = json!({ "action": "create", "name": "a", "prompt": "b" });
    assert!(refused(again).await.contains("there is a trigger of the name `a` already"));
    let update = json!({ "action": "update", "id": id, "prompt": "c" });
    assert_eq!(value(&setup.pool, "RemoteTrigger", update).await["triggers"][0]["prompt"], "c");
    let surplus = json!({ "action": "get", "id": id, "prompt": "c" });
    assert!(refused(surplus).await.contains("`prompt` is not for this action"));
    let ada = setup.pool.for_principal(tool_runtime::Principal::new("ada"));
    assert!(
        error(&ada, "RemoteTrigger", json!({ "action": "get", "id": id }))
            .await
            .contains("no triggers")
    );
    value(&setup.pool, "RemoteTrigger", json!({ "action": "delete", "id": id })).await;
    assert!(refused(json!({ "action": "get", "id": id })).await.contains("you have no triggers"));
}

#[test]
fn targets_are_checked_when_the_schedule_is_opened() {
    let open = |targets: &[Target]| {
        let builder = Schedule::builder(&Time::at(BEGINNING).workspace());
        let builder =
            targets.iter().fold(builder, |builder, target| builder.target(target.clone()));
        builder.open().err().map(|error| error.to_string()).unwrap_or_default()
    };
    let target = |url, key: &'static str| Target::new("a", url, key);
    assert!(open(&[target("ftp://a/", KEY)]).contains("a URL of the scheme `ftp`"));
    assert!(open(&[target("http:/", KEY)]).contains("an invalid URL"));
    assert!(open(&[target("http://a/", "short")]).contains("fewer than 24 bytes"));
    assert!(open(&[target("http://a/", "whsec_?")]).contains("not base64"));
    assert!(open(&[target("http://a/", KEY), target("http://b/", KEY)]).contains("declared twice"));
    assert!(!format!("{:?}", target("http://a/", KEY)).contains("MfKQ"));
}

#[tokio::test]
async fn an_update_changes_all_or_nothing() {
    let peer = Peer::with_responses(&[]).await;
    let setup = Setup::with(|builder| builder.target(peer.target()), |pool| pool);
    for name in ["a", "b"] {
        let create = json!({ "action": "create", "name": name, "prompt": "x" });
        value(&setup.pool, "RemoteTrigger", create).await;
    }
    let get = json!({ "action": "get", "id": "trigger_1" });
    let before = value(&setup.pool, "RemoteTrigger", get.clone()).await;
    for (change, reason) in [
        (json!({ "name": "b", "schedule": "0 9 * * *" }), "another trigger has that name"),
        (json!({ "name": "c", "prompt": "y", "schedule": "never" }), "`schedule` has 1 fields"),
    ] {
        let mut update = json!({ "action": "update", "id": "trigger_1" });
        update.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = call(&setup.pool, "RemoteTrigger", update).await;
        let text = refused.observation().to_text();
        assert!(refused.is_error() && text.contains(reason), "{text}");
        assert_eq!(value(&setup.pool, "RemoteTrigger", get.clone()).await, before, "{change}");
        let jobs = value(&setup.pool, "CronList", json!({})).await;
        assert_eq!(jobs["jobs"], json!([]), "{change}");
    }
    let both =
        json!({ "action": "update", "id": "trigger_1", "name": "c", "schedule": "0 9 * * *" });
    let both = value(&setup.pool, "RemoteTrigger", both).await;
    let trigger = &both["triggers"][0];
    assert_eq!((&trigger["name"], &trigger["schedule"]), (&json!("c"), &json!("0 9 * * *")));
}

/// The pause stops growing at the longest one.
#[tokio::test]
async fn a_target_may_be_tried_many_times() {
    let peer = Peer::with_responses(&[""; 70]).await;
    let (setup, pauses) = setup(peer.target().attempts(70).max_wait(Duration::MAX));
    trigger(&setup.pool).await;
    let text = error(&setup.pool, "RemoteTrigger", run()).await;
    assert!(text.contains("given up after 70 attempts"), "{text}");
    assert_eq!(pauses.lock().unwrap().last(), Some(&Duration::MAX));
}

#[tokio::test]
async fn a_trigger_that_cannot_be_linked_leaves_no_job() {
    let (setup, _) = setup(Peer::with_responses(&[]).await.target());
    let fail = "CREATE TRIGGER unlinked BEFORE UPDATE OF job ON triggers
        BEGIN SELECT raise(ABORT, 'as asked'); END";
    setup.schedule.0.store.write(|connection| connection.execute_batch(fail)).await.unwrap();
    let create = json!({ "action": "create", "name": "a", "prompt": "b", "schedule": "0 9 * * *" });
    error(&setup.pool, "RemoteTrigger", create).await;
    assert_eq!(setup.list().await["jobs"], json!([]));
    let all = value(&setup.pool, "RemoteTrigger", json!({ "action": "list" })).await;
    assert_eq!(all["triggers"], json!([]));
}
