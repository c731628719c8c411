//! HTML as Markdown or text.
//!
//! Pages are hostile: without limits a page of a few megabytes takes minutes, or more stack than there is. It is parsed
//! in pieces, and after each one depth, number of nodes and time are compared with their limits.

mod task_list;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use html5ever::tendril::TendrilSink as _;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use reqwest::Url;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes after which the limits are compared. A piece can add a third of it to the depth.
const PIECE: usize = 1024;
/// Limit on the depth of a page; browsers have 512.
const MAX_DEPTH: usize = 256;
const MAX_NODES: usize = 150_000;
/// Elements up to which the main part of a page is looked for.
const MAX_ELEMENTS: usize = 50_000;
/// Characters of a title.
const MAX_TITLE: usize = 300;
/// Bytes of all links of a page, which are absolute: a long base would multiply the page.
const MAX_LINKS: usize = 8 << 20;
/// Time limit on parsing.
const MAX_TIME: Duration = Duration::from_secs(3);
const CUT: &str =
    "the rest of the page is left out, because it is too complex; `format` `raw` has its source";
/// Parts of a page that are no text.
const REMOVED: &str = "script, style, template, svg, canvas, iframe, object, embed, dialog:not([open]), [hidden], img[src^='data:']";

/// Parts of a page that begin lines of their own, which the conversions would run together.
const BLOCKS: &str = "dl, dt, dd, details, summary, figcaption, legend, dialog, main, address, button, label, option";

/// A page in another format.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Converted {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The reason why the text is not the whole page.
    pub(crate) notice: Option<&'static str>,
}

/// The main part of a page as Markdown; the whole page if it has no main part.
pub(super) fn markdown(html: &str, url: &Url, stop: &AtomicBool) -> Converted {
    let (document, cut) = prepared(html, url, stop);
    let title = title(&document);
    let whole = document.md(None).trim().to_owned();
    match main_part(document, url) {
        Some(text) if text.len() > whole.len() / 5 || text.len() > 2000 => {
            let is_part = text.len() < whole.len() * 4 / 5;
            let part =
                is_part.then_some("the main part of the page; `format` `text` has all of it");
            Converted { title, text, notice: cut.or(part) }
        }
        _ => Converted { title, text: whole, notice: cut },
    }
}

/// A whole page as Markdown, with or without the addresses of its links.
#[cfg(feature = "browser")]
pub(crate) fn whole_markdown(html: &str, url: &Url, links: bool, stop: &AtomicBool) -> Converted {
    let (document, notice) = prepared(html, url, stop);
    let title = title(&document);
    if !links {
        document.select("a").rename("span");
    }
    let text = document.md(None).trim().to_owned();
    Converted { title, text, notice }
}

/// The text of a whole page.
pub(super) fn text(html: &str, url: &Url, stop: &AtomicBool) -> Converted {
    let (document, notice) = prepared(html, url, stop);
    let title = title(&document);
    document.select("head").remove();
    let text = document.formatted_text().trim().to_owned();
    Converted { title, text, notice }
}

/// The parsed page without what is not text, its links absolute.
fn prepared(html: &str, url: &Url, stop: &AtomicBool) -> (Document, Option<&'static str>) {
    let (document, cut) = parse(html, stop);
    let notice = cut.or(prune(&document).then_some(CUT));
    document.select(REMOVED).remove();
    remove_hidden(&document);
    task_list::mark(&document);
    document.select(BLOCKS).rename("div");
    let base = document.select("base[href]").attr("href");
    let base = base.and_then(|base| url.join(&base).ok()).unwrap_or_else(|| url.clone());
    document.select("base").remove();
    make_absolute(&document, &base);
    (document, notice)
}

/// Removes what `style` hides: readers do not see it, and it may be written for a model. Rules of style sheets are not
/// read. A page that is hidden as a whole waits for its script, and stays.
fn remove_hidden(document: &Document) {
    for node in document.select("[style]:not(html, body)").nodes() {
        if node.attr("style").is_some_and(|style| is_hidden(&style)) {
            node.remove_from_parent();
        }
    }
}

/// Whether a `style` hides its element.
fn is_hidden(style: &str) -> bool {
    style.to_ascii_lowercase().split(';').any(|declaration| {
        let (property, value) = declaration.split_once(':').unwrap_or_default();
        let value = value.split('!').next().unwrap_or_default();
        matches!((property.trim(), value.trim()), ("display", "none") | ("visibility", "hidden"))
    })
}

/// Makes links absolute. Those beyond the limit lose their addresses.
fn make_absolute(document: &Document, base: &Url) {
    let mut room = MAX_LINKS;
    for (selector, attribute) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in document.select(selector).nodes() {
            if room == 0 {
                node.remove_attr(attribute);
                continue;
            }
            let link = node.attr(attribute).and_then(|link| base.join(&link).ok());
            if let Some(link) = link {
                room = room.saturating_sub(link.as_str().len());
                node.set_attr(attribute, link.as_str());
            }
        }
    }
}

fn parse(html: &str, stop: &AtomicBool) -> (Document, Option<&'static str>) {
    let start = Instant::now();
    parse_by(html, stop, || start.elapsed())
}

/// `time` is that since the beginning.
fn parse_by(
    html: &str,
    stop: &AtomicBool,
    time: impl Fn() -> Duration,
) -> (Document, Option<&'static str>) {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = parse_document(Document::default(), options);
    let mut rest = html;
    while !rest.is_empty() {
        let end = (0..=PIECE.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
        let (piece, others) = rest.split_at(end.unwrap_or_default());
        parser.process(piece.into());
        rest = others;
        let document = &parser.tokenizer.sink.sink;
        let is_over = depth(document) > MAX_DEPTH
            || document.tree.len() > MAX_NODES
            || time() > MAX_TIME
            || stop.load(Ordering::Relaxed);
        if is_over {
            return (parser.finish(), Some(CUT));
        }
    }
    (parser.finish(), None)
}

/// Removes what is nested too deeply, since conversions recurse. Returns whether there was some. Parsing stops at this
/// depth, except for elements that the parser puts in front of a table.
fn prune(document: &Document) -> bool {
    let (mut waiting, mut is_cut) = (vec![(document.root(), 0)], false);
    while let Some((node, depth)) = waiting.pop() {
        if depth > MAX_DEPTH {
            node.remove_from_parent();
            is_cut = true;
        } else {
            waiting.extend(node.children().into_iter().map(|child| (child, depth + 1)));
        }
    }
    is_cut
}

/// The depth at which the parser is.
fn depth(document: &Document) -> usize {
    let mut node = Some(document.root());
    std::iter::from_fn(|| {
        node = node.as_ref()?.last_child();
        node.as_ref().map(|_| ())
    })
    .count()
}

fn title(document: &Document) -> Option<String> {
    let title = document.select("title").iter().next()?.text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().take(MAX_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

/// The main part of an article as Markdown.
fn main_part(document: Document, url: &Url) -> Option<String> {
    let config = Config {
        text_mode: TextMode::Markdown,
        max_elements_to_parse: MAX_ELEMENTS,
        ..Config::default()
    };
    let mut page = Readability::with_document(document, Some(url.as_str()), Some(config)).ok()?;
    if !page.is_probably_readable() {
        return None;
    }
    let text = page.parse().ok()?.text_content.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
