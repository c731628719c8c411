//! SearXNG: an engine that users run themselves.

use super::request::{Api, entries};
use super::{SearchBackend, SearchHit, SearchQuery};
use serde::Deserialize;
use serde_json::Value;
use tool_runtime::{BoxFuture, ToolError};

/// An instance of SearXNG.
pub struct Searxng(Api);

#[derive(Deserialize)]
struct Response {
    #[serde(deserialize_with = "entries")]
    results: Vec<Entry>,
    /// Pairs of an engine and its problem. Only for an error, so that another form loses no results.
    #[serde(default)]
    unresponsive_engines: Value,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
    title: Option<String>,
    content: Option<String>,
}

impl Searxng {
    /// The instance at an address, which may be private.
    ///
    /// # Errors
    /// The address is not valid.
    pub fn new(url: &str) -> Result<Self, String> {
        Api::new("SearXNG", url).map(Self)
    }
}

impl SearchBackend for Searxng {
    fn name(&self) -> &str {
        self.0.name
    }

    fn own_hosts(&self) -> Vec<String> {
        vec![self.0.host()]
    }

    fn search<'a>(
        &'a self,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        Box::pin(async move {
            let mut url = self.0.url("search");
            url.query_pairs_mut()
                .append_pair("q", &query.with_operators())
                .append_pair("format", "json");
            let response: Response = self.0.fetch(self.0.client.get(url)).await?;
            let failed = failed(&response.unresponsive_engines);
            if response.results.is_empty() && !failed.is_empty() {
                return Err(ToolError::transient(format!(
                    "no engine behind SearXNG answered: {}; try again later",
                    failed.join(", ")
                )));
            }
            let hit = |found: Entry| SearchHit {
                title: found.title.unwrap_or_default(),
                url: found.url,
                snippet: found.content.unwrap_or_default(),
            };
            Ok(response.results.into_iter().map(hit).collect())
        })
    }
}

/// The engines that did not answer, and why.
fn failed(engines: &Value) -> Vec<String> {
    let pair = |entry: &Value| Some(format!("{} ({})", entry[0].as_str()?, entry[1].as_str()?));
    engines.as_array().into_iter().flatten().filter_map(pair).collect()
}
