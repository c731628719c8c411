//! Generated code passes strict lints.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub,
    unused,
    unused_qualifications,
    unused_results,
    unused_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    variant_size_differences,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    non_ascii_idents,
    redundant_lifetimes,
    unit_bindings,
    unnameable_types,
    unsafe_op_in_unsafe_fn,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    future_incompatible,
    nonstandard_style,
    keyword_idents
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(linker_messages)]
// About the functions that are written here, as short as a test allows.
#![allow(clippy::missing_const_for_fn, clippy::must_use_candidate, clippy::unused_async)]

use tool_runtime::prelude::{Toolset, tool, toolset};
use tool_runtime::{ToolContext, ToolError, ToolPool};

/// A word of the list.
#[derive(Debug, Default)]
pub struct Words(Vec<String>);

/// Find words.
#[tool(read_only, idempotent, timeout = "30s", tags("words"))]
pub async fn find(
    /// The text to search for.
    #[arg(length = 1..=20, pattern = "^[a-z]+$", example = "rust")]
    query: String,
    /// The maximum number of results.
    #[arg(default = 10, range = 1..=50)]
    limit: usize,
    /// The language to search in.
    #[arg(default)]
    language: Option<String>,
    words: &Words,
) -> Vec<String> {
    let language = language.unwrap_or_default();
    words
        .0
        .iter()
        .filter(|word| word.contains(&query) && word.starts_with(&language))
        .take(limit)
        .cloned()
        .collect()
}

/// Do nothing.
#[tool]
pub fn nothing() {}

/// An old way.
#[deprecated(note = "use `find`")]
#[tool]
pub fn old(
    /// The text to search for.
    query: String,
) -> String {
    query
}

#[allow(deprecated)]
pub use going::Old;

#[allow(deprecated)]
mod going {
    /// A type that is going away.
    #[deprecated]
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    pub struct Old {
        /// The text.
        pub text: String,
    }
}

/// Take a type that is going away.
#[tool]
#[expect(deprecated)]
pub async fn take_old(
    /// The old one.
    old: Old,
) -> String {
    old.text
}

/// Return a value that must be used.
#[tool(inline)]
#[must_use]
pub fn insist(
    /// An argument that is not read.
    #[allow(unused_variables)]
    unread: bool,
    /// An argument that the function changes.
    mut counted: u32,
) -> u32 {
    counted += 1;
    counted
}

#[toolset(tags("words"))]
impl Words {
    /// The maximum number of words.
    pub const LIMIT: usize = 1000;

    /// Count the words.
    #[tool(read_only, reads("words:"))]
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Say a word.
    #[tool(writes("words:{index}"))]
    #[allow(deprecated)]
    pub async fn say(
        &self,
        /// The number.
        index: u64,
        /// The old one.
        old: Old,
        #[arg(undocumented)] mut times: u32,
    ) -> String {
        times += 1;
        let index = usize::try_from(index).unwrap_or(Self::LIMIT);
        self.0.get(index).map_or(old.text, |word| word.repeat(times as usize))
    }

    /// An old way.
    #[deprecated(note = "use `say`")]
    #[tool]
    pub const fn old(&self) {}
}

impl Toolset for Words {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::default())
    }
}

#[test]
fn compiles_and_runs() {
    let pool = ToolPool::builder().linked().state(Words::default()).build().unwrap();
    assert_eq!(pool.tools().len(), 5);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let json = runtime.block_on(pool.call_json("insist", r#"{"unread":true,"counted":1}"#));
    assert!(json.contains("\"2\""), "{json}");
    let json = runtime.block_on(pool.call_json("old", r#"{"query":"a"}"#));
    assert!(json.contains("\"a\""), "{json}");
}
