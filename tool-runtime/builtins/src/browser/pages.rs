//! Addresses and tabs: open, go back, list, switch, close.

use super::devtools::Failure;
use super::output::{PageOutput, TabOutput, TabsOutput};
use super::session::{ActionError, Session};
use super::tabs::Tab;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tool_runtime::ToolError;

/// The address of an empty page.
pub(super) const EMPTY: &str = "about:blank";

/// Limit on the characters of an address to open.
const MAX_URL: usize = 8192;

/// Limits on the characters of an address and of a title in the list of tabs.
const MAX_TAB_URL: usize = 2000;
const MAX_TITLE: usize = 300;

/// The error of a page that became a download. It has other causes as well.
const ABORTED: &str = "net::ERR_ABORTED";

/// Limit on the wait for the download event, which follows that error.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    error_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: i64,
    entries: Vec<HistoryEntry>,
}

#[derive(Deserialize)]
struct HistoryEntry {
    id: i64,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    target_infos: Vec<TargetInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    url: String,
    title: String,
}

/// Opens an address in the current tab or in a new one.
pub(super) async fn navigate(
    session: &Session,
    url: &str,
    new_tab: bool,
) -> Result<PageOutput, ActionError> {
    let url = checked(url)?;
    if new_tab {
        check_free_tab(session)?;
    }
    let tab = if new_tab { session.open().await? } else { session.current().await? };
    session.activate(&tab).await?;
    session.refusals();
    let loading = session.query(&tab, "Page.navigate", json!({"url": url.as_str()}));
    let begun: Navigated = match tokio::time::timeout(session.limit, loading).await {
        Ok(begun) => begun?,
        Err(_) => {
            session.run(&tab, "Page.stopLoading", json!({})).await?;
            return Err(not_in_time(session, &url));
        }
    };
    let is_loaded = session.tabs.loaded(&tab.target, session.limit).await;
    if let Some(reason) = begun.error_text.filter(|reason| !reason.is_empty()) {
        return Err(failed(session, &url, &reason).await);
    }
    let mut page = loaded(session, &tab).await?;
    if !is_loaded {
        page.notices.push("the page still loads".to_owned());
    }
    Ok(page)
}

/// Checks that another tab can be opened.
///
/// # Errors
/// As many are open as the browser may have.
pub(super) fn check_free_tab(session: &Session) -> Result<(), ToolError> {
    if session.tabs.is_full() {
        let text = "as many tabs are open as the browser may have; close one by browser_close_tab";
        return Err(ToolError::user(text));
    }
    Ok(())
}

/// Goes back to the previous page.
pub(super) async fn go_back(session: &Session) -> Result<PageOutput, ActionError> {
    let tab = session.current().await?;
    let history: History = session.query(&tab, "Page.getNavigationHistory", json!({})).await?;
    let before = usize::try_from(history.current_index - 1).ok();
    let before = before.and_then(|index| Some((index, history.entries.get(index)?)));
    // The first history entry of a tab is the empty page with which it was opened.
    let Some((_, entry)) = before.filter(|(index, entry)| *index > 0 || entry.url != EMPTY) else {
        return Err(ToolError::user("the tab has no page before this one").into());
    };
    session.refusals();
    session.run(&tab, "Page.navigateToHistoryEntry", json!({"entryId": entry.id})).await?;
    session.settled(&tab).await?;
    loaded(session, &tab).await
}

/// The page of a tab after an action, if its address is allowed.
pub(super) async fn loaded(session: &Session, tab: &Tab) -> Result<PageOutput, ActionError> {
    let request = json!({"action": "page"});
    let page: PageOutput = session.script(tab, request).await?;
    let url = Url::parse(&page.url);
    let scheme = url.as_ref().map(Url::scheme).unwrap_or_default();
    if !matches!(scheme, "http" | "https" | "about" | "blob" | "data" | "chrome-error") {
        session.run(tab, "Page.navigate", json!({"url": EMPTY})).await?;
        let text = format!("the page led to `{scheme}:`, which the browser must not show");
        return Err(ToolError::user(text).into());
    }
    let host = url.as_ref().ok().and_then(Url::host_str).unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let refusals = session.refusals();
    let is_error = scheme == "chrome-error";
    // Responses of the proxy. A part of a page may fail at the same host, too, on another port.
    let is_refused = is_error || matches!(page.status, None | Some(403 | 502));
    let own = refusals
        .iter()
        .find(|refusal| (is_refused && refusal.host == host) || (is_error && refusal.is_forbidden));
    if let Some(refusal) = own {
        return Err(ToolError::user(refusal.reason.clone()).into());
    }
    let notices = session.with_refusals(refusals);
    Ok(PageOutput { tab_id: tab.number.to_string(), notices, ..page })
}

