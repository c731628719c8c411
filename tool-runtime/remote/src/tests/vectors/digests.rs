//! Canonical JSON, contracts and the names of blobs.

use super::{check, load};
use crate::catalogue::{contract, contract_text};
use crate::payload::{BlobRef, Digest};
use serde_json::{Value, json};
use tool_runtime_core::seam::canonical;
use tool_runtime_core::tool::ToolDefinition;

#[test]
fn canonical_json_contracts_and_blobs_have_the_digests_of_their_vectors() {
    let file = load("vectors/digests.json");
    let each = |name: &str, with: fn(&Value) -> Value| {
        file[name].as_array().unwrap().iter().map(with).collect::<Vec<_>>()
    };
    let expected = json!({
        "canonical": each("canonical", of_text),
        "contracts": each("contracts", of_tool),
        "blobs": each("blobs", of_blob),
    });
    check("vectors/digests.json", &expected, 3);
}

fn of_text(vector: &Value) -> Value {
    let text = vector["text"].as_str().unwrap();
    let canonical = canonical(&serde_json::from_str(text).unwrap());
    json!({ "text": text, "canonical": canonical, "sha256": Digest::from_bytes(canonical.as_bytes()) })
}

fn of_tool(vector: &Value) -> Value {
    let mut tool: ToolDefinition = serde_json::from_value(vector["definition"].clone()).unwrap();
    if let Some(mode) = vector.get("retry_mode") {
        tool.retry_mode = serde_json::from_value(mode.clone()).unwrap();
    }
    if let Some(scopes) = vector.get("scopes") {
        tool.scopes = serde_json::from_value(scopes.clone()).unwrap();
    }
    let mut vector = vector.clone();
    vector["canonical"] = contract_text(&tool).into();
    vector["contract"] = contract(&tool).as_str().into();
    vector
}

fn of_blob(vector: &Value) -> Value {
    let text = vector["text"].as_str().unwrap();
    json!({ "text": text, "blob": BlobRef::from_bytes(text.as_bytes()) })
}
