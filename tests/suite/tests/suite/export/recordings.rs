//! Recorded traffic of the APIs: exchanges in `recordings.json` and in the folder named by
//! `LLM_RECORDINGS`.

use super::instances::instances;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, ApiFormat as _, Exported, ResponseStream};

/// A recorded request and its answer.
struct Exchange {
    file: PathBuf,
    api: Api,
    request: Value,
    status: u64,
    answer: String,
}

fn exchanges() -> Vec<Exchange> {
    let recordings: Vec<Value> =
        serde_json::from_str(include_str!("../../../recordings.json")).expect("JSON");
    let recordings = recordings.iter().filter_map(|one| {
        let (request, answer) = (one["request"].to_string(), one["answer"].to_string());
        exchange(
            Path::new("recordings.json"),
            one["path"].as_str()?,
            &request,
            one["status"].as_u64()?,
            &answer,
        )
    });
    let mut files = Vec::new();
    if let Some(folder) = std::env::var_os("LLM_RECORDINGS") {
        collect(Path::new(&folder), &mut files);
        files.sort();
    }
    recordings.chain(files.iter().flat_map(|file| read(file))).collect()
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => collect(&path, into),
            Some(ending) if ending == "yaml" => into.push(path),
            _ => {}
        }
    }
}

fn read(file: &Path) -> Vec<Exchange> {
    use serde::Deserialize as _;
    let text = fs::read_to_string(file).expect("a string");
    let documents = serde_norway::Deserializer::from_str(&text);
    let documents = documents.map(|one| Value::deserialize(one).expect("YAML"));
    let exchanges = documents.filter_map(|document| {
        let (when, then) = (&document["when"], &document["then"]);
        let (path, request, answer) = (&when["path"], &when["body"], &then["body"]);
        exchange(
            file,
            path.as_str()?,
            request.as_str()?,
            then["status"].as_u64()?,
            answer.as_str()?,
        )
    });
    exchanges.collect()
}

/// `None` for requests of other kinds.
fn exchange(file: &Path, path: &str, request: &str, status: u64, answer: &str) -> Option<Exchange> {
    let api = match path {
        _ if path.ends_with("/messages") => Api::Anthropic,
        _ if path.ends_with("/chat/completions") => Api::OpenAiChat,
        _ if path.ends_with("/responses") => Api::OpenAiResponses,
        _ if path.contains("enerateContent") => Api::Gemini,
        _ => return None,
    };
    let request = serde_json::from_str(request).ok()?;
    Some(Exchange { file: file.to_owned(), api, request, status, answer: answer.to_owned() })
}

/// Name, schema and strict mode of the tools of a request.
fn tools(exchange: &Exchange) -> Vec<(String, Map<String, Value>, bool)> {
    let mut found = Vec::new();
    for tool in exchange.request["tools"].as_array().into_iter().flatten() {
        let declared = tool["functionDeclarations"].as_array().cloned();
        for tool in declared.unwrap_or_else(|| vec![tool.clone()]) {
            let function = if tool["function"].is_object() { &tool["function"] } else { &tool };
            let keys = ["input_schema", "parameters", "parametersJsonSchema"];
            let schema = keys.iter().find_map(|key| function[*key].as_object());
            if let (Some(name), Some(schema)) = (function["name"].as_str(), schema) {
                found.push((name.to_owned(), schema.clone(), function["strict"] == true));
            }
        }
    }
    found
}

fn exported(api: Api, is_strict: bool, tools: &[(String, Map<String, Value>, bool)]) -> Exported {
    let definitions: Vec<ToolDefinition> = tools
        .iter()
        .map(|(name, schema, _)| {
            let mut definition = ToolDefinition::new(name, "A recorded tool.");
            definition.input_schema = schema.clone();
            definition
        })
        .collect();
    let definitions: Vec<&ToolDefinition> = definitions.iter().collect();
    if is_strict { api.strict().definitions(&definitions) } else { api.definitions(&definitions) }
}

