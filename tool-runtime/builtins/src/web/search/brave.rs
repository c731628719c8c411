//! The API of Brave Search.

use super::request::{Api, entries};
use super::{SearchBackend, SearchHit, SearchQuery};
use reqwest::header::{ACCEPT, HeaderValue};
use serde::Deserialize;
use tool_runtime::{BoxFuture, Secret, ToolError};

/// Brave Search.
pub struct Brave {
    api: Api,
    key: HeaderValue,
}

/// A response without web pages has no `web`.
#[derive(Deserialize)]
struct Response {
    web: Option<Web>,
}

#[derive(Default, Deserialize)]
struct Web {
    #[serde(default, deserialize_with = "entries")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    title: Option<String>,
    url: String,
    description: Option<String>,
}

impl Brave {
    /// The API with a key.
    ///
    /// # Errors
    /// The key is not valid.
    pub fn new(key: Secret) -> Result<Self, String> {
        Self::at("https://api.search.brave.com", key)
    }

    /// The API at another address, for instance of a gateway.
    ///
    /// # Errors
    /// The address or the key is not valid.
    pub fn at(url: &str, key: Secret) -> Result<Self, String> {
        let invalid = |_| "the key of Brave has characters that are not allowed".to_owned();
        let mut key = HeaderValue::from_str(key.expose()).map_err(invalid)?;
        key.set_sensitive(true);
        Ok(Self { api: Api::new("Brave", url)?, key })
    }
}

impl SearchBackend for Brave {
    fn name(&self) -> &str {
        self.api.name
    }

    fn own_hosts(&self) -> Vec<String> {
        vec![self.api.host(), "search.brave.com".to_owned()]
    }

    fn search<'a>(
        &'a self,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        Box::pin(async move {
            let mut url = self.api.url("res/v1/web/search");
            url.query_pairs_mut()
                .append_pair("q", &query.with_operators())
                .append_pair("count", &query.num_results.to_string())
                .append_pair("text_decorations", "false");
            let request = self.api.client.get(url).header(ACCEPT, "application/json");
            let request = request.header("X-Subscription-Token", self.key.clone());
            let response: Response = self.api.fetch(request).await?;
            let hit = |found: Entry| SearchHit {
                title: found.title.unwrap_or_default(),
                url: found.url,
                snippet: found.description.unwrap_or_default(),
            };
            Ok(response.web.unwrap_or_default().results.into_iter().map(hit).collect())
        })
    }
}
