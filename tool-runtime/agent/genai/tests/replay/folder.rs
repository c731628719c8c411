//! genai and the exports of tool-runtime read the same calls and texts from the recordings of a folder
//! that `LLM_RECORDINGS` names, and from those next to the tests.

use crate::fake::{Answer, Fake, Recorded, Recording, pool};
use serde::Deserialize as _;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tool_runtime::export::{Api, ApiFormat as _, ResponseStream};
use tool_runtime_agent::{Agent, AgentEvent};

/// The content of an answer: its text, then names and arguments of calls.
#[derive(Debug, PartialEq)]
struct Content {
    text: String,
    calls: Vec<(String, Value)>,
}

async fn by_genai(model: &str, recorded: &Recorded) -> Content {
    let fake = Fake::start([Answer::Whole(recorded.clone())]).await;
    let is_streamed = recorded.content_type.contains("event-stream");
    let model = fake.model(model);
    let model = if is_streamed { model } else { model.whole_answers() };
    // Calls are unknown to the pool, so they keep their names.
    let mut run = Agent::new(model, pool(&[])).max_turns(1).run("Go.");
    let mut content = Content { text: String::new(), calls: Vec::new() };
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Message(text) => content.text = text,
            AgentEvent::Call(call) => {
                content.calls.push((call.name().to_owned(), parsed(call.arguments())));
            }
            _ => {}
        }
    }
    content
}

fn by_export(api: Api, recorded: &Recorded) -> Content {
    let answer = if recorded.content_type.contains("event-stream") {
        let mut stream = ResponseStream::new(api);
        for line in recorded.body.lines() {
            stream.push_line(line).expect("an event");
        }
        stream.finish().expect("a whole answer")
    } else {
        serde_json::from_str(&recorded.body).expect("JSON")
    };
    let calls = api.calls(&answer).expect("calls");
    Content {
        text: api.text(&answer).expect("a string"),
        calls: calls.iter().map(|c| (c.name().to_owned(), parsed(c.arguments()))).collect(),
    }
}

fn parsed(arguments: &str) -> Value {
    match arguments {
        "" => Value::Object(serde_json::Map::new()),
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// The API at a path, with a model of it.
fn api_at(path: &str) -> Option<(Api, &'static str)> {
    match path {
        "/v1/messages" => Some((Api::Anthropic, "claude-sonnet-4-6")),
        "/v1/chat/completions" => Some((Api::OpenAiChat, "openai::gpt-4.1-mini")),
        "/v1/responses" => Some((Api::OpenAiResponses, "openai_resp::gpt-5-mini")),
        _ if path.ends_with("enerateContent") => Some((Api::Gemini, "gemini-2.5-flash")),
        _ => None,
    }
}

fn recordings_of(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => recordings_of(&path, into),
            Some(ending) if ending == "yaml" => into.push(path),
            _ => {}
        }
    }
}

/// The answers in a file.
fn read(file: &Path) -> Vec<(String, Recorded)> {
    let text = fs::read_to_string(file).expect("a string");
    let documents = serde_norway::Deserializer::from_str(&text);
    let documents = documents.map(|one| Value::deserialize(one).expect("YAML"));
    let answers = documents.filter(|document| document["then"]["status"] == 200).map(|document| {
        let headers = document["then"]["header"].as_array().expect("headers");
        let content_type = headers.iter().find(|header| header["name"] == "content-type");
        let recorded = Recorded {
            content_type: content_type.expect("a type")["value"].as_str().expect("text").to_owned(),
            body: document["then"]["body"].as_str().expect("text").to_owned(),
        };
        (document["when"]["path"].as_str().expect("a path").to_owned(), recorded)
    });
    answers.collect()
}

#[tokio::test]
async fn both_read_the_same() {
    for recording in Recording::all() {
        let (api, _) = api_at(match recording.name.split(',').next().unwrap() {
            "anthropic" => "/v1/messages",
            "chat" => "/v1/chat/completions",
            "responses" => "/v1/responses",
            _ => ":generateContent",
        })
        .unwrap();
        for recorded in &recording.answers {
            let expected = by_export(api, recorded);
            assert_eq!(by_genai(&recording.model, recorded).await, expected, "{}", recording.name);
        }
    }
    let Some(folder) = std::env::var_os("LLM_RECORDINGS") else { return };
    let mut files = Vec::new();
    recordings_of(Path::new(&folder), &mut files);
    for file in files {
        for (path, recorded) in read(&file) {
            if let Some((api, model)) = api_at(&path) {
                let expected = by_export(api, &recorded);
                assert_eq!(by_genai(model, &recorded).await, expected, "{}", file.display());
            }
        }
    }
}
