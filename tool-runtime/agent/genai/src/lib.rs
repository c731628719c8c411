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
//! # Exports as types
//!
//! A program with a loop of its own needs neither this package nor an agent. The definitions of an
//! export are the types of a client library, here those of `async-openai` and of [`genai`]:
//!
//! ```
//! use async_openai::types::{chat::ChatCompletionTools, responses};
//! use genai::chat::Tool as GenaiTool;
//! use tool_runtime::export::Api;
//! use tool_runtime::prelude::*;
//!
//! let read = Tool::builder("fs.read", "Read a file.").handler(|| async { "text" });
//! let pool = ToolPool::builder().add(read).build()?;
//! let snapshot = pool.snapshot();
//!
//! let chat: Vec<ChatCompletionTools> = snapshot.export(Api::OpenAiChat).to_types()?;
//! let ChatCompletionTools::Function(tool) = &chat[0] else { panic!("a function") };
//! assert_eq!(tool.function.name, "fs__read");
//!
//! let tools: Vec<responses::Tool> = snapshot.export(Api::OpenAiResponses).to_types()?;
//! assert!(matches!(&tools[0], responses::Tool::Function(tool) if tool.name == "fs__read"));
//!
//! // genai has its own names for the members of a definition.
//! let tools = snapshot.export(Api::Gemini).definitions()[0]["functionDeclarations"].clone();
//! let tools = tools.as_array().into_iter().flatten().map(|tool| {
//!     GenaiTool::new(tool["name"].as_str().unwrap_or_default())
//!         .with_description(tool["description"].as_str().unwrap_or_default())
//!         .with_schema(tool["parametersJsonSchema"].clone())
//! });
//! assert_eq!(tools.count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Module | Topic |
//! |---|---|
//! | `model` | requests and responses, whole or streamed |
//! | `format` | definitions, calls and results as genai's types |
//! | `error` | requests that failed |

mod error;
mod format;
mod model;

pub use error::GenaiError;
pub use genai;
pub use model::GenaiModel;
