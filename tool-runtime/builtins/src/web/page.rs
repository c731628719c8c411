//! The result of `WebFetch`.

use super::charset::{decode, is_utf8};
use super::html::{self, Converted};
use crate::image_block;
use crate::tool_output::ToolOutput;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::OwnedSemaphorePermit;
use tool_runtime::__seam::{escaped_name, escaped_text};
use tool_runtime::{ContentBlock, ToolError};

/// The form in which a page is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageFormat {
    /// The main part of an HTML page as Markdown, with absolute links.
    #[default]
    Markdown,
    /// All text of an HTML page, without links.
    Text,
    /// The source of the page.
    Raw,
}

/// A page, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FetchOutput {
    /// Address of the page, after redirects.
    pub url: String,
    /// Status of the response.
    pub status: u16,
    /// Content type that the server states.
    pub content_type: String,
    /// Title of an HTML page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text. Empty for an image.
    pub text: String,
    /// Number of the first character of the text, counted from 0.
    pub offset: usize,
    /// Characters of the whole text.
    pub total: usize,
    /// Whether something is left out.
    pub truncated: bool,
    /// `offset` of the next part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Target of a redirect to another host, which was not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// A download.
pub(super) struct Body {
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
    /// Whether the page has more bytes.
    pub(super) is_cut: bool,
    pub(super) _permit: OwnedSemaphorePermit,
}

/// The part of a string that is wanted, in characters.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) offset: usize,
    pub(super) length: usize,
}

enum Kind {
    Html,
    Text,
    Image(&'static str),
    Other,
}

impl Body {
    /// The kind by the header; by the bytes if the header says nothing.
    fn kind(&self) -> Kind {
        let stated = self.content_type.split(';').next().unwrap_or_default().trim();
        let stated = stated.to_ascii_lowercase();
        match stated.as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            kind if is_text(kind) => Kind::Text,
            "" | "application/octet-stream" | "binary/octet-stream" => self.sniff(),
            kind => image_block::supported(kind).map_or(Kind::Other, Kind::Image),
        }
    }

    fn sniff(&self) -> Kind {
        let head = self.bytes.trim_ascii_start();
        let head = head[..head.len().min(16)].to_ascii_lowercase();
        if head.starts_with(b"<!doctype html") || head.starts_with(b"<html") {
            Kind::Html
        } else if is_utf8(&self.bytes) && !self.bytes.contains(&0) {
            Kind::Text
        } else {
            Kind::Other
        }
    }

    /// The result of a call.
    pub(super) async fn output(
        self,
        format: PageFormat,
        part: Part,
    ) -> Result<ToolOutput<FetchOutput>, ToolError> {
        match self.kind() {
            Kind::Other => Err(self.unsupported()),
            Kind::Image(kind) => self.image(kind),
            _ => self.convert(format).await?.output(part),
        }
    }

    /// The text of the page, for messages.
    pub(super) async fn excerpt(self, length: usize) -> String {
        if matches!(self.kind(), Kind::Image(_) | Kind::Other) {
            return String::new();
        }
        let text = self.convert(PageFormat::Text).await.map(|page| page.converted.text);
        text.unwrap_or_default().chars().take(length).collect()
    }

