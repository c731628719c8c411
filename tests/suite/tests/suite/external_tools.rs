//! Typed calls of external tools.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tool_runtime::ErrorClass;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::mcp::McpManager;
use tool_runtime::prelude::*;

/// The tools of five third-party servers, as written by the command `schema`.
mod real {
    tool_runtime::external_tools!("tests/suite/external_tools/real.json");
}

mod pinned {
    tool_runtime::external_tools!("tests/suite/external_tools/pinned.json");
}

/// The definitions of a file, without the server's name.
fn definitions(text: &str, server: &str) -> Value {
    let file: Value = serde_json::from_str(text).unwrap();
    let tools = file.get("tools").unwrap_or(&file).as_array().unwrap().clone();
    let server_tools = tools.into_iter().filter_map(|mut tool| {
        let name = tool["name"].as_str()?.strip_prefix(server)?.strip_prefix('.')?.to_owned();
        tool["name"] = name.into();
        Some(tool)
    });
    server_tools.collect()
}

fn real(server: &str) -> Value {
    definitions(include_str!("external_tools/real.json"), server)
}

fn weather() -> Value {
    definitions(include_str!("external_tools/pinned.json"), "pinned-weather")
}

/// Answers each call with its arguments as text, and with a result if there is one.
async fn serve(stream: DuplexStream, tools: Value, result: Arc<Mutex<Value>>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let params = &message["params"];
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "remote", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": tools }),
            Some("tools/call") => {
                let text = params["arguments"].to_string();
                let mut answer = json!({ "content": [{ "type": "text", "text": text }] });
                if let Value::Object(more) = &*result.lock().unwrap() {
                    answer.as_object_mut().unwrap().extend(more.clone());
                }
                answer
            }
            _ if message["id"].is_null() => continue,
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
                continue;
            }
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    }
}

struct Fixture {
    pool: ToolPool,
    manager: McpManager,
    /// Members added to the results of calls.
    result: Arc<Mutex<Value>>,
}

impl Fixture {
    async fn new(server: &str, tools: Value) -> Self {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        Self::start(pool, server, tools).await
    }

    async fn start(pool: ToolPool, server: &str, tools: Value) -> Self {
        let result = Arc::new(Mutex::new(Value::Null));
        let shared = Arc::clone(&result);
        let open = move || {
            let (tools, result) = (tools.clone(), Arc::clone(&shared));
            async move {
                let (ours, theirs) = tokio::io::duplex(1 << 16);
                tokio::spawn(serve(theirs, tools, result));
                let (reader, writer) = tokio::io::split(ours);
                Ok((Box::new(reader) as _, Box::new(writer) as _))
            }
        };
        let manager = McpManager::builder().custom(server, open).connect(&pool).await.unwrap();
        Self { pool, manager, result }
    }

    fn answer(&self, result: Value) {
        *self.result.lock().unwrap() = result;
    }

    fn problems(&self) -> Vec<String> {
        self.manager.status().into_iter().flat_map(|status| status.problems).collect()
    }
}

fn arguments(observation: &Observation) -> Value {
    serde_json::from_str(&observation.to_text()).unwrap()
}

#[tokio::test]
async fn calls_of_real_definitions_reach_the_server_as_they_were_written() {
    let fixture = Fixture::new("real-git", real("real-git")).await;
    assert_eq!(fixture.problems(), [""; 0]);
    let log = real::GitLogAction { max_count: Some(3), ..real::GitLogAction::new("/srv") };
    let sent = arguments(&log.call(&fixture.pool).await.unwrap());
    assert_eq!(sent, json!({ "repo_path": "/srv", "max_count": 3 }));
    let add = real::GitAddAction::new("/srv", vec!["a.txt".to_owned()]);
    let sent = arguments(&add.call(&fixture.pool).await.unwrap());
    assert_eq!(sent, json!({ "repo_path": "/srv", "files": ["a.txt"] }));
}

#[tokio::test]
async fn nested_values_enums_and_structured_results_are_typed() {
    let fixture = Fixture::new("real-memory", real("real-memory")).await;
    let entity = real::CreateEntitiesEntities {
        name: "Ada".to_owned(),
        entity_type: "person".to_owned(),
        observations: vec!["counts".to_owned()],
    };
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["counts"] });
    fixture.answer(json!({ "structuredContent": { "entities": [ada] } }));
    let created = real::CreateEntitiesAction::new(vec![entity]).call(&fixture.pool).await.unwrap();
    assert_eq!(created.entities[0].entity_type, "person");

    let fixture = Fixture::new("real-everything", real("real-everything")).await;
    fixture.answer(json!({ "structuredContent": {
        "temperature": 21.5, "conditions": "clear", "humidity": 40,
    } }));
    let city = real::GetStructuredContentLocation::NewYork;
    let weather = real::GetStructuredContentAction::new(city).call(&fixture.pool).await.unwrap();
    assert_eq!((weather.temperature, &*weather.conditions), (21.5, "clear"));
}

