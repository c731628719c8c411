//! Search engines.
//!
//! | Module | Topic |
//! |---|---|
//! | `searxng`, `brave`, `tavily` | engines with APIs |
//! | `request` | a request to an API, its errors |
//! | `links` | links of engines to themselves, and through themselves |

mod brave;
mod links;
mod request;
mod searxng;
mod tavily;

pub use brave::Brave;
pub use searxng::Searxng;
pub use tavily::Tavily;

use dom_query::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use tool_runtime::{BoxFuture, Secret, ToolError};

/// Characters of a snippet.
const MAX_SNIPPET: usize = 1000;

/// A search engine.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::{BoxFuture, ToolError};
/// use tool_runtime_builtins::web::{SearchBackend, SearchHit, SearchParams, SearchQuery, WebParams};
///
/// /// Finds the same page always.
/// struct Wiki;
///
/// impl SearchBackend for Wiki {
///     fn name(&self) -> &str {
///         "wiki"
///     }
///
///     fn search<'a>(&'a self, query: &'a SearchQuery) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
///         let url = format!("https://wiki.example/{}", query.query);
///         Box::pin(async move { Ok(vec![SearchHit::new("A page", url, "Its first words")]) })
///     }
/// }
///
/// let params = WebParams { search: Some(SearchParams::Custom(Arc::new(Wiki))), ..WebParams::default() };
/// ```
pub trait SearchBackend: Send + Sync + 'static {
    /// The name of the engine, for messages.
    fn name(&self) -> &str;

    /// Hosts of the engine itself. Results that lead there are dropped. Default: none.
    fn own_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Searches. The domains of the query are a hint, since results of other domains are dropped anyway; so are those
    /// that are too many. Titles and snippets may be HTML.
    ///
    /// # Errors
    /// The reason, for the model.
    fn search<'a>(
        &'a self,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>>;
}

impl fmt::Debug for dyn SearchBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The search engine of `WebSearch`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "backend", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SearchParams {
    /// An instance of SearXNG that answers in JSON: `json` is one of `search.formats` in its settings.
    Searxng {
        /// Address of the instance.
        url: String,
    },
    /// The API of Brave Search.
    Brave {
        /// Variable of the environment with the key. Default: `BRAVE_API_KEY`.
        #[serde(default = "brave_variable")]
        key_variable: String,
    },
    /// The API of Tavily.
    Tavily {
        /// Variable of the environment with the key. Default: `TAVILY_API_KEY`.
        #[serde(default = "tavily_variable")]
        key_variable: String,
    },
    /// Any other engine, or one of the above with settings from code.
    #[serde(skip)]
    Custom(Arc<dyn SearchBackend>),
}

fn brave_variable() -> String {
    "BRAVE_API_KEY".to_owned()
}

fn tavily_variable() -> String {
    "TAVILY_API_KEY".to_owned()
}

impl SearchParams {
    /// # Errors
    /// The address or the key is missing or invalid.
    pub(super) fn backend(&self) -> Result<Arc<dyn SearchBackend>, String> {
        Ok(match self {
            Self::Searxng { url } => Arc::new(Searxng::new(url)?),
            Self::Brave { key_variable } => Arc::new(Brave::new(key(key_variable)?)?),
            Self::Tavily { key_variable } => Arc::new(Tavily::new(key(key_variable)?)?),
            Self::Custom(backend) => Arc::clone(backend),
        })
    }
}

/// The key in a variable of the environment.
fn key(variable: &str) -> Result<Secret, String> {
    let value = std::env::var(variable).unwrap_or_default();
    let value = value.trim();
    if value.is_empty() {
        return Err(format!(
            "the variable `{variable}` is not set; set it to the key of the search engine"
        ));
    }
    Ok(value.into())
}

/// A request to a search engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub query: String,
    /// The most results, 1 to 20.
    pub num_results: usize,
    /// Only results of these domains; of all if it is empty.
    pub allowed_domains: Vec<String>,
    /// No results of these domains.
    pub blocked_domains: Vec<String>,
}

impl SearchQuery {
    /// The words with operators for the domains, which most engines know.
    fn with_operators(&self) -> String {
        let sites: Vec<String> =
            self.allowed_domains.iter().map(|domain| format!("site:{domain}")).collect();
        let blocked = self.blocked_domains.iter().map(|domain| format!("-site:{domain}"));
        let words = std::iter::once(self.query.clone());
        let sites = (!sites.is_empty()).then(|| sites.join(" OR "));
        words.chain(sites).chain(blocked).collect::<Vec<_>>().join(" ")
    }
}

/// A result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchHit {
    /// Title of the page.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A part of its text.
    pub snippet: String,
}

impl SearchHit {
    /// A result.
    pub fn new(
        title: impl Into<String>,
        url: impl Into<String>,
        snippet: impl Into<String>,
    ) -> Self {
        Self { title: title.into(), url: url.into(), snippet: snippet.into() }
    }
}

/// The results of a search, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchOutput {
    /// The words.
    pub query: String,
    /// The results.
    pub results: Vec<SearchHit>,
}

impl fmt::Display for SearchOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.results.is_empty() {
            return write!(
                f,
                "[no results for \"{}\"; try other words or fewer domains]",
                self.query
            );
        }
        for (index, hit) in self.results.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n\n" };
            write!(f, "{end}{}. {}\n   {}", index + 1, hit.title, hit.url)?;
            if !hit.snippet.is_empty() {
                write!(f, "\n   {}", hit.snippet)?;
            }
        }
        Ok(())
    }
}

/// Searches, and cleans the results.
pub(super) async fn run(
    backend: &dyn SearchBackend,
    mut query: SearchQuery,
) -> Result<SearchOutput, ToolError> {
    for domains in [&mut query.allowed_domains, &mut query.blocked_domains] {
        for domain in domains {
            *domain = links::domain(domain)?;
        }
    }
    let found = backend.search(&query).await?;
    let own_hosts = backend.own_hosts();
    let mut seen = HashSet::new();
    let cleaned = found.into_iter().filter_map(|hit| {
        let url = links::target(&hit.url, &own_hosts)?;
        let is_wanted = links::is_wanted(&url, &query) && seen.insert(url.clone());
        is_wanted.then(|| clean(hit, url.into()))
    });
    let results = cleaned.take(query.num_results).collect();
    Ok(SearchOutput { query: query.query, results })
}

/// A result in plain text.
fn clean(hit: SearchHit, url: String) -> SearchHit {
    let (title, snippet) = (plain(&hit.title), plain(&hit.snippet));
    let title = if title.is_empty() { url.clone() } else { title };
    SearchHit { title, url, snippet: snippet.chars().take(MAX_SNIPPET).collect() }
}

/// A short text without tags, entities and line breaks.
fn plain(html: &str) -> String {
    let short: String = html.chars().take(4 * MAX_SNIPPET).collect();
    let text = if short.contains(['<', '&']) {
        Document::fragment(short.as_str()).text().to_string()
    } else {
        short
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
