//! A request to the API of a search engine.

use crate::web::client;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;
use std::time::Duration;
use tool_runtime::ToolError;

const TIMEOUT: Duration = Duration::from_secs(20);
/// Limit on a response.
const MAX_BYTES: usize = 4 << 20;

/// The API of an engine. Its address is of the operator, so that it may be private.
pub(super) struct Api {
    pub(super) name: &'static str,
    pub(super) client: Client,
    pub(super) base: Url,
}

impl Api {
    /// # Errors
    /// The address is not valid.
    pub(super) fn new(name: &'static str, base: &str) -> Result<Self, String> {
        let agent = concat!("tool-runtime/", env!("CARGO_PKG_VERSION"));
        let client = client::builder(agent)?.timeout(TIMEOUT).build();
        let client = client.map_err(|error| error.without_url().to_string())?;
        let invalid = || {
            format!(
                "`{base}` is not a valid address of {name}; write it as `https://search.example`"
            )
        };
        let mut base = Url::parse(base).map_err(|_| invalid())?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid());
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { name, client, base })
    }

    /// The host, whose pages are no results.
    pub(super) fn host(&self) -> String {
        self.base.host_str().unwrap_or_default().to_owned()
    }

    pub(super) fn url(&self, path: &str) -> Url {
        // Valid, since `base` is a directory and `path` a constant.
        self.base.join(path).unwrap_or_else(|_| self.base.clone())
    }

    /// The response of the engine. Neither the key nor the address is part of an error.
    pub(super) async fn fetch<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, ToolError> {
        let name = self.name;
        let unreachable = |error: reqwest::Error| {
            let why = if error.is_timeout() {
                "it did not answer in time"
            } else {
                "it cannot be reached"
            };
            ToolError::transient(format!("the search engine {name} failed: {why}; try again later"))
                .with_source(error.without_url())
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let wait = wait.map(str::to_owned);
        let body = read(response).await.map_err(unreachable)?;
        if !status.is_success() {
            return Err(self.rejection(status.as_u16(), wait.as_deref(), &body));
        }
        serde_json::from_slice(&body).map_err(|error| {
            let text = format!(
                "the search engine {name} sent an answer that cannot be read; use another source"
            );
            ToolError::user(text).with_source(error)
        })
    }

    fn rejection(&self, status: u16, wait: Option<&str>, body: &[u8]) -> ToolError {
        let name = self.name;
        let reason = reason(body).map_or(String::new(), |reason| format!(": {reason}"));
        match status {
            401 | 403 => ToolError::user(format!(
                "the search engine {name} refuses requests ({status}){reason}; {}",
                self.advice()
            )),
            429 | 432 | 433 => {
                let wait = wait.map_or("wait before the next search".to_owned(), |wait| {
                    format!("retry after {wait} seconds")
                });
                ToolError::transient(format!(
                    "the search engine {name} has had too many requests ({status}){reason}; {wait}"
                ))
            }
            500.. => ToolError::transient(format!(
                "the search engine {name} has a problem ({status}); try again later"
            )),
            _ => ToolError::user(format!(
                "the search engine {name} rejects the search ({status}){reason}; change the words"
            )),
        }
    }

    fn advice(&self) -> &'static str {
        match self.name {
            "SearXNG" => "its operator has to add `json` to `search.formats` in its settings",
            _ => "the operator has to set a valid key",
        }
    }
}

/// The entries of a response, for `deserialize_with`. One that cannot be read is left out, since engines collect pages
/// of many origins. `null` is no entry.
///
/// # Errors
/// None of the entries can be read.
pub(super) fn entries<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let values = Option::<Vec<Value>>::deserialize(deserializer)?.unwrap_or_default();
    let (mut entries, mut problem) = (Vec::new(), None);
    for value in values {
        match serde_json::from_value(value) {
            Ok(entry) => entries.push(entry),
            Err(error) => problem = Some(error),
        }
    }
    match problem {
        Some(error) if entries.is_empty() => Err(D::Error::custom(error)),
        _ => Ok(entries),
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BYTES {
            break;
        }
    }
    Ok(body)
}

/// The message of an error in JSON.
fn reason(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let paths =
        ["/error/detail", "/detail/error", "/error/message", "/detail", "/error", "/message"];
    let text = paths.iter().find_map(|path| body.pointer(path)?.as_str())?;
    Some(text.chars().take(300).collect())
}