#[tokio::test]
async fn a_tool_without_optional_arguments_can_be_written_in_full() {
    let fixture = Fixture::new("pinned-weather", weather()).await;
    let stopped = pinned::StopAction {}.call(&fixture.pool).await.unwrap();
    assert_eq!(arguments(&stopped), json!({}));
    assert_eq!(pinned::StopAction::NAME, "pinned-weather.stop");
    assert_eq!(pinned::StopAction::default(), pinned::StopAction::new());
}

#[tokio::test]
async fn failures_of_every_kind_are_errors() {
    let fixture = Fixture::new("pinned-weather", weather()).await;
    let oslo = || pinned::ForecastAction::new("Oslo");
    // The schema of the live server is checked, constraints included.
    let error = pinned::ForecastAction { days: Some(0), ..oslo() }.call(&fixture.pool).await;
    let error = error.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Input);
    assert_eq!(error.issues()[0].message(), "`days` must be at least 1, got 0");

    fixture.answer(json!({ "isError": true, "content": [{ "type": "text", "text": "no sky" }] }));
    let error = oslo().call(&fixture.pool).await.unwrap_err();
    assert_eq!((error.class(), error.message()), (ErrorClass::Tool, "no sky"));

    fixture.answer(json!({ "structuredContent": { "text": 5 } }));
    let error = oslo().call(&fixture.pool).await.unwrap_err();
    assert!(error.message().contains("is not of the expected type"), "{error}");

    fixture.answer(Value::Null);
    let error = oslo().call(&fixture.pool).await.unwrap_err();
    assert!(error.message().contains("is not of the expected type"), "{error}");

    let empty = ToolPool::builder().allow_empty().build().unwrap();
    let error = oslo().call(&empty).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
}

#[tokio::test]
async fn hooks_see_a_typed_call() {
    let hook = Hook::before("pinned-weather.*", |call: HookCall| {
        let denied = call.arguments().contains("Oslo");
        async move { if denied { Before::deny("not there") } else { Before::proceed() } }
    });
    let pool = ToolPool::builder().allow_empty().hook(hook).build().unwrap();
    let fixture = Fixture::start(pool, "pinned-weather", weather()).await;
    let error = pinned::ForecastAction::new("Oslo").call(&fixture.pool).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    fixture.answer(json!({ "structuredContent": { "text": "sunny", "rain": null } }));
    let metric = pinned::ForecastAction {
        unit: Some(pinned::ForecastUnit::Metric),
        ..pinned::ForecastAction::new("Rome")
    };
    let context = fixture.pool.context();
    let forecast = metric.call_with(&fixture.pool, &context).await.unwrap();
    assert_eq!(forecast, pinned::ForecastOutput { text: "sunny".to_owned(), rain: None });
}

#[tokio::test]
async fn a_server_that_changed_is_reported_with_the_difference() {
    let mut tools = weather();
    let forecast = &mut tools[0];
    forecast["description"] = "Tell the weather, politely.".into();
    forecast["inputSchema"]["properties"]["city"]["description"] = "A city.".into();
    forecast["inputSchema"]["properties"]["days"]["minimum"] = 2.into();
    forecast["inputSchema"]["properties"]["region"] = json!({ "type": "string" });
    forecast["inputSchema"]["required"] = json!(["region", "city"]);
    forecast["inputSchema"]["properties"].as_object_mut().unwrap().shift_remove("unit");
    forecast["outputSchema"]["properties"]["text"] = json!({ "type": "integer" });
    tools.as_array_mut().unwrap().pop();
    let fixture = Fixture::new("pinned-weather", tools).await;
    let file = "tests/suite/external_tools/pinned.json";
    let mut problems = fixture.problems();
    problems.sort();
    assert_eq!(
        problems,
        [
            format!(
                "`pinned-weather.forecast` is not as in `{file}`: argument `days` has another schema, argument `region` is new and required, argument `unit` is gone, its output schema is another; write the file again"
            ),
            format!(
                "`pinned-weather.stop` is not as in `{file}`: the pool has no such tool; write the file again"
            ),
        ]
    );
    let error = pinned::ForecastAction::new("Oslo").call(&fixture.pool).await.unwrap_err();
    assert!(error.message().contains("missing required argument `region`"), "{error}");
}

#[tokio::test]
async fn an_unchanged_server_is_not_reported() {
    let mut tools = weather();
    tools[0]["inputSchema"]["properties"]["city"]["description"] = "A city.".into();
    assert_eq!(Fixture::new("pinned-weather", tools).await.problems(), [""; 0]);
    for server in ["real-files", "real-time"] {
        assert_eq!(Fixture::new(server, real(server)).await.problems(), [""; 0]);
    }
}
