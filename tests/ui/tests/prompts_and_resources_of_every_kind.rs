//! Prompts and resources in every supported form.

#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate std as real;
extern crate tool_runtime as actual;

use actual::prompt::PromptAction as _;
use actual::resource::ResourceAction as _;
use real::primitive::{str, u8, u32, usize};
use real::string::String;
use real::vec::Vec;

#[allow(dead_code)]
mod shadows {
    pub(crate) struct Option;
    pub(crate) struct Result;
    pub(crate) struct Box;
    pub(crate) trait Send {}
    pub(crate) trait Future {}
    pub(crate) mod std {}
    pub(crate) mod core {}
}
#[allow(unused_imports)]
use shadows::*;

/// Begin a match.
#[actual::prompt(
    title = "Match", icon = "data:image/png;base64,AAAA", timeout = "1s",
    action = BeginMatch, crate = ::actual,
)]
pub async fn r#match(
    /// The kind.
    #[arg(complete = kinds, rename = "kind", alias = "sort")]
    mut r#type: String,
    /// The maximum number of results.
    #[arg(default = 2, range = 1..=4)]
    players: u32,
    /// The name of the person.
    whom: real::option::Option<String>,
    context: &actual::ToolContext,
) -> real::result::Result<Vec<actual::PromptMessage>, real::io::Error> {
    let _ = (players, whom, context);
    r#type.push('!');
    real::result::Result::Ok(real::vec![actual::PromptMessage::user(r#type)])
}

async fn kinds(prefix: String, _: &actual::ToolContext) -> Vec<String> {
    real::vec![prefix]
}

/// Run on the blocking pool.
#[actual::prompt(crate = actual)]
fn plain() -> &'static str {
    "plain"
}

/// Run on the thread of the runtime.
#[actual::prompt(inline, crate = actual)]
#[deprecated]
fn here() -> actual::ContentBlock {
    actual::ContentBlock::text("here")
}

#[doc = "How it is"]
#[doc = "configured."]
#[actual::resource("config://app", size = SIZE, priority = 0.5, audience("user"), crate = actual)]
async fn config() -> &'static [u8] {
    b"on"
}

const SIZE: real::primitive::u64 = 2;

/// A page.
#[actual::resource("book://{r_ef}/{+type}", name = "A page", mime_type = "text/plain", crate = actual)]
pub fn page(
    /// The number of the book.
    r_ef: usize,
    /// The page.
    r#type: String,
) -> real::option::Option<Vec<u8>> {
    let _ = r_ef;
    real::option::Option::Some(r#type.into_bytes())
}

macro_rules! named {
    ($name:ident, $uri:literal) => {
        /// Made by a macro.
        #[actual::resource($uri, crate = actual)]
        async fn $name() -> &'static str {
            "made"
        }
    };
}

named!(made, "made://here");

#[::core::prelude::v1::test]
fn compiles_and_runs() {
    /// Inside of a body.
    #[actual::prompt(crate = actual)]
    async fn inside() -> String {
        String::new()
    }

    let pool = actual::ToolPool::builder().linked().build().unwrap();
    let names: Vec<String> = real::iter::Iterator::collect(real::iter::Iterator::map(
        real::iter::IntoIterator::into_iter(pool.prompts()),
        |prompt| real::convert::From::from(prompt.name()),
    ));
    real::assert_eq!(names, ["here", "inside", "match", "plain"]);
    real::assert_eq!(pool.resources().len(), 3);
    real::assert_eq!(BeginMatch::NAME, "match");
    real::assert_eq!(ConfigResource::definition().description, "How it is\nconfigured.");
    real::assert_eq!(ConfigResource::definition().size, real::option::Option::Some(2));
    real::assert_eq!(PageResource::URI, "book://{r_ef}/{+type}");
}
