//! A server that answers with recordings, and records its requests.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Response, header};
use futures_util::{StreamExt as _, stream};
use genai::ServiceTarget;
use genai::resolver::{AuthData, Endpoint};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tool_runtime::prelude::*;
use tool_runtime_genai::{GenaiModel, genai};

/// A recorded conversation: a turn with calls, and a last one.
#[derive(Deserialize)]
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) model: String,
    pub(crate) tools: Vec<String>,
    pub(crate) answers: Vec<Recorded>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) content_type: String,
    pub(crate) body: String,
}

impl Recording {
    pub(crate) fn all() -> Vec<Self> {
        serde_json::from_str(include_str!("recordings.json")).expect("recordings")
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::all().into_iter().find(|recording| recording.name == name).expect("a recording")
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.answers[0].content_type.contains("event-stream")
    }

    pub(crate) fn answers(&self) -> Vec<Answer> {
        self.answers.iter().cloned().map(Answer::Whole).collect()
    }
}

/// An answer of the server.
pub(crate) enum Answer {
    Whole(Recorded),
    Error(u16, &'static str),
    /// The first bytes of a recording; then the connection breaks, or the body just ends.
    Cut {
        recorded: Recorded,
        length: usize,
        is_broken: bool,
    },
    /// The first bytes of a recording, and nothing more. Notifies when the client hangs up.
    Stalled {
        recorded: Recorded,
        length: usize,
        hung_up: Arc<Notify>,
    },
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) body: Value,
}

pub(crate) struct Fake {
    address: String,
    shared: Arc<Inner>,
}

struct Inner {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<ReceivedRequest>>,
}

impl Fake {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect());
        let shared = Arc::new(Inner { answers, requests: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// A model whose API is this server.
    pub(crate) fn model(&self, name: &str) -> GenaiModel {
        let url = format!("http://{}/v1/", self.address);
        let target = move |mut target: ServiceTarget| {
            target.endpoint = Endpoint::from_owned(url.clone());
            target.auth = AuthData::from_single("test-key");
            Ok(target)
        };
        let client = GenaiModel::client_builder()
            .and_then(|builder| {
                let client = builder.with_service_target_resolver_fn(target).build();
                client.map_err(tool_runtime_agent::ModelError::new)
            })
            .expect("a client");
        GenaiModel::with_client(client, name).expect("a model")
    }

    /// The model of a recording, streamed if its answers are.
    pub(crate) fn model_of(&self, recording: &Recording) -> GenaiModel {
        let model = self.model(&recording.model);
        if recording.is_streamed() { model } else { model.whole_answers() }
    }
}

/// Tools that take anything and repeat it.
pub(crate) fn pool(names: &[String]) -> ToolPool {
    let tool = |name: &String| {
        let description = format!("Answer with the arguments, for `{name}`.");
        Tool::builder(name, description)
            .read_only(true)
            .input_schema(serde_json::json!({ "type": "object", "properties": {} }))
            .handler(|arguments: Map<String, Value>| async move {
                format!("got {}", Value::Object(arguments))
            })
    };
    let builder =
        names.iter().map(tool).fold(ToolPool::builder(), tool_runtime::ToolPoolBuilder::add);
    builder.allow_empty().build().expect("a pool")
}

async fn answer(State(shared): State<Arc<Inner>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let names = ["x-api-key", "x-goog-api-key", "authorization"];
    let key = names.iter().find_map(|name| head.headers.get(*name)?.to_str().ok());
    shared.requests.lock().unwrap().push(ReceivedRequest {
        path: head.uri.path().to_owned(),
        key: key.unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&body).expect("JSON"),
    });
    let answer = shared.answers.lock().unwrap().pop_front();
    match answer {
        None => response(500, "text/plain", "the recording has no more answers".into()),
        Some(Answer::Whole(recorded)) => {
            response(200, &recorded.content_type, recorded.body.into())
        }
        Some(Answer::Error(status, body)) => response(status, "application/json", body.into()),
        Some(Answer::Cut { recorded, length, is_broken }) => {
            let end = is_broken.then(|| Err(io::Error::other("cut")));
            let parts = stream::iter([Ok(first(&recorded, length))]).chain(stream::iter(end));
            response(200, &recorded.content_type, Body::from_stream(parts))
        }
        Some(Answer::Stalled { recorded, length, hung_up }) => {
            let guard = NotifyOnDrop(hung_up);
            let silence = stream::pending().inspect(move |_: &io::Result<Bytes>| {
                let _ = &guard;
            });
            let parts = stream::iter([Ok(first(&recorded, length))]).chain(silence);
            response(200, &recorded.content_type, Body::from_stream(parts))
        }
    }
}

fn first(recorded: &Recorded, length: usize) -> Bytes {
    Bytes::copy_from_slice(&recorded.body.as_bytes()[..length])
}

fn response(status: u16, content_type: &str, body: Body) -> Response<Body> {
    let builder = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    builder.body(body).expect("a response")
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