    async fn convert(self, format: PageFormat) -> Result<TextPage, ToolError> {
        let stop = Stop::default();
        let flag = Arc::clone(&stop.0);
        let work = move || {
            let source = decode(&self.bytes, &self.content_type);
            let converted = match (self.kind(), format) {
                (Kind::Html, PageFormat::Markdown) => html::markdown(&source, &self.url, &flag),
                (Kind::Html, PageFormat::Text) => html::text(&source, &self.url, &flag),
                _ => Converted { text: source, ..Converted::default() },
            };
            let converted = Converted {
                title: converted.title.map(|title| escaped_name(&title).into_owned()),
                text: escaped_text(&converted.text).into_owned(),
                ..converted
            };
            TextPage { body: Self { bytes: Vec::new(), ..self }, converted }
        };
        tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)
    }

    fn image(self, kind: &'static str) -> Result<ToolOutput<FetchOutput>, ToolError> {
        let url = &self.url;
        if self.is_cut {
            return Err(ToolError::user(format!(
                "the image `{url}` has more than {} bytes; use a smaller one",
                self.bytes.len()
            )));
        }
        let image = image_block::block(&self.bytes, kind)
            .map_err(|error| ToolError::user(format!("`{url}` cannot be shown: {error}")))?;
        let value = FetchOutput { truncated: image.is_smaller, ..self.metadata() };
        let mut output = ToolOutput::new(image.notice, value);
        output.blocks.push(image.block);
        Ok(output)
    }

    fn unsupported(&self) -> ToolError {
        let (url, kind) = (&self.url, &self.content_type);
        let kind = if kind.is_empty() { "of an unknown type" } else { kind };
        ToolError::user(format!(
            "`{url}` is {kind}, neither text nor an image that can be shown; download it by a command that reads this format, or use another source"
        ))
    }

    /// The output without text.
    fn metadata(&self) -> FetchOutput {
        FetchOutput {
            url: self.url.to_string(),
            status: self.status,
            content_type: self.content_type.clone(),
            ..FetchOutput::default()
        }
    }
}

/// Set when a call ends, so that a conversion in another thread ends, too.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct TextPage {
    body: Body,
    converted: Converted,
}

impl TextPage {
    fn output(self, part: Part) -> Result<ToolOutput<FetchOutput>, ToolError> {
        let Converted { title, text: whole, notice } = self.converted;
        let total = whole.chars().count();
        if part.offset > 0 && part.offset >= total {
            return Err(ToolError::user(format!(
                "`offset` {} is after the end: the page has {total} characters",
                part.offset
            )));
        }
        let text: String = whole.chars().skip(part.offset).take(part.length).collect();
        let end = part.offset + text.chars().count();
        let next_offset = (end < total).then_some(end);
        let mut notices = Vec::new();
        if part.offset > 0 || next_offset.is_some() {
            let rest =
                next_offset.map_or(String::new(), |next| format!("; the rest: `offset` {next}"));
            notices.push(format!("characters {} to {end} of {total}{rest}", part.offset));
        }
        notices.extend(notice.map(str::to_owned));
        if self.body.is_cut {
            notices.push(
                "the page is larger than what is read of pages; its end is missing".to_owned(),
            );
        }
        let truncated =
            next_offset.is_some() || part.offset > 0 || notice.is_some() || self.body.is_cut;
        let value = FetchOutput {
            title,
            offset: part.offset,
            total,
            truncated,
            next_offset,
            text,
            ..self.body.metadata()
        };
        Ok(output_of(value, &notices))
    }
}

/// The text for a model: where it is from, the page, notices.
fn output_of(value: FetchOutput, notices: &[String]) -> ToolOutput<FetchOutput> {
    let title = value.title.as_ref().map_or(String::new(), |title| format!(" \"{title}\""));
    let text = if value.text.trim().is_empty() { "[the page has no text]" } else { &value.text };
    let mut parts = vec![format!("[{}{title}]", value.url), text.to_owned()];
    parts.extend(notices.iter().map(|notice| format!("[{notice}]")));
    ToolOutput { blocks: vec![ContentBlock::text(parts.join("\n"))], value }
}

/// The result of a redirect that is not followed.
pub(super) fn redirect_output(from: &Url, to: &Url, status: u16) -> ToolOutput<FetchOutput> {
    let text = format!(
        "`{from}` redirects to another host: {to}\nTo read the page, fetch that address if it is trustworthy."
    );
    let (url, redirect) = (from.to_string(), Some(to.to_string()));
    ToolOutput::new(text, FetchOutput { url, status, redirect, ..FetchOutput::default() })
}

/// Whether a content type is text.
fn is_text(kind: &str) -> bool {
    const TEXT: [&str; 14] = [
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/x-javascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-ndjson",
        "application/jsonl",
        "application/sql",
        "application/graphql",
        "application/x-sh",
        "application/x-www-form-urlencoded",
    ];
    kind.starts_with("text/")
        || TEXT.contains(&kind)
        || ["+json", "+xml", "+yaml"].iter().any(|ending| kind.ends_with(ending))
}
