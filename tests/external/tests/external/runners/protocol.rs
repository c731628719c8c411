//! What is on the wire.

use super::place::{Place, SOON, text};
use super::program::{Program, fleet, python};
use super::server::Who;
use futures_util::StreamExt as _;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime::remote::{
    BlobRef, Board as _, Digest, Job, Json, NatsKey, Payload, Record, Revision, State, StepKey,
    Topic,
};
use tool_runtime::tool::StepId;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tool-runtime/remote/docs");

const STEP: &str = "9f3b7c21d4e5f60718293a4b5c6d7e8f";

fn docs(name: &str) -> PathBuf {
    PathBuf::from(DOCS).join(name)
}

fn load(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(docs(name)).unwrap()).unwrap()
}

async fn client(place: &Place, who: Who) -> async_nats::Client {
    let key = NatsKey::read(place.server.credentials(who)).unwrap();
    let options = async_nats::ConnectOptions::with_nkey(key.seed().to_owned());
    options.connect(&place.server.address).await.unwrap()
}

/// Whoever is on the line goes on, and a job that cannot be read leaves the queue.
pub(super) async fn messages_of_other_versions_do_no_harm(place: Place) {
    let _runner = place.run(1);
    let caller = place.caller(1).await;
    let (of_caller, of_runner) =
        (client(&place, Who::Caller).await, client(&place, Who::Runner).await);
    let streams = async_nats::jetstream::new(of_caller.clone());
    for file in ["job", "control", "presence", "roll"] {
        let (client, subject) = match file {
            "job" => (&of_caller, "tr.tools.job.fleet.pool1"),
            "control" => (&of_caller, "tr.tools.control.fleet.pool1"),
            "presence" => (&of_runner, "tr.tools.presence.fleet"),
            _ => (&of_caller, "tr.tools.roll.pool1"),
        };
        for vector in load(&format!("vectors/{file}.json"))["vectors"].as_array().unwrap() {
            if file != "job" {
                client.publish(subject, vector["json"].to_string().into()).await.unwrap();
            } else if vector.get("refused").is_some() {
                let job = vector["json"].to_string().into();
                streams.publish(subject, job).await.unwrap().await.unwrap();
            }
        }
        for noise in ["", "{}", "[[[", "null", "3", "\u{0}"] {
            client.publish(subject, noise.into()).await.unwrap();
        }
    }
    let (mut call, _) = caller.running("math.add", r#"{"a":1,"b":2}"#);
    assert_eq!(text(&call.within(SOON).await), "3");
    let streams = async_nats::jetstream::new(client(&place, Who::Keeper).await);
    let empty = async {
        while streams.get_stream("TR_tools_JOBS_fleet").await.unwrap().cached_info().state.messages
            > 0
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, empty).await.expect("jobs that cannot be read leave the queue");
}

pub(super) async fn records_and_notes_fit_their_schemas(place: Place) {
    let (of_keeper, of_caller) =
        (client(&place, Who::Keeper).await, client(&place, Who::Caller).await);
    let all = "tr.tools.>";
    let mut heard = futures_util::stream::select(
        of_keeper.subscribe(all).await.unwrap(),
        of_caller.subscribe(all).await.unwrap(),
    );
    let _runner = place.run(4);
    let caller = place.caller(1).await;
    let (mut call, progress) = caller.running("files.wait", r#"{"name":"a"}"#);
    progress.first().await;
    // Longer than the time between two signs of life.
    tokio::time::sleep(Duration::from_secs(6)).await;
    caller.call("files.append", r#"{"name":"a","line":"x"}"#).await;
    assert_eq!(text(&call.within(SOON).await), "a is there");
    let long = json!({ "name": "x".repeat(300_000), "line": "" }).to_string();
    caller.call("files.append", &long).await;
    let mut kinds = BTreeSet::new();
    while let Ok(Some(message)) = timeout(Duration::from_millis(500), heard.next()).await {
        let kind = message.subject.split('.').nth(2).unwrap().to_owned();
        let name = match &*kind {
            "live" | "step" => "record",
            kind => kind,
        };
        let body: Value = serde_json::from_slice(&message.payload).unwrap();
        assert_fits(name, &body);
        if name == "presence" {
            assert_fits("catalogue", &blob(&place, &body["catalogue"]).await);
        }
        for member in ["note", "state"] {
            kinds.extend(body[member].as_str().map(str::to_owned));
        }
        kinds.extend(body.get("outcome_blob").map(|_| "outcome_blob".to_owned()));
        kinds.insert(name.to_owned());
    }
    for kind in [
        "alive",
        "control",
        "done",
        "job",
        "note",
        "outcome_blob",
        "presence",
        "progress",
        "record",
        "roll",
        "started",
    ] {
        assert!(kind == "control" || kinds.contains(kind), "`{kind}` is not in {kinds:?}");
    }
}

fn assert_fits(name: &str, body: &Value) {
    let validator: Validator =
        jsonschema::draft202012::new(&load(&format!("schemas/{name}.json"))).unwrap();
    if let Err(error) = validator.validate(body) {
        panic!("{name}: {error}\n{body}");
    }
}

async fn blob(place: &Place, name: &Value) -> Value {
    let board = place.server.board(Who::Caller).await;
    let blob: BlobRef = serde_json::from_value(name.clone()).unwrap();
    serde_json::from_slice(&board.get(&blob).await.unwrap()).unwrap()
}

/// Compares subjects, headers and the configuration of streams with the vectors. `BLESS=1` writes them.
pub(super) async fn names_headers_and_streams() {
    let place = Place::new(Program::Rust).await;
    let client = client(&place, Who::Keeper).await;
    let mut heard = client.subscribe("tr.>").await.unwrap();
    client.flush().await.unwrap();
    let board = place.server.board(Who::Keeper).await;
    let queue = "web".parse().unwrap();
    let key = StepKey::new(queue, "pool1".parse().unwrap(), StepId::new(STEP));
    let (control, presence) =
        (Topic::Control(key.queue.clone()), Topic::Presence(key.queue.clone()));
    let _runner = board.listen(&control).await.unwrap();
    let minute = Duration::from_secs(60);
    let arguments = Payload::Inline(Json::from_value(&Map::new()));
    let job = Job::new(key.step.clone(), "web.search", Digest::from_bytes(b""), arguments);
    board.submit(&key.queue, &job, minute).await.unwrap();
    let record = Record::new(1, State::Suspended);
    board.swap(&key, &record, Revision::NONE, minute).await.unwrap();
    for topic in [&Topic::Step(key.clone()), &control, &presence, &Topic::Roll] {
        board.send(topic, "{}".into()).await.unwrap();
    }
    board.put("{}".into()).await.unwrap();
    let mut messages = Vec::new();
    while let Ok(Some(message)) = timeout(Duration::from_secs(1), heard.next()).await {
        messages.push(json!({ "subject": message.subject.as_str(), "headers": headers(&message) }));
    }
    messages.sort_by_key(|message| message["subject"].to_string());
    let mut streams = Vec::new();
    for name in ["TR_tools_STEPS", "TR_tools_JOBS_web", "OBJ_TR_tools_BLOBS"] {
        streams.push(configuration(&client, &format!("STREAM.INFO.{name}")).await);
    }
    let consumer = configuration(&client, "CONSUMER.INFO.TR_tools_JOBS_web.runners").await;
    let expected = json!({
        "namespace": "tools", "queue": "web", "caller": "pool1", "step": STEP,
        "messages": messages, "streams": streams, "consumer": consumer,
    });
    let file = docs("vectors/nats.json");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, serde_json::to_string_pretty(&expected).unwrap() + "\n").unwrap();
    }
    assert_eq!(load("vectors/nats.json"), expected, "`BLESS=1` writes it anew");
}

/// The headers, without times.
fn headers(message: &async_nats::Message) -> Value {
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let header = |(name, values): (&async_nats::HeaderName, &Vec<async_nats::HeaderValue>)| {
        let name = name.to_string();
        (name != "Nats-Time-Stamp").then(|| (name, json!(values[0].as_str())))
    };
    let mut headers: Vec<(String, Value)> = headers.filter_map(header).collect();
    headers.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(headers.into_iter().collect())
}

/// What a stream or consumer was created with.
async fn configuration(client: &async_nats::Client, what: &str) -> Value {
    let answer = client.request(format!("$JS.API.{what}"), "".into()).await.unwrap();
    let mut info: Value = serde_json::from_slice(&answer.payload).unwrap();
    let config = info["config"].as_object_mut().unwrap();
    // The server writes the metadata, and a queue begins at a random number.
    config.retain(|name, _| !matches!(&**name, "metadata" | "first_seq"));
    info["config"].take()
}

/// The runner in Python decides as the vectors say, and has the contracts of them that it can have.
pub(super) async fn decisions_in_python() {
    let output = tokio::process::Command::new(python())
        .args(["-B", "-c", CHECK])
        .arg(docs("vectors"))
        .current_dir(fleet())
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
}

const CHECK: &str = r#"
import json, pathlib, sys
from protocol import contract, on_claim, on_end
folder = pathlib.Path(sys.argv[1])
decisions = json.loads((folder / "decisions.json").read_text())
for name, decide, also in [
    # Whether the runner that started a step is gone, it leaves to callers. It starts by a write.
    ("on_claim", on_claim, {"settle": "later", "start": "write"}),
    ("on_end", on_end, {}),
    ("on_look", on_end, {"go on": "write", "stop": "late"}),
]:
    for case in decisions[name]:
        for mode in ["safe_to_retry", "at_most_once"] if case["mode"] == "any" else [case["mode"]]:
            then = decide(mode, decisions["round"], decisions["records"][case["record"]])
            assert then == also.get(case["then"], case["then"]), (name, case, then)
for vector in json.loads((folder / "digests.json").read_text())["contracts"]:
    if not {"retry_mode", "scopes"} & vector.keys() and "_meta" not in vector["definition"]:
        assert contract(vector["definition"]) == vector["contract"], vector["name"]
"#;
