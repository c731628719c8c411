//! Responses within a size.

use super::client::failure;
use super::page::Body;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tool_runtime::{ToolContext, ToolError};

/// Characters of a content type.
const MAX_CONTENT_TYPE: usize = 200;
/// Bytes between two notifications of progress.
const PROGRESS: usize = 256 << 10;

/// Reads a response up to a number of bytes, after decompression. The rest is not downloaded.
pub(super) async fn body(
    mut response: Response,
    limit: usize,
    context: &ToolContext,
) -> Result<Body, ToolError> {
    let header = response.headers().get(CONTENT_TYPE);
    let content_type = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.chars().take(MAX_CONTENT_TYPE).collect();
    let (url, status) = (response.url().clone(), response.status().as_u16());
    let total = response.content_length().map(|total| total as f64);
    let (mut bytes, mut is_cut, mut reported) = (Vec::new(), false, 0);
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&url, error))? {
        let room = limit - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            is_cut = true;
            break;
        }
        if bytes.len() - reported >= PROGRESS {
            reported = bytes.len();
            context.progress(reported, total, format_args!("{reported} bytes downloaded"));
        }
    }
    Ok(Body { url, status, content_type, bytes, is_cut })
}
