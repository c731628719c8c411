//! Elements of a page: list, click, type, scroll.

use super::devtools::Failure;
use super::output::{PageElement, PageOutput, StateOutput};
use super::pages;
use super::session::{ActionError, Session};
use super::tabs::Tab;
use crate::image_block;
use crate::tool_output::ToolOutput;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::ToolError;

/// Limit on the listed elements.
const MAX_ELEMENTS: usize = 250;

/// A direction to scroll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScrollDirection {
    /// To the beginning of the page.
    Up,
    /// To the end of the page.
    #[default]
    Down,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(flatten)]
    page: PageOutput,
    elements: Vec<PageElement>,
    total: usize,
    is_cut: bool,
}

/// The reason from the script why an element cannot be used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    error: Option<String>,
    count: usize,
    by: String,
    tag: String,
    options: Vec<String>,
}

#[derive(Deserialize)]
struct Located {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct Screenshot {
    /// Base64.
    data: String,
}

/// Lists the interactive elements of the current page.
pub(super) async fn state(
    session: &Session,
    include_screenshot: bool,
) -> Result<ToolOutput<StateOutput>, ActionError> {
    let tab = session.current().await?;
    session.tabs.loaded(&tab.target, session.limit).await;
    let request = json!({"action": "list", "limit": MAX_ELEMENTS});
    let listed: Listed = session.script(&tab, request).await?;
    let (tab_id, notices) = (tab.number.to_string(), session.notices());
    let state = StateOutput {
        page: PageOutput { tab_id, notices, ..listed.page },
        truncated: listed.total > listed.elements.len() || listed.is_cut,
        total: listed.total,
        elements: listed.elements,
        tabs: pages::tabs_of(session).await?,
    };
    let mut output = ToolOutput::from_display(state);
    if include_screenshot {
        session.activate(&tab).await?;
        let taken: Screenshot = session.query(&tab, "Page.captureScreenshot", json!({})).await?;
        let bytes = STANDARD.decode(taken.data).map_err(ToolError::internal)?;
        let image = image_block::block(&bytes, "image/png").map_err(ToolError::internal)?;
        output.blocks.push(image.block);
    }
    Ok(output)
}

/// Clicks an element, or opens a link in a new tab.
pub(super) async fn click(
    session: &Session,
    index: usize,
    new_tab: bool,
) -> Result<PageOutput, ActionError> {
    let tab = session.current().await?;
    if new_tab {
        let link = element(session, &tab, json!({"action": "link", "index": index})).await?;
        let Some(href) = link["href"].as_str() else {
            let text =
                format!("element {index} is not a link; click it with `new_tab` false instead");
            return Err(ToolError::user(text).into());
        };
        return pages::navigate(session, href, true).await;
    }
    session.activate(&tab).await?;
    let located = element(session, &tab, json!({"action": "locate", "index": index})).await?;
    let Located { x, y } = serde_json::from_value(located).map_err(ToolError::internal)?;
    session.refusals();
    for event in [
        json!({"type": "mouseMoved", "x": x, "y": y}),
        json!({"type": "mousePressed", "x": x, "y": y, "button": "left", "clickCount": 1}),
        json!({"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1}),
    ] {
        match session.run(&tab, "Input.dispatchMouseEvent", event).await {
            // The page has closed its own tab.
            Err(Failure::Refused(_)) if session.tabs.is_closed(&tab.target) => break,
            result => result?,
        }
    }
    after(session, &tab).await
}

/// Replaces the text of a field, or chooses an option.
pub(super) async fn type_text(
    session: &Session,
    index: usize,
    text: &str,
) -> Result<PageOutput, ActionError> {
    let tab = session.current().await?;
    session.activate(&tab).await?;
    let request = json!({"action": "focus", "index": index, "text": text});
    let focused = element(session, &tab, request).await?;
    session.refusals();
    if focused["done"] == false {
        let is_line = focused["tag"] == "input";
        let (text, enter) = match text.strip_suffix('\n') {
            Some(line) if is_line => (line, true),
            _ => (text, false),
        };
        if text.is_empty() {
            key(session, &tab, "Backspace", 8, None).await?;
        } else {
            session.run(&tab, "Input.insertText", json!({"text": text})).await?;
        }
        if enter {
            key(session, &tab, "Enter", 13, Some("\r")).await?;
        }
    }
    let mut page = after(session, &tab).await?;
    let request = json!({"action": "read", "index": index});
    let read: Value = session.script(&tab, request).await?;
    if let Some(value) = read["value"].as_str() {
        page.notices.push(format!("element {index} contains \"{value}\" now"));
    }
    Ok(page)
}

/// Scrolls by most of the visible height.
pub(super) async fn scroll(
    session: &Session,
    direction: ScrollDirection,
) -> Result<PageOutput, ActionError> {
    let tab = session.current().await?;
    session.activate(&tab).await?;
    let direction = if direction == ScrollDirection::Up { "up" } else { "down" };
    let request = json!({"action": "scroll", "direction": direction});
    let scrolled: Value = session.script(&tab, request).await?;
    let mut page = after(session, &tab).await?;
    if scrolled["moved"] == false {
        page.notices.push(format!("the page does not scroll further {direction}"));
    }
    Ok(page)
}

async fn key(
    session: &Session,
    tab: &Tab,
    name: &str,
    code: i64,
    text: Option<&str>,
) -> Result<(), ActionError> {
    let down = if text.is_some() { "keyDown" } else { "rawKeyDown" };
    for kind in [down, "keyUp"] {
        let mut event =
            json!({"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code});
        if let Some(text) = text.filter(|_| kind == down) {
            event["text"] = text.into();
        }
        session.run(tab, "Input.dispatchKeyEvent", event).await?;
    }
    Ok(())
}

/// The page after an action that may load another one.
async fn after(session: &Session, tab: &Tab) -> Result<PageOutput, ActionError> {
    let is_settled = session.settled(tab).await?;
    // The action may have closed its own tab.
    let current = session.current().await?;
    let mut page = pages::loaded(session, &current).await?;
    if !is_settled {
        page.notices.push("the page still loads".to_owned());
    }
    if current.target != tab.target {
        page.notices.push(format!("tab {} was closed", tab.number));
    }
    Ok(page)
}

/// Runs an action of the script on an element.
async fn element(session: &Session, tab: &Tab, request: Value) -> Result<Value, ActionError> {
    let index = request["index"].clone();
    let response: Value = session.script(tab, request).await?;
    let refused = Refused::deserialize(&response).unwrap_or_default();
    let Some(error) = refused.error else { return Ok(response) };
    let text = match error.as_str() {
        "unknown" => format!(
            "there is no element {index}; the last state of the page has {} elements, counted from 0",
            refused.count
        ),
        "stale" => format!(
            "element {index} is not on the page, or the page has changed; list its elements by browser_get_state"
        ),
        "disabled" => format!("element {index} is disabled; fill in what the page needs first"),
        "file" => format!("element {index} is for files, which the browser does not upload"),
        "field" => format!(
            "element {index} is a `{}`, which takes no text; click it by browser_click, or choose a field",
            refused.tag
        ),
        "option" => {
            format!("element {index} has no such option; it has: {}", refused.options.join(" | "))
        }
        "covered" => format!(
            "element {index} is covered by {}; close that first, or list the elements again",
            refused.by
        ),
        _ => format!("element {index} cannot be clicked; scroll, and list the elements again"),
    };
    Err(ToolError::user(text).into())
}
