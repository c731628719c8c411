//! The text of a page.

use super::output::{ContentOutput, PageOutput};
use super::session::{ActionError, Session};
use crate::web::html;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::ToolError;

/// Limit on the characters of one result.
const MAX_LENGTH: usize = 30_000;
/// Characters at the end of a part that are searched for a position to cut at.
const SEARCHED: usize = 2000;
/// Limit on the characters of a page's source.
const MAX_SOURCE: usize = 4 << 20;

#[derive(Deserialize)]
struct Source {
    #[serde(flatten)]
    page: PageOutput,
    html: String,
    is_cut: bool,
}

/// Stops the conversion in another thread when the call ends.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The current page as Markdown, starting at a character.
pub(super) async fn content(
    session: &Session,
    extract_links: bool,
    start: usize,
) -> Result<ContentOutput, ActionError> {
    let tab = session.current().await?;
    session.tabs.loaded(&tab.target, session.limit).await;
    let request = json!({"action": "source", "limit": MAX_SOURCE});
    let Source { page, html, is_cut } = session.script(&tab, request).await?;
    let url = Url::parse(&page.url).map_err(ToolError::internal)?;
    let stop = Stop::default();
    let flag = Arc::clone(&stop.0);
    let work = move || html::whole_markdown(&html, &url, extract_links, &flag);
    let converted = tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)?;
    let mut notices = session.notices();
    let is_simplified = converted.notice.is_some();
    if is_cut || is_simplified {
        notices.push("the page is too large or too complex; its end is missing".to_owned());
    }
    let mut output = part(&converted.text, start)?;
    output.truncated |= is_cut || is_simplified;
    if let Some(next) = output.next_start {
        let (start, total) = (output.start, output.total);
        notices.push(format!(
            "characters {start} to {next} of {total}; the rest: `start_from_char` {next}"
        ));
    }
    Ok(ContentOutput { url: page.url, title: page.title, notices, ..output })
}

/// A part of a string, cut at the end of a paragraph, a line or a sentence if there is one.
fn part(text: &str, start: usize) -> Result<ContentOutput, ToolError> {
    let total = text.chars().count();
    if start > 0 && start >= total {
        let text =
            format!("`start_from_char` {start} is after the end: the page has {total} characters");
        return Err(ToolError::user(text));
    }
    let mut content: String = text.chars().skip(start).take(MAX_LENGTH).collect();
    if start + MAX_LENGTH < total {
        let searched = content.char_indices().rev().nth(SEARCHED).map_or(0, |(at, _)| at);
        let end = ["\n\n", "\n", ". "]
            .iter()
            .find_map(|end| content[searched..].rfind(end).map(|at| searched + at + end.len()));
        content.truncate(end.unwrap_or(content.len()));
    }
    let next = start + content.chars().count();
    let next_start = (next < total).then_some(next);
    let truncated = start > 0 || next_start.is_some();
    Ok(ContentOutput { content, start, total, truncated, next_start, ..ContentOutput::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_a_paragraph_and_make_up_the_text() {
        let paragraph = format!("{}ä.\n\n", "word ".repeat(100));
        let text = paragraph.repeat(100);
        let (mut start, mut joined) = (0, String::new());
        loop {
            let found = part(&text, start).unwrap();
            assert!(found.content.chars().count() <= MAX_LENGTH);
            joined.push_str(&found.content);
            let Some(next) = found.next_start else { break };
            assert!(found.truncated && found.content.ends_with("\n\n"));
            start = next;
        }
        assert_eq!(joined, text);
        assert!(part(&text, text.chars().count()).is_err());
        assert!(!part("short", 0).unwrap().truncated);
        assert!(!part("", 0).unwrap().truncated);
    }
}
