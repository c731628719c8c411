//! Results as messages of the next request.

use crate::api::Api;
use crate::response::request_name;
use serde_json::{Map, Value, json};
use tool_runtime_core::seam::normal_media;
use tool_runtime_core::tool::ToolResult;
use tool_runtime_core::vocabulary::content::ContentBlock;

/// Image types that the APIs take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const PDF: &str = "application/pdf";
/// The type of bytes whose own type is not known.
const UNKNOWN: &str = "application/octet-stream";

/// Converts results; the names are those that the model wrote.
pub(crate) fn results(api: Api, results: &[(&str, &ToolResult)]) -> Vec<Value> {
    match api {
        Api::Mcp => results.iter().map(|(_, result)| mcp(result)).collect(),
        Api::Anthropic => {
            let blocks: Vec<Value> = results.iter().map(|(_, result)| anthropic(result)).collect();
            vec![json!({ "role": "user", "content": blocks })]
        }
        Api::OpenAiChat => results.iter().map(|(_, result)| chat(result)).collect(),
        Api::OpenAiResponses => results.iter().map(|(_, result)| responses(result)).collect(),
        Api::Gemini => {
            let parts: Vec<Value> = results.iter().map(|(name, r)| gemini(name, r)).collect();
            vec![json!({ "role": "user", "parts": parts })]
        }
    }
}

/// A part of a result: text, or data of a MIME type.
enum Part {
    Text(String),
    Data { mime_type: String, data: String },
}

impl Part {
    /// The part as text: describes the data for an API that does not accept it.
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Data { mime_type, data } => {
                let bytes = data.trim_end_matches('=').len() * 3 / 4;
                format!("[{mime_type}, {bytes} bytes, which cannot be shown here]")
            }
        }
    }
}

/// The parts of a result. Links and unknown blocks are described in text.
fn parts(result: &ToolResult) -> Vec<Part> {
    let mut parts: Vec<Part> = result.observation().content().iter().map(part).collect();
    // Requests reject text without a word, and failures without text.
    parts.retain(|part| !matches!(part, Part::Text(text) if text.trim().is_empty()));
    if parts.is_empty() && result.is_error() {
        parts.push(Part::Text("the tool failed without a message".to_owned()));
    }
    parts
}

fn part(block: &ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text().to_owned()),
        ContentBlock::Image(media) | ContentBlock::Audio(media) => {
            media_part(&media.mime_type, &media.data)
        }
        ContentBlock::Resource(embedded) => {
            let resource = &embedded.resource;
            match (&resource.text, &resource.blob) {
                (Some(text), _) => Part::Text(format!("{}:\n{text}", resource.uri)),
                (None, Some(blob)) => {
                    let mime_type =
                        resource.mime_type.as_deref().unwrap_or("application/octet-stream");
                    media_part(mime_type, blob)
                }
                (None, None) => Part::Text(resource.uri.clone()),
            }
        }
        ContentBlock::ResourceLink(link) => {
            let about =
                link.description.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
            Part::Text(format!("{} <{}>{about}", link.name, link.uri))
        }
        other => Part::Text(serde_json::to_string(other).unwrap_or_default()),
    }
}

/// Data in the form that APIs take. An API rejects a whole request for one image that it cannot decode.
fn media_part(mime_type: &str, data: &str) -> Part {
    match normal_media(mime_type, data) {
        Some(media) if media.data.is_empty() => Part::Text(format!("[{mime_type}, empty]")),
        Some(media) => {
            let (own, data) = (media.mime_type.into_owned(), media.data.into_owned());
            let is_lie = own == UNKNOWN && mime_type.contains('/') && mime_type != UNKNOWN;
            match is_lie {
                true => {
                    Part::Text(format!("[data that were declared as {mime_type}, and are not]"))
                }
                false => Part::Data { mime_type: own, data },
            }
        }
        None => Part::Text(format!("[{mime_type}, whose data are not base64]")),
    }
}

/// All parts as one text.
fn text(result: &ToolResult) -> String {
    let texts: Vec<String> = parts(result).into_iter().map(Part::into_text).collect();
    texts.join("\n")
}

fn mcp(result: &ToolResult) -> Value {
    serde_json::from_str(&result.observation().to_json()).expect("a result is JSON")
}

fn anthropic(result: &ToolResult) -> Value {
    let content: Vec<Value> = parts(result)
        .into_iter()
        .map(|part| match part {
            Part::Data { mime_type, data } if IMAGES.contains(&mime_type.as_str()) => {
                json!({ "type": "image", "source": source(&mime_type, &data) })
            }
            Part::Data { mime_type, data } if mime_type == PDF => {
                json!({ "type": "document", "source": source(&mime_type, &data) })
            }
            other => json!({ "type": "text", "text": other.into_text() }),
        })
        .collect();
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(result.call_id()));
    if !content.is_empty() {
        block.insert("content".to_owned(), Value::Array(content));
    }
    if result.is_error() {
        block.insert("is_error".to_owned(), json!(true));
    }
    Value::Object(block)
}

fn source(mime_type: &str, data: &str) -> Value {
    json!({ "type": "base64", "media_type": mime_type, "data": data })
}

/// Chat Completions take only text.
fn chat(result: &ToolResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.call_id(), "content": failure_marked(result, text(result)) })
}

fn responses(result: &ToolResult) -> Value {
    let is_visible = |part: &Part| match part {
        Part::Data { mime_type, .. } => IMAGES.contains(&mime_type.as_str()) || mime_type == PDF,
        Part::Text(_) => false,
    };
    let parts = parts(result);
    let output = if parts.iter().any(is_visible) {
        parts.into_iter().map(responses_part).collect()
    } else {
        Value::String(failure_marked(result, text(result)))
    };
    json!({ "type": "function_call_output", "call_id": result.call_id(), "output": output })
}

fn responses_part(part: Part) -> Value {
    match part {
        Part::Data { mime_type, data } if IMAGES.contains(&mime_type.as_str()) => {
            json!({ "type": "input_image", "image_url": format!("data:{mime_type};base64,{data}") })
        }
        Part::Data { mime_type, data } if mime_type == PDF => json!({
            "type": "input_file",
            "filename": "result.pdf",
            "file_data": format!("data:{mime_type};base64,{data}"),
        }),
        other => json!({ "type": "input_text", "text": other.into_text() }),
    }
}

/// Marks a failure in the text, for APIs without a member for it.
fn failure_marked(result: &ToolResult, text: String) -> String {
    if result.is_error() { format!("Error: {text}") } else { text }
}

fn gemini(name: &str, result: &ToolResult) -> Value {
    let (mut texts, mut data) = (Vec::new(), Vec::new());
    for part in parts(result) {
        match part {
            Part::Data { mime_type, data: bytes }
                if IMAGES.contains(&mime_type.as_str()) || mime_type == PDF =>
            {
                data.push(json!({ "inlineData": { "mimeType": mime_type, "data": bytes } }));
            }
            other => texts.push(other.into_text()),
        }
    }
    let key = if result.is_error() { "error" } else { "output" };
    // A structured value is an object already.
    let output = match result.observation().structured() {
        Some(value) if !result.is_error() => value.clone(),
        _ => Value::String(texts.join("\n")),
    };
    let name = request_name(Api::Gemini, name);
    let mut response = json!({ "name": name, "response": { key: output } });
    if !result.call_id().is_empty() {
        response["id"] = json!(result.call_id());
    }
    if !data.is_empty() {
        response["parts"] = Value::Array(data);
    }
    json!({ "functionResponse": response })
}
