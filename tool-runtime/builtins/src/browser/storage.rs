//! Cookies and local storage, in the shape of Playwright's storage state.

use super::pages;
use super::session::{ActionError, Session};
use super::tabs::Tab;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::ToolError;

/// Placeholder for values that the operator hides.
const HIDDEN: &str = "(hidden)";
/// Limit on the characters of an origin's local storage.
const MAX_STORAGE: usize = 100_000;
/// Limits on cookies and origins.
const MAX_COOKIES: usize = 500;
const MAX_ORIGINS: usize = 20;

/// Cookies and local storage, in Playwright's format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct StorageState {
    /// Cookies of all sites.
    pub cookies: Vec<StoredCookie>,
    /// Local storage of origins.
    pub origins: Vec<StoredOrigin>,
}

/// A cookie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoredCookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Host; a leading dot includes its subdomains.
    pub domain: String,
    /// Prefix of the paths.
    #[serde(default = "root")]
    pub path: String,
    /// Expiry in seconds since 1970; -1 for a cookie of the browser session.
    #[serde(default = "session_end")]
    pub expires: f64,
    /// Whether scripts of pages cannot read the cookie.
    #[serde(default)]
    pub http_only: bool,
    /// Whether the cookie is sent over HTTPS only.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

/// Local storage of an origin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoredOrigin {
    /// The origin: `https://example.com`.
    pub origin: String,
    /// Entries.
    #[serde(default)]
    pub local_storage: Vec<StoredItem>,
}

/// An entry of local storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StoredItem {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Cookies, and the local storage of the open pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct StorageOutput {
    /// The state, for `browser_set_storage`.
    pub storage_state: StorageState,
    /// Whether values are hidden.
    pub hidden: bool,
    /// Whether the state is incomplete.
    pub truncated: bool,
}

fn root() -> String {
    "/".to_owned()
}

fn session_end() -> f64 {
    -1.0
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<FoundCookie>,
}

#[derive(Deserialize)]
struct FoundCookie {
    #[serde(flatten)]
    cookie: StoredCookie,
    /// Whether it ends with the browser session.
    session: bool,
}

#[derive(Deserialize)]
struct Read {
    origin: String,
    items: Vec<StoredItem>,
    is_cut: bool,
}

/// Reads cookies, and the local storage of open pages.
pub(super) async fn get(
    session: &Session,
    show_values: bool,
) -> Result<StorageOutput, ActionError> {
    let found: Cookies = session.devtools.query(None, "Storage.getCookies", json!({})).await?;
    let mut truncated = found.cookies.len() > MAX_COOKIES;
    let cookies = found.cookies.into_iter().take(MAX_COOKIES);
    let cookies = cookies.map(|FoundCookie { cookie, session }| match session {
        true => StoredCookie { expires: session_end(), ..cookie },
        false => cookie,
    });
    let mut state = StorageState { cookies: cookies.collect(), origins: Vec::new() };
    for tab in session.tabs.all() {
        let request = json!({"action": "storage", "limit": MAX_STORAGE});
        let read: Read = session.script(&tab, request).await?;
        truncated |= read.is_cut;
        let is_known = state.origins.iter().any(|origin| origin.origin == read.origin);
        if !is_known && !read.items.is_empty() {
            state.origins.push(StoredOrigin { origin: read.origin, local_storage: read.items });
        }
    }
    if !show_values {
        let items = state.origins.iter_mut().flat_map(|origin| &mut origin.local_storage);
        let values = items.map(|item| &mut item.value);
        values.chain(state.cookies.iter_mut().map(|cookie| &mut cookie.value)).for_each(|value| {
            HIDDEN.clone_into(value);
        });
    }
    Ok(StorageOutput { storage_state: state, hidden: !show_values, truncated })
}

/// Adds cookies and entries of local storage. Existing ones are kept.
pub(super) async fn set(session: &Session, state: StorageState) -> Result<String, ActionError> {
    check(&state)?;
    if !state.origins.is_empty() {
        pages::check_free_tab(session)?;
    }
    let (cookies, origins) = (state.cookies.len(), state.origins.len());
    if !state.cookies.is_empty() {
        let cookies = state.cookies.into_iter().map(cookie).collect::<Result<Vec<_>, _>>()?;
        let cookies = json!({"cookies": cookies});
        session.devtools.run(None, "Storage.setCookies", cookies).await?;
    }
    for origin in state.origins {
        store(session, origin).await?;
    }
    Ok(format!(
        "stored {cookies} cookies and the local storage of {origins} origins; pages that are open see them after a reload"
    ))
}

fn check(state: &StorageState) -> Result<(), ToolError> {
    let items = state.origins.iter().flat_map(|origin| &origin.local_storage);
    let mut values = items.map(|item| &item.value).chain(state.cookies.iter().map(|c| &c.value));
    if values.any(|value| value == HIDDEN) {
        return Err(ToolError::user(format!(
            "`{HIDDEN}` is not a value: browser_get_storage hides values here; leave such entries out"
        )));
    }
    if state.cookies.len() > MAX_COOKIES || state.origins.len() > MAX_ORIGINS {
        return Err(ToolError::user(format!(
            "at most {MAX_COOKIES} cookies and {MAX_ORIGINS} origins can be stored at a time"
        )));
    }
    for StoredOrigin { origin, .. } in &state.origins {
        let is_valid = Url::parse(origin).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.origin().ascii_serialization() == origin.trim_end_matches('/')
        });
        if !is_valid {
            let text = format!("`{origin}` is not an origin; write it as `https://example.com`");
            return Err(ToolError::user(text));
        }
    }
    Ok(())
}

/// A cookie as the browser takes it.
fn cookie(stored: StoredCookie) -> Result<Value, ToolError> {
    if let Some(same_site) = &stored.same_site
        && !matches!(same_site.as_str(), "Strict" | "Lax" | "None")
    {
        let text = format!("`{same_site}` is not one of `Strict`, `Lax`, `None`");
        return Err(ToolError::user(text));
    }
    let mut cookie = json!(stored);
    // Without a time it ends with the browser session.
    if let Some(members) = cookie.as_object_mut().filter(|_| stored.expires < 0.0) {
        members.remove("expires");
    }
    Ok(cookie)
}

/// Writes local storage through an empty page of the origin, without a request to the network.
async fn store(session: &Session, origin: StoredOrigin) -> Result<(), ActionError> {
    let target = session.create().await?;
    let limit = session.limit;
    session.tabs.opened(&target, limit).await;
    let result = match session.tabs.hide(&target) {
        Some(tab) => store_in(session, &tab, &origin).await,
        None => Err(super::devtools::Failure::Timeout.into()),
    };
    session.close(&target).await?;
    session.tabs.closed(&target, limit).await;
    result
}

async fn store_in(session: &Session, tab: &Tab, origin: &StoredOrigin) -> Result<(), ActionError> {
    session.run(tab, "Fetch.enable", json!({})).await?;
    session.run(tab, "Page.navigate", json!({"url": origin.origin})).await?;
    session.tabs.loaded(&tab.target, session.limit).await;
    let request = json!({"action": "store", "items": origin.local_storage});
    let stored: Value = session.script(tab, request).await?;
    match stored["error"].as_str() {
        Some(error) => {
            let text =
                format!("the local storage of `{}` cannot be written: {error}", origin.origin);
            Err(ToolError::user(text).into())
        }
        None => Ok(()),
    }
}
