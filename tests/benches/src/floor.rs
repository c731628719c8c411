//! The same calls by hand, as fast as safe Rust with serde allows without tricks: `match` on the
//! name, one derived struct per tool, one output buffer that is usually large enough. The bytes
//! equal those of the pool.

use crate::tools::{self, Filter};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    #[serde(default = "ten")]
    limit: u32,
    tags: Vec<String>,
    filter: Filter,
}

fn ten() -> u32 {
    10
}

/// Runs a call.
pub async fn call(name: &str, arguments: &str) -> String {
    match name {
        "add" => match parsed::<Add>(arguments) {
            Ok(Add { a, b }) => number(tools::add(a, b).await),
            Err(error) => error,
        },
        "search" => match parsed::<Search>(arguments) {
            Ok(Search { query, limit, tags, filter }) => {
                structured(&tools::search(query, limit, tags, filter).await)
            }
            Err(error) => error,
        },
        "search_text" => match parsed::<Search>(arguments) {
            Ok(Search { query, limit, tags, filter }) => {
                text(&tools::search_text(query, limit, tags, filter).await)
            }
            Err(error) => error,
        },
        unknown => text(&format!("unknown tool `{unknown}`")),
    }
}

fn parsed<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    serde_json::from_str(arguments).map_err(|error| text(&error.to_string()))
}

const BEGIN: &[u8] = br#"{"content":[{"type":"text","text":"#;

/// A number as text, in quotes.
fn number(number: i64) -> String {
    let mut json = Vec::with_capacity(64);
    json.extend_from_slice(BEGIN);
    json.push(b'"');
    push(&mut json, &number);
    json.extend_from_slice(br#""}]}"#);
    finished(json)
}

fn text(text: &str) -> String {
    let mut json = Vec::with_capacity(64 + text.len());
    json.extend_from_slice(BEGIN);
    push(&mut json, text);
    json.extend_from_slice(b"}]}");
    finished(json)
}

/// The value, and its JSON as text in front of it.
fn structured(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_string(value).expect("the value has string keys");
    let mut json = Vec::with_capacity(64 + value.len() * 5 / 2);
    json.extend_from_slice(BEGIN);
    push(&mut json, value.as_str());
    json.extend_from_slice(br#"}],"structuredContent":"#);
    json.extend_from_slice(value.as_bytes());
    json.push(b'}');
    finished(json)
}

fn push<T: serde::Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("texts and numbers always serialise");
}

fn finished(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("serde_json writes UTF-8")
}
