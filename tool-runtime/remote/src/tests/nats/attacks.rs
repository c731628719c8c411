//! Callers and runners that try what is not theirs.

use super::NatsServer;
use crate::names::StepKey;
use crate::tests::board::{eventually, job, started, step};
use crate::{BlobRef, Board as _, LEASE, Record, Revision, Swap};
use async_nats::{Client, ConnectOptions, HeaderMap, Subscriber};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use futures_util::StreamExt as _;
use std::time::Duration;
use tokio::time::timeout;

const KEEP: Duration = Duration::from_secs(60);

/// The text of all that attackers send.
const FORGED: &str = "forged";

/// The configuration of the stream of records, as attackers would like it.
const CONFIG: &str = r#"{"name":"TR_tools_STEPS","subjects":["tr.tools.step.>"],"max_msgs_per_subject":1,"allow_direct":true,"retention":"limits","storage":"file","num_replicas":1,"discard":"old","description":"forged"}"#;

/// A step of `pool1` in the queue `web`, and those who would notice an attack on it.
struct Victims {
    server: NatsServer,
    step: StepKey,
    record: Record,
    revision: Revision,
    ears: Vec<Subscriber>,
}

impl Victims {
    async fn start(attacker: &str) -> Self {
        let server = NatsServer::start(LEASE).await;
        let (step, record) = (step(), started());
        let runner = server.board("web").await;
        let swap = runner.swap(&step, &record, Revision::NONE, KEEP).await.unwrap();
        let Swap::Written(revision) = swap else { panic!("{swap:?}") };
        let mut ears = Vec::new();
        for name in ["keeper", "pool1", "web"].into_iter().filter(|name| *name != attacker) {
            let client = client(&server, name).await;
            ears.push(client.subscribe(">").await.unwrap());
            // The server knows of it.
            let inbox = client.new_inbox();
            let mut echo = client.subscribe(inbox.clone()).await.unwrap();
            client.publish(inbox, "".into()).await.unwrap();
            echo.next().await.unwrap();
        }
        Self { server, step, record, revision, ears }
    }

    /// Fails if one of them heard, found or lost anything.
    async fn are_unharmed(mut self, attack: &str) {
        let pool1 = self.server.board("pool1").await;
        // A stream stores in order: what was sent before is stored before.
        let (queue, last) = (&self.step.queue, step());
        pool1.submit(queue, &job(&last.step), KEEP).await.unwrap();
        pool1.swap(&last, &started(), Revision::NONE, KEEP).await.unwrap();
        let read = pool1.read(&self.step).await.unwrap().unwrap();
        assert_eq!((&read.record, read.revision), (&self.record, self.revision), "{attack}");
        let keeper = client(&self.server, "keeper").await;
        for stream in ["TR_tools_STEPS", "TR_tools_JOBS_web", "TR_tools_JOBS_files"] {
            let request = keeper.request(format!("$JS.API.STREAM.INFO.{stream}"), "".into());
            let info = String::from_utf8(request.await.unwrap().payload.to_vec()).unwrap();
            assert!(info.contains("\"config\"") && !info.contains(FORGED), "{attack}: {info}");
            if stream == "TR_tools_JOBS_web" {
                assert!(info.contains("\"messages\":1"), "{attack}: {info}");
            }
        }
        // What was sent before is heard before.
        keeper.publish("end", "".into()).await.unwrap();
        let mut ears = self.ears.drain(..);
        let mut ear = ears.next().unwrap();
        while let Some(message) = ear.next().await.filter(|message| &*message.subject != "end") {
            // The subjects of answers on their way to another account.
            let is_own = message.subject.contains("pool2") || message.subject.starts_with("_R_.");
            let is_forged = String::from_utf8_lossy(&message.payload).contains(FORGED);
            assert!(is_own || !is_forged, "{attack}: {message:?}");
        }
        for mut ear in ears {
            while let Ok(Some(message)) = timeout(Duration::from_millis(50), ear.next()).await {
                let text = String::from_utf8_lossy(&message.payload).into_owned();
                assert!(!text.contains(FORGED), "{attack}: {message:?}");
            }
        }
    }
}

