//! The contents of a resource.

use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::Serialize;
use tool_runtime::content::ResourceContents;
use tool_runtime::{ContentBlock, ToolError};

/// Characters of Base64 that are shown as an image or a sound: 3 MiB of bytes.
const MAX_BASE64: usize = 4 << 20;

/// Contents of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ResourceOutput {
    /// Name of the server.
    pub server: String,
    /// URI of the resource.
    pub uri: String,
    /// Its parts: most resources have one.
    pub parts: Vec<ResourcePart>,
    /// Number of the first character of the text, counted from 0.
    pub offset: usize,
    /// Characters of the text of all parts.
    pub total: usize,
    /// `offset` of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

/// A part of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ResourcePart {
    /// URI of the part.
    pub uri: String,
    /// MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, as far as it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Bytes of a part that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

/// The part of the contents from a character on.
pub(super) fn output(
    server: &str,
    uri: String,
    contents: Vec<ResourceContents>,
    offset: usize,
    length: usize,
) -> Result<ToolOutput<ResourceOutput>, ToolError> {
    let strings = contents.iter().filter_map(|one| one.text.as_ref());
    let total = strings.map(|text| text.chars().count()).sum();
    if offset > 0 && offset >= total {
        let text =
            format!("`offset` {offset} is after the end: the resource has {total} characters");
        return Err(ToolError::user(text));
    }
    let end = offset.saturating_add(length).min(total);
    let next_offset = (end < total).then_some(end);
    let value = ResourceOutput {
        server: server.to_owned(),
        uri,
        offset,
        total,
        next_offset,
        parts: Vec::new(),
    };
    let mut output = ToolOutput { blocks: Vec::new(), value };
    let mut window = Window { skip: offset, take: length };
    for one in contents {
        let (part, block) = window.part(one);
        output.blocks.push(block);
        output.value.parts.push(part);
    }
    if output.blocks.is_empty() {
        output.blocks.push(ContentBlock::text("[the resource is empty]"));
    }
    if offset > 0 || next_offset.is_some() {
        let rest = next_offset.map_or(String::new(), |next| format!("; the rest: `offset` {next}"));
        let notice = format!("[characters {offset} to {end} of {total}{rest}]");
        output.blocks.push(ContentBlock::text(notice));
    }
    Ok(output)
}

/// Characters that are left out and that may be shown.
struct Window {
    skip: usize,
    take: usize,
}

impl Window {
    fn part(&mut self, contents: ResourceContents) -> (ResourcePart, ContentBlock) {
        let (uri, mime_type) = (contents.uri.clone(), contents.mime_type.clone());
        if let Some(text) = &contents.text {
            let visible: String = text.chars().skip(self.skip).take(self.take).collect();
            self.skip = self.skip.saturating_sub(text.chars().count());
            self.take -= visible.chars().count();
            let block = ContentBlock::text(visible.clone());
            return (ResourcePart { uri, mime_type, text: Some(visible), bytes: None }, block);
        }
        let base64 = contents.blob.unwrap_or_default();
        let bytes = base64.trim_end_matches('=').len() * 3 / 4;
        let kind = mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
        let block = match kind.split('/').next() {
            Some("image") if base64.len() <= MAX_BASE64 => ContentBlock::image(base64, kind),
            Some("audio") if base64.len() <= MAX_BASE64 => ContentBlock::audio(base64, kind),
            _ => ContentBlock::text(format!("[{uri}: {kind}, {bytes} bytes, not shown]")),
        };
        (ResourcePart { uri, mime_type, text: None, bytes: Some(bytes) }, block)
    }
}
