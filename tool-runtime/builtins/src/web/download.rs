//! Responses within a size.

use super::client::failure;
use super::page::Body;
use flate2::read::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use std::io::Read as _;
use tokio::sync::OwnedSemaphorePermit;
use tool_runtime::{ToolContext, ToolError};

/// Characters of a content type.
const MAX_CONTENT_TYPE: usize = 200;
/// Bytes between two notifications of progress.
const PROGRESS: usize = 256 << 10;

/// Reads a response up to a number of bytes, after decompression. The rest is not downloaded. The page holds `permit`
/// until it is converted.
pub(super) async fn body(
    mut response: Response,
    limit: usize,
    permit: OwnedSemaphorePermit,
    context: &ToolContext,
) -> Result<Body, ToolError> {
    let is_gzip = has_other_gzip_name(response.headers(), response.url())?;
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
    if is_gzip {
        (bytes, is_cut) = decompress(&bytes, is_cut, limit, &url)?;
    }
    Ok(Body { url, status, content_type, bytes, is_cut, _permit: permit })
}

/// Whether a response is still compressed by gzip: the client removes `content-encoding` of what it has decompressed,
/// and knows no other name and no upper case. Names of no compression are ignored, since servers write character sets
/// there.
///
/// # Errors
/// It is compressed in another way.
fn has_other_gzip_name(headers: &HeaderMap, url: &Url) -> Result<bool, ToolError> {
    const OTHERS: [&str; 11] = [
        "br",
        "bzip2",
        "compress",
        "dcb",
        "dcz",
        "deflate",
        "lzma",
        "x-bzip2",
        "x-compress",
        "xz",
        "zstd",
    ];
    let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(','));
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    let is_gzip = |name: &String| matches!(name.as_str(), "gzip" | "x-gzip");
    let found: Vec<String> =
        names.filter(|name| is_gzip(name) || OTHERS.contains(&name.as_str())).collect();
    match found.as_slice() {
        [] => Ok(false),
        [name] if is_gzip(name) => Ok(true),
        names => Err(ToolError::user(format!(
            "`{url}` is compressed by `{}`, which was not asked for and cannot be read; use another source",
            names.join(", ")
        ))),
    }
}

/// The content of compressed bytes up to a number of bytes, and whether its end is missing.
fn decompress(
    bytes: &[u8],
    is_cut: bool,
    limit: usize,
    url: &Url,
) -> Result<(Vec<u8>, bool), ToolError> {
    let mut content = Vec::new();
    let end = MultiGzDecoder::new(bytes).take(limit as u64 + 1).read_to_end(&mut content);
    // What was not downloaded cannot be decompressed.
    if end.is_err() && !is_cut {
        return Err(ToolError::user(format!(
            "`{url}` sent a body that is not compressed as its header `content-encoding` says; use another source"
        )));
    }
    let is_long = content.len() > limit;
    content.truncate(limit);
    Ok((content, is_cut || is_long))
}