async fn client(server: &NatsServer, name: &str) -> Client {
    let seed = std::fs::read_to_string(server.key(name)).unwrap();
    ConnectOptions::new().nkey(seed).connect(&server.address).await.unwrap()
}

/// The subjects that somebody may want to write to, read from or hear, as an attacker names them.
fn targets(step: &StepKey) -> Vec<String> {
    let (names, id) = ("tr.tools", &step.step);
    vec![
        format!("{names}.step.web.pool1.{id}"),
        format!("{names}.live.web.pool1.{id}"),
        format!("{names}.note.web.pool1.{id}"),
        format!("{names}.job.web.pool1"),
        format!("{names}.control.web.pool1"),
        format!("{names}.presence.web"),
        format!("{names}.roll.pool1"),
        "$JS.API.STREAM.UPDATE.TR_tools_STEPS".to_owned(),
        "$JS.tools.API.STREAM.UPDATE.TR_tools_STEPS".to_owned(),
        "$JS.API.STREAM.DELETE.TR_tools_STEPS".to_owned(),
        "$JS.tools.API.STREAM.DELETE.TR_tools_STEPS".to_owned(),
        "$JS.API.STREAM.PURGE.TR_tools_STEPS".to_owned(),
        "$JS.tools.API.STREAM.PURGE.TR_tools_STEPS".to_owned(),
        "$JS.API.STREAM.DELETE.TR_tools_JOBS_web".to_owned(),
        "$JS.ACK.TR_tools_JOBS_web.runners.1.1.1.1.0".to_owned(),
    ]
}

#[tokio::test]
async fn nobody_writes_to_a_subject_of_somebody_else() {
    for attacker in ["pool2", "files"] {
        let victims = Victims::start(attacker).await;
        let client = client(&victims.server, attacker).await;
        for target in targets(&victims.step) {
            for payload in [FORGED, CONFIG] {
                client.publish(target.clone(), payload.into()).await.unwrap();
            }
        }
        settle(&client).await;
        victims.are_unharmed(attacker).await;
    }
}

#[tokio::test]
async fn the_server_answers_to_nobody_but_those_who_ask() {
    for payload in [FORGED, CONFIG] {
        let victims = Victims::start("pool2").await;
        let client = client(&victims.server, "pool2").await;
        let own = "tr.tools.step.web.pool2.0123456789abcdef";
        client.publish(own, payload.into()).await.unwrap();
        settle(&client).await;
        for target in targets(&victims.step) {
            let read = format!("$JS.tools.API.DIRECT.GET.TR_tools_STEPS.{own}");
            client.publish_with_reply(read, target.clone(), "".into()).await.unwrap();
            client.publish_with_reply(own, target.clone(), payload.into()).await.unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Trace-Dest", target.as_str());
            client.publish_with_headers(own, headers, payload.into()).await.unwrap();
        }
        settle(&client).await;
        victims.are_unharmed(payload).await;
    }
}

#[tokio::test]
async fn a_runner_gets_no_job_of_another_queue_and_sends_its_own_to_nobody() {
    let victims = Victims::start("files").await;
    let (caller, runner) =
        (client(&victims.server, "pool2").await, client(&victims.server, "files").await);
    caller.publish("tr.tools.job.files.pool2", FORGED.into()).await.unwrap();
    settle(&caller).await;
    for target in targets(&victims.step) {
        let next = "$JS.tools.API.CONSUMER.MSG.NEXT.TR_tools_JOBS_files.runners";
        runner.publish_with_reply(next, target, "1".into()).await.unwrap();
    }
    settle(&runner).await;
    let pool1 = victims.server.board("pool1").await;
    let queue = &victims.step.queue;
    pool1.submit(queue, &job(&victims.step.step), KEEP).await.unwrap();
    for prefix in ["$JS.API", "$JS.tools.API"] {
        let next = format!("{prefix}.CONSUMER.MSG.NEXT.TR_tools_JOBS_web.runners");
        let request = async_nats::Request::new()
            .payload("{\"batch\":1,\"no_wait\":true}".into())
            .timeout(Some(Duration::from_millis(500)));
        let pulled = runner.send_request(next, request).await;
        assert!(pulled.is_err(), "{pulled:?}");
    }
    let mut claims = victims.server.board("web").await.claim(queue, 1).await.unwrap();
    let claim = claims.remove(0);
    assert_eq!((claim.job().step(), claim.is_repeated()), (&victims.step.step, false));
    claim.finish().await.unwrap();
    victims.are_unharmed("pulls").await;
}

