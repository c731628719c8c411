//! Ranked search over the tools of a large pool. Users depend on `tool-runtime`, which exports
//! everything public here as `tool_runtime::search`.
//!
//! [`ToolIndex`] ranks tools by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over the words of
//! their names, descriptions, tags, arguments and the choices of arguments. Words are stemmed, and unknown words match by short
//! form or with one typing error. Stemmer and stop words are English.
//!
//! ```
//! use tool_runtime::prelude::*;
//! use tool_runtime::search::ToolIndex;
//!
//! /// Add two integers.
//! #[tool(read_only)]
//! async fn add(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! let pool = ToolPool::builder().tool::<AddAction>().build()?;
//! let index = ToolIndex::new(&pool.snapshot());
//! assert_eq!(index.search("adding numbers", 5)[0].name, "add");
//! # Ok::<(), tool_runtime::pool::PoolError>(())
//! ```
//!
//! [`ToolSearch`] is such a search as a tool for models. [`ActiveTools`] keeps the tools that it
//! found, for the next request.
//!
//! | Module | Topic |
//! |---|---|
//! | `words`, `fuzzy` | words of documents, words that look alike |
//! | `index`, `query` | the weight of each word in each tool; the best tools for a query |
//! | `tool`, `active`, `deferral` | `tool_search`; the tools of a session; the tools that wait for a search |

mod active;
mod deferral;
mod fuzzy;
mod index;
mod query;
mod tool;
mod words;

pub use active::ActiveTools;
pub use deferral::Deferral;
pub use index::ToolIndex;
pub use query::Hit;
pub use tool::ToolSearch;
