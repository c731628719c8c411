//! The models of [`genai`] for `tool-runtime-agent`: Anthropic, OpenAI, Gemini, and the many that
//! are compatible with them.
//!
//! ```no_run
//! use tool_runtime::prelude::*;
//! use tool_runtime_agent::Agent;
//! use tool_runtime_genai::GenaiModel;
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
//! # async fn run() -> Result<(), ToolError> {
//! // The key is read from the environment: here `ANTHROPIC_API_KEY`.
//! let model = GenaiModel::new("claude-sonnet-4-6")?;
//! let pool = ToolPool::builder().tool::<AddAction>().build()?;
//! println!("{}", Agent::new(model, pool).run("What is 40 + 2?").finish().await?);
//! # Ok(())
//! # }
//! ```
//!
//! | Module | Topic |
//! |---|---|
//! | `model` | requests and answers, whole or streamed |
//! | `format` | definitions, calls and results as genai's types |
//! | `error` | requests that failed |

mod error;
mod format;
mod model;

pub use error::GenaiError;
pub use genai;
pub use model::GenaiModel;
