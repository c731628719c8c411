//! The API of Tavily.

use super::request::{Api, entries};
use super::{SearchBackend, SearchHit, SearchQuery};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::json;
use tool_runtime::{BoxFuture, Secret, ToolError};

/// Tavily.
pub struct Tavily {
    api: Api,
    authorization: HeaderValue,
}

#[derive(Deserialize)]
struct Response {
    #[serde(deserialize_with = "entries")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    title: Option<String>,
    url: String,
    content: Option<String>,
}

impl Tavily {
    /// The API with a key.
    ///
    /// # Errors
    /// The key is not valid.
    pub fn new(key: Secret) -> Result<Self, String> {
        Self::at("https://api.tavily.com", key)
    }

    /// The API at another address, for instance of a gateway.
    ///
    /// # Errors
    /// The address or the key is not valid.
    pub fn at(url: &str, key: Secret) -> Result<Self, String> {
        let invalid = |_| "the key of Tavily has characters that are not allowed".to_owned();
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(invalid)?;
        authorization.set_sensitive(true);
        Ok(Self { api: Api::new("Tavily", url)?, authorization })
    }
}

impl SearchBackend for Tavily {
    fn name(&self) -> &str {
        self.api.name
    }

    fn own_hosts(&self) -> Vec<String> {
        vec![self.api.host(), "tavily.com".to_owned()]
    }

    fn search<'a>(
        &'a self,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        Box::pin(async move {
            let body = json!({
                "query": query.query,
                "max_results": query.num_results,
                "include_domains": query.allowed_domains,
                "exclude_domains": query.blocked_domains,
            });
            let request = self.api.client.post(self.api.url("search"));
            let request = request.header(AUTHORIZATION, self.authorization.clone());
            let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
            let response: Response = self.api.fetch(request).await?;
            let hit = |found: Entry| SearchHit {
                title: found.title.unwrap_or_default(),
                url: found.url,
                snippet: found.content.unwrap_or_default(),
            };
            Ok(response.results.into_iter().map(hit).collect())
        })
    }
}
