//! A complete MCP server: tools that store notes, resources to read them, a prompt to rewrite one.

use std::collections::BTreeMap;
use std::sync::Mutex;
use tool_runtime::prelude::*;

/// Notes by their ids.
type Notes = Mutex<BTreeMap<String, String>>;

/// Store a note under an id, replacing an earlier one.
#[tool(idempotent, open_world = false)]
async fn remember(
    /// The note's id.
    #[arg(length = 1..=64, pattern = "^[a-z0-9-]+$")]
    id: String,
    /// The text to remember.
    #[arg(length = 1..=10_000)]
    text: String,
    notes: &Notes,
    context: &ToolContext,
) -> String {
    let uri = format!("notes://{id}");
    notes.lock().unwrap().insert(id, text);
    context.resource_updated(&uri);
    context.resource_updated("notes://");
    format!("kept as {uri}")
}

/// Forget a note.
#[tool(destructive, open_world = false)]
async fn forget(
    /// The note's id.
    id: String,
    notes: &Notes,
    context: &ToolContext,
) -> Result<(), ToolError> {
    if notes.lock().unwrap().remove(&id).is_none() {
        return Err(ToolError::user(format!("there is no note `{id}`; read `notes://` for all")));
    }
    context.resource_updated(format!("notes://{id}"));
    context.resource_updated("notes://");
    Ok(())
}

/// The ids of all notes.
#[resource("notes://", mime_type = "application/json")]
async fn index(notes: &Notes) -> Json<Vec<String>> {
    Json(notes.lock().unwrap().keys().cloned().collect())
}

/// One note.
#[resource("notes://{id}", mime_type = "text/plain")]
async fn note(
    /// The note's id.
    #[arg(complete = ids)]
    id: String,
    notes: &Notes,
) -> Option<String> {
    notes.lock().unwrap().get(&id).cloned()
}

/// The ids that begin with the typed text.
fn ids(prefix: String, context: &ToolContext) -> Vec<String> {
    let Some(notes) = context.get::<Notes>() else { return Vec::new() };
    notes.lock().unwrap().keys().filter(|id| id.starts_with(&prefix)).cloned().collect()
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Formal,
    Friendly,
    Short,
}

/// Rewrite a note in another style.
#[prompt]
async fn rewrite(
    /// The note's id.
    #[arg(complete = ids)]
    id: String,
    /// The style to write in.
    style: Style,
    notes: &Notes,
) -> Result<Vec<PromptMessage>, ToolError> {
    let text = notes.lock().unwrap().get(&id).cloned();
    let text = text.ok_or_else(|| ToolError::user(format!("there is no note `{id}`")))?;
    let style = format!("{style:?}").to_lowercase();
    Ok(vec![
        PromptMessage::user(format!("Rewrite this note in a {style} style.")),
        PromptMessage::new(Role::User, ContentBlock::resource(format!("notes://{id}"), text)),
    ])
}

tool_runtime::main!(
    state = Notes::new(BTreeMap::from([(
        "welcome".to_owned(),
        "Tools change notes, resources show them, a prompt works on one.".to_owned()
    )]))
);

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_runtime::testing::TestClient;

    #[tokio::test]
    async fn a_note_is_stored_and_read() {
        let pool = super::pool().await.unwrap();
        let client = TestClient::stateless(&pool).await;
        let note = json!({ "id": "errand", "text": "Buy milk." });
        let result = client.call("remember", note).await.unwrap();
        assert_eq!(result.to_text(), "kept as notes://errand");
        let read = client.request("resources/read", json!({ "uri": "notes://errand" })).await;
        assert_eq!(read.unwrap()["contents"][0]["text"], "Buy milk.");
    }
}
