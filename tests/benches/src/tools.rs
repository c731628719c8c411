//! The calls under test, as tools. They do little work, so that the overhead is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::prelude::*;

/// Add two integers.
#[tool(read_only, idempotent)]
pub async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

/// The exclusions of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The first day.
    pub from: Option<String>,
    /// The last day.
    pub to: Option<String>,
    /// Only these authors.
    #[serde(default)]
    pub authors: Vec<String>,
}

/// A search hit.
#[derive(Serialize, JsonSchema)]
pub struct Hit {
    /// The title.
    pub title: String,
    /// The position in the list.
    pub rank: u32,
}

/// The result of a search.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    /// The query.
    pub query: String,
    /// The time of the answer.
    pub from: Option<String>,
    /// The best hits, best first.
    pub hits: Vec<Hit>,
    /// The number of hits.
    pub total: u32,
}

/// Search the archive.
#[tool(read_only)]
pub async fn search(
    /// The text to look for.
    query: String,
    /// The maximum number of hits.
    #[arg(default = 10)]
    limit: u32,
    /// Only hits with all of these tags.
    tags: Vec<String>,
    /// The text to exclude.
    filter: Filter,
) -> Found {
    found(query, limit, tags, filter)
}

/// Search the archive, and return the hits.
#[tool(read_only)]
pub async fn search_text(
    /// The text to look for.
    query: String,
    /// The maximum number of hits.
    #[arg(default = 10)]
    limit: u32,
    /// Only hits with all of these tags.
    tags: Vec<String>,
    /// The text to exclude.
    filter: Filter,
) -> String {
    search_as_text(query, limit, &tags, &filter)
}

/// The shared body of all three `search`.
pub fn found(query: String, limit: u32, tags: Vec<String>, filter: Filter) -> Found {
    let titles = tags.into_iter().chain(filter.authors).chain(filter.to);
    let hits = titles.zip(1..=limit).map(|(title, rank)| Hit { title, rank });
    let hits: Vec<Hit> = hits.collect();
    Found { query, from: filter.from, total: hits.len() as u32 + 100, hits }
}

/// The shared body of all three `search_text`.
pub fn search_as_text(query: String, limit: u32, tags: &[String], filter: &Filter) -> String {
    let (tags, authors) = (tags.join(", "), filter.authors.join(", "));
    format!("{limit} hits for \"{query}\"\ntagged {tags} by {authors}")
}
