//! Estimated token counts.

use super::generate::schemas;
use serde_json::Value;
use std::fs;
use std::path::Path;
use suite::peers::{Program, peer};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, ApiFormat as _, estimate_tokens};

/// Compares the estimate with OpenAI's encoding.
#[test]
fn the_estimated_size_of_a_definition_is_close() {
    let words = "Search the notes for a text and return the best matches, newest first. Use it before write_note.";
    let texts: Vec<String> = schemas(100)
        .into_iter()
        .enumerate()
        .flat_map(|(index, schema)| {
            let mut definition =
                ToolDefinition::new(format!("notes.search_{index}"), &words[..40 + index % 50]);
            definition.input_schema = schema;
            [Api::Anthropic, Api::OpenAiResponses]
                .map(|api| api.definitions(&[&definition]).tools[0].to_string())
        })
        .chain([words.to_owned(), "x".repeat(50)])
        .collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("texts.json");
    fs::write(&file, Value::from(texts.clone()).to_string()).unwrap();
    let ended = peer(Program::Node("tokens.mjs"), &[file.to_str().unwrap()]);
    assert!(ended.is_success(), "{}", ended.described());
    let sizes: Vec<f64> = serde_json::from_str(super::printed(&ended)).unwrap();
    let errors = texts
        .iter()
        .zip(&sizes)
        .map(|(text, size)| (estimate_tokens(text) as f64 - size).abs() / size);
    let mean = errors.sum::<f64>() / sizes.len() as f64;
    assert!(mean < 0.15, "{mean}");
}