pub(super) async fn list(session: &Session) -> Result<TabsOutput, ActionError> {
    Ok(TabsOutput { tabs: tabs_of(session).await?, notices: session.notices() })
}

/// All tabs with their pages.
pub(super) async fn tabs_of(session: &Session) -> Result<Vec<TabOutput>, Failure> {
    let current = session.current().await?;
    let targets: Targets = session.devtools.query(None, "Target.getTargets", json!({})).await?;
    let infos = targets.target_infos;
    let tabs = session.tabs.all().into_iter().map(|tab| {
        let info = infos.iter().find(|info| info.target_id == tab.target);
        TabOutput {
            tab_id: tab.number.to_string(),
            url: info.map(|info| start(&info.url, MAX_TAB_URL)).unwrap_or_default(),
            title: info.map(|info| start(&info.title, MAX_TITLE)).unwrap_or_default(),
            active: tab.target == current.target,
        }
    });
    Ok(tabs.collect())
}

/// The start of a string.
fn start(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(super) async fn switch(session: &Session, tab_id: &str) -> Result<PageOutput, ActionError> {
    let tab = find(session, tab_id)?;
    session.show(&tab);
    session.activate(&tab).await?;
    session.tabs.loaded(&tab.target, session.limit).await;
    session.page(&tab).await
}

/// Closes a tab. The last one is replaced by an empty one, because the browser ends without a tab.
pub(super) async fn close(session: &Session, tab_id: &str) -> Result<TabsOutput, ActionError> {
    let tab = find(session, tab_id)?;
    if session.tabs.all().len() == 1 {
        session.open().await?;
    }
    session.close(&tab.target).await?;
    if !session.tabs.closed(&tab.target, session.limit).await {
        return Err(Failure::Timeout.into());
    }
    list(session).await
}

fn find(session: &Session, tab_id: &str) -> Result<Tab, ToolError> {
    let tabs = session.tabs.all();
    let found = tabs.iter().find(|tab| tab.number.to_string() == tab_id.trim()).cloned();
    found.ok_or_else(|| {
        let known: Vec<String> = tabs.iter().map(|tab| format!("`{}`", tab.number)).collect();
        ToolError::user(format!("there is no tab `{tab_id}`; the tabs are {}", known.join(", ")))
    })
}

/// Parses and checks an address from the model.
fn checked(url: &str) -> Result<Url, ToolError> {
    let url = url.trim();
    if url.len() > MAX_URL {
        let text = format!("the address has more than {MAX_URL} characters; open another page");
        return Err(ToolError::user(text));
    }
    let parsed = Url::parse(url).map_err(|error| {
        ToolError::user(format!(
            "`{url}` is not a valid URL: {error}; write it whole, as `https://example.com/page`"
        ))
    })?;
    let is_allowed = match parsed.scheme() {
        "http" | "https" => true,
        "about" => parsed.path() == "blank",
        _ => false,
    };
    if !is_allowed {
        let scheme = parsed.scheme();
        return Err(ToolError::user(format!(
            "`{scheme}:` addresses cannot be opened; only `http`, `https` and `about:blank` can"
        )));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let text = "a URL must not contain a user or a password; remove the part before `@`";
        return Err(ToolError::user(text));
    }
    Ok(parsed)
}

/// The error of a page that was not loaded.
async fn failed(session: &Session, url: &Url, reason: &str) -> ActionError {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let refusals = session.refusals();
    let own = refusals.iter().find(|refusal| refusal.host == host || refusal.is_forbidden);
    if let Some(refusal) = own {
        return ToolError::user(refusal.reason.clone()).into();
    }
    if reason == ABORTED {
        session.tabs.noticed(DOWNLOAD_LIMIT).await;
    }
    let notices = session.tabs.take_notices();
    if notices.is_empty() {
        let text =
            format!("`{url}` could not be loaded ({reason}); check the address, or try again");
        return ToolError::transient(text).into();
    }
    let notices = notices.join("; ");
    ToolError::user(format!("`{url}` could not be shown ({reason}): {notices}")).into()
}

fn not_in_time(session: &Session, url: &Url) -> ActionError {
    let seconds = session.limit.as_secs();
    let text = format!(
        "`{url}` did not answer within {seconds} seconds; try again, or use another address"
    );
    ToolError::transient(text).into()
}
