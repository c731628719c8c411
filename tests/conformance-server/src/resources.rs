//! Resources of text, of bytes, and of a template.

use crate::samples::PNG;
use serde::Serialize;
use tool_runtime::content::ResourceContents;
use tool_runtime::prelude::*;

/// Text that never changes.
#[resource("test://static-text", mime_type = "text/plain")]
fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture that never changes.
#[resource("test://static-binary", mime_type = "image/png")]
fn static_binary() -> ResourceContents {
    ResourceContents::blob("test://static-binary", PNG).with_mime_type("image/png")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    template_test: bool,
    data: String,
}

/// A record by its id.
#[resource("test://template/{id}/data", mime_type = "application/json")]
fn template_data(
    /// The record's id.
    id: String,
) -> Json<Record> {
    let data = format!("Data for ID: {id}");
    Json(Record { id, template_test: true, data })
}

/// Text that clients may watch.
#[resource("test://watched-resource", mime_type = "text/plain")]
fn watched_resource() -> &'static str {
    "Watch this."
}
