//! Search and indexing against a linear scan of the same strings, with 5,000 tools. `cargo bench -p
//! tool-runtime-search` prints the table.

#![allow(clippy::print_stdout, missing_docs)]

use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_search::ToolIndex;

const TOOLS: &str = include_str!("../../../tests/suite/tests/suite/search/tools.json");
const EXPECTED_HITS: &str =
    include_str!("../../../tests/suite/tests/suite/search/expected_hits.json");
const SIZE: usize = 5000;
/// Rounds, of which the median counts: each runs all contenders.
const ROUNDS: usize = 15;

fn main() {
    let definitions = definitions();
    let descriptions: Vec<String> = definitions.iter().map(text).collect();
    let queries: Vec<Value> = serde_json::from_str(EXPECTED_HITS).expect("valid JSON");
    let queries: Vec<&str> = queries.iter().filter_map(|hit| hit["query"].as_str()).collect();
    let index = ToolIndex::from_definitions(&definitions);
    let mut rounds: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let count = queries.len() as u32;
        rounds[0].push(
            timed(|| queries.iter().map(|query| scan(&descriptions, query)).sum::<usize>()) / count,
        );
        rounds[1].push(
            timed(|| queries.iter().map(|query| index.search(query, 5).len()).sum::<usize>())
                / count,
        );
        rounds[2].push(timed(|| ToolIndex::from_definitions(&definitions).len()));
    }
    let [scan, query, indexing] = rounds.map(median);
    let ratio = |time: Duration| time.as_secs_f64() / scan.as_secs_f64();
    println!("| {SIZE} tools | time | ratio |\n|---|---|---|");
    for (name, time) in [("linear scan", scan), ("query", query), ("indexing", indexing)] {
        println!("| {name} | {time:.1?} | {:.2} |", ratio(time));
    }
}

/// Copies of the suite's tools, with distinct names.
fn definitions() -> Vec<ToolDefinition> {
    let tools: Vec<Value> = serde_json::from_str(TOOLS).expect("valid JSON");
    (0..SIZE).map(|at| definition(&tools[at % tools.len()], at / tools.len())).collect()
}

fn definition(tool: &Value, copy: usize) -> ToolDefinition {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = tool["arguments"].as_object().into_iter().flatten();
    let properties: serde_json::Map<String, Value> = arguments
        .map(|(name, text)| (name.clone(), json!({ "type": "string", "description": text })))
        .collect();
    let name = format!("{}_{copy}", text(&tool["name"]));
    let mut definition = ToolDefinition::new(name, text(&tool["description"]));
    definition.tags = tool["tags"].as_array().into_iter().flatten().map(text).collect();
    definition.with_input_schema(json!({ "type": "object", "properties": properties }))
}

/// All strings of a definition that the index reads, in lower case.
fn text(definition: &ToolDefinition) -> String {
    let mut text =
        format!("{} {} {}", definition.name, definition.description, definition.tags.join(" "));
    for (name, schema) in definition.input_schema["properties"].as_object().into_iter().flatten() {
        text.push_str(&format!(" {name} {}", schema["description"].as_str().unwrap_or_default()));
    }
    text.to_lowercase()
}

/// Groups of queries by the frequency of their words.
fn scan(descriptions: &[String], query: &str) -> usize {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    descriptions.iter().map(|text| words.iter().filter(|word| text.contains(**word)).count()).sum()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