#[tokio::test]
async fn nobody_hears_or_reads_what_is_somebody_elses() {
    let victims = Victims::start("pool2").await;
    for attacker in ["pool2", "files"] {
        let spy = client(&victims.server, attacker).await;
        let mut ear = spy.subscribe(">").await.unwrap();
        settle(&spy).await;
        let runner = victims.server.board("web").await;
        let done = started();
        let step = StepKey { step: crate::random::step(), ..victims.step.clone() };
        runner.swap(&step, &done, Revision::NONE, KEEP).await.unwrap();
        let record = format!("tr.tools.step.web.pool1.{}", victims.step.step);
        for prefix in ["$JS.API", "$JS.tools.API"] {
            let read = format!("{prefix}.DIRECT.GET.TR_tools_STEPS.{record}");
            let request = async_nats::Request::new().timeout(Some(Duration::from_millis(500)));
            let read = spy.send_request(read, request).await;
            assert!(read.is_err(), "{read:?}");
        }
        while let Ok(Some(message)) = timeout(Duration::from_millis(50), ear.next()).await {
            let text = String::from_utf8_lossy(&message.payload).into_owned();
            assert!(!text.contains("web.h1"), "{attacker}: {message:?}");
        }
    }
}

#[tokio::test]
async fn nobody_but_the_keeper_changes_streams_and_consumers() {
    for attacker in ["pool2", "web", "files"] {
        let victims = Victims::start(attacker).await;
        let client = client(&victims.server, attacker).await;
        for stream in ["TR_tools_STEPS", "TR_tools_JOBS_web", "OBJ_TR_tools_BLOBS", "OTHER"] {
            for order in ["CREATE", "UPDATE", "DELETE", "MSG.DELETE", "SNAPSHOT"] {
                for prefix in ["$JS.API", "$JS.tools.API"] {
                    let subject = format!("{prefix}.STREAM.{order}.{stream}");
                    client.publish(subject, CONFIG.into()).await.unwrap();
                    let subject = format!("{prefix}.CONSUMER.{order}.{stream}.spy");
                    client.publish(subject, CONFIG.into()).await.unwrap();
                }
            }
        }
        settle(&client).await;
        victims.are_unharmed(attacker).await;
    }
}

/// Waits until the server has handled what a client sent.
async fn settle(client: &Client) {
    let inbox = client.new_inbox();
    let mut echo = client.subscribe(inbox.clone()).await.unwrap();
    client.publish(inbox, "".into()).await.unwrap();
    echo.next().await.unwrap();
}

#[tokio::test]
async fn a_blob_of_many_small_parts_is_not_read() {
    let server = NatsServer::start(LEASE).await;
    let bytes = vec![b'x'; 2000];
    let blob = BlobRef::from_bytes(&bytes);
    let runner = client(&server, "web").await;
    let name = BASE64_URL_SAFE.encode(blob.sha256.as_str());
    for byte in &bytes {
        let chunk = vec![*byte].into();
        runner.publish("$O.TR_tools_BLOBS.C.evil", chunk).await.unwrap();
    }
    let meta = serde_json::json!({
        "name": blob.sha256, "bucket": "TR_tools_BLOBS", "nuid": "evil", "size": bytes.len(), "chunks": bytes.len(),
    });
    let subject = format!("$O.TR_tools_BLOBS.M.{name}");
    runner.publish(subject, meta.to_string().into()).await.unwrap();
    let caller = server.board("pool1").await;
    let mut error = String::new();
    // The server stores later than it takes.
    eventually(async || {
        error = caller.get(&blob).await.unwrap_err().to_string();
        !error.contains("does not exist")
    })
    .await;
    assert!(error.contains("too many parts"), "{error}");
}