/// The schema of a definition.
fn schema_of(definition: &Value) -> &Value {
    let function =
        if definition["function"].is_object() { &definition["function"] } else { definition };
    ["input_schema", "parameters", "parametersJsonSchema"]
        .iter()
        .find_map(|key| function.get(*key))
        .expect("a schema")
}

#[test]
fn accepted_schemas_keep_their_meaning_after_export() {
    let (mut seen, mut compared) = (BTreeSet::new(), 0);
    for exchange in exchanges().iter().filter(|exchange| exchange.status == 200) {
        for tool in tools(exchange) {
            let (name, schema, is_strict) = &tool;
            if !seen.insert(format!("{}{is_strict}{}", exchange.api, Value::Object(schema.clone())))
            {
                continue;
            }
            let export = exported(exchange.api, *is_strict, std::slice::from_ref(&tool));
            assert!(export.left_out.is_empty(), "{:?}: {:?}", exchange.file, export.left_out);
            let report = &export.reports[0];
            assert_eq!(
                report.is_strict,
                *is_strict && exchange.api != Api::Gemini,
                "{:?}: {report:?}",
                exchange.file
            );
            let definition = match exchange.api {
                Api::Gemini => &export.tools[0]["functionDeclarations"][0],
                _ => &export.tools[0],
            };
            let before =
                jsonschema::validator_for(&Value::Object(schema.clone())).expect("a schema");
            let after = jsonschema::validator_for(schema_of(definition)).expect("a schema");
            for instance in instances(schema, 200) {
                let are_valid = (before.is_valid(&instance), after.is_valid(&instance));
                assert_eq!(
                    are_valid.0, are_valid.1,
                    "{:?} {name}: {instance}\n{schema:?}\n{definition}",
                    exchange.file
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 200 * seen.len());
}

#[test]
fn rejected_requests_are_exported_differently() {
    for exchange in exchanges().iter().filter(|exchange| exchange.status == 400) {
        let tools = tools(exchange);
        let tool_count = exchange.request["tools"].as_array().map_or(0, Vec::len);
        // A schema that is not an object cannot be a tool's.
        if tools.len() < tool_count {
            continue;
        }
        let export = exported(exchange.api, true, &tools);
        let is_sent_unchanged =
            export.left_out.is_empty() && export.reports.iter().all(|tool| tool.is_strict);
        assert!(!is_sent_unchanged, "{:?}: {}", exchange.file, exchange.answer);
    }
}

#[test]
fn calls_are_read_from_complete_and_streamed_responses() {
    let mut calls_read = 0;
    for exchange in exchanges().iter().filter(|exchange| exchange.status == 200) {
        let answer = match serde_json::from_str(&exchange.answer) {
            Ok(answer) => answer,
            Err(_) => {
                let mut stream = ResponseStream::new(exchange.api);
                for line in exchange.answer.lines() {
                    stream
                        .push_line(line)
                        .unwrap_or_else(|error| panic!("{:?}: {error}", exchange.file));
                }
                stream.finish().unwrap_or_else(|error| panic!("{:?}: {error}", exchange.file))
            }
        };
        let names: Vec<String> = tools(exchange).into_iter().map(|(name, ..)| name).collect();
        let calls = exchange
            .api
            .calls(&answer)
            .unwrap_or_else(|error| panic!("{:?}: {error}", exchange.file));
        assert!(exchange.api.answer(&answer).is_ok());
        for call in calls {
            calls_read += 1;
            assert!(names.iter().any(|name| name == call.name()), "{:?}: {call:?}", exchange.file);
            let arguments: Value = serde_json::from_str(call.arguments()).expect("JSON");
            assert!(arguments.is_object(), "{:?}: {arguments}", exchange.file);
            assert!(exchange.api == Api::Gemini || !call.call_id().is_empty());
        }
    }
    assert!(calls_read >= 6);
}
