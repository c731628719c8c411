//! Tools that return each kind of content.

use crate::samples::{PNG, WAV};
use tool_runtime::content::ResourceContents;
use tool_runtime::prelude::*;

/// Answer with text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answer with a picture.
#[tool(read_only)]
fn test_image_content() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

/// Answer with a sound.
#[tool(read_only)]
fn test_audio_content() -> ContentBlock {
    ContentBlock::audio(WAV, "audio/wav")
}

/// Answer with a resource.
#[tool(read_only)]
fn test_embedded_resource() -> ContentBlock {
    let text = "This is an embedded resource content.";
    ResourceContents::text("test://embedded-resource", text).with_mime_type("text/plain").into()
}

/// Answer with several kinds of content.
#[tool(read_only)]
fn test_multiple_content_types() -> Vec<ContentBlock> {
    let json = r#"{"test":"data","value":123}"#;
    let resource = ResourceContents::text("test://mixed-content-resource", json);
    vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        resource.with_mime_type("application/json").into(),
    ]
}

/// Fail.
#[tool(read_only)]
fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}
