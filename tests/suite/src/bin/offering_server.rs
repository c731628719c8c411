//! A server with prompts and resources, whose tools change its lists.

use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tool_runtime::completion::CompletionContext;
use tool_runtime::content::ResourceContents;
use tool_runtime::mcp::CacheScope;
use tool_runtime::mcp::McpServer;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

static POOL: OnceLock<ToolPool> = OnceLock::new();

fn pool() -> &'static ToolPool {
    POOL.get().expect("the server runs")
}

/// State that prompts and resources borrow.
struct Shelf(&'static str);

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Focus {
    /// Slow parts.
    Speed,
    /// Parts that can fail.
    Safety,
}

/// Say hello.
#[prompt(title = "Hello", icon = "https://example.com/hello.png")]
async fn hello() -> &'static str {
    "Hello!"
}

/// Review a piece of code.
#[prompt]
fn review(
    /// The code.
    #[arg(length = 1..)]
    code: String,
    /// The text to search for.
    focus: Option<Focus>,
    /// The number of lines.
    #[arg(default = 10, range = 1..=20)]
    lines: u32,
    shelf: &Arc<Shelf>,
) -> Vec<PromptMessage> {
    let focus = match focus {
        Some(Focus::Speed) => "speed",
        Some(Focus::Safety) => "safety",
        None => "all",
    };
    vec![
        PromptMessage::user(format!("{code} for {focus} in {lines} from {}", shelf.0)),
        PromptMessage::assistant("Gladly."),
    ]
}

async fn chapters(prefix: String, context: &ToolContext) -> Vec<String> {
    let completion = context.get::<CompletionContext>();
    let book = completion
        .and_then(|completion| completion.arguments.get("book").cloned())
        .unwrap_or_default();
    (0..150).map(|n| format!("{book}{prefix}{n}")).collect()
}

fn books(prefix: String) -> Vec<&'static str> {
    ["atlas", "novel"].into_iter().filter(|book| book.starts_with(&prefix)).collect()
}

/// Sum up a chapter.
#[prompt]
async fn summary(
    /// The book.
    #[arg(complete = books)]
    book: String,
    /// The chapter.
    #[arg(complete = chapters)]
    chapter: String,
) -> Result<PromptMessage, ToolError> {
    match book.as_str() {
        "secret" => Err(ToolError::internal("password=hunter2")),
        "lost" => Err(ToolError::user("that book is lost; ask for another")),
        "boom" => panic!("boom"),
        _ => Ok(PromptMessage::user(chapter)),
    }
}

/// Take forever.
#[prompt(timeout = "50ms")]
async fn patience() -> String {
    std::future::pending().await
}

/// The configuration of the program.
#[resource(
    "config://app",
    mime_type = "application/json",
    size = 11,
    audience("user"),
    priority = 0.5
)]
async fn config(shelf: &Arc<Shelf>) -> Json<serde_json::Value> {
    Json(serde_json::json!({ "on": shelf.0 }))
}

/// One note.
#[resource("notes://{id}", mime_type = "text/plain", title = "Note")]
async fn note(
    /// The note's number.
    id: u32,
) -> Option<String> {
    (id < 10).then(|| format!("note {id}"))
}

/// The first note, a resource of its own URI beside the template.
#[resource("notes://0")]
async fn first_note() -> &'static str {
    "the first"
}

/// A file.
#[resource("file:///{+path}", mime_type = "application/octet-stream")]
fn file(
    /// Its path.
    path: String,
) -> std::io::Result<Vec<u8>> {
    match path.as_str() {
        "no" => Err(std::io::Error::other("no disk")),
        path => Ok(path.into()),
    }
}

/// A text about a topic, in two languages.
#[resource("talk://{topic}")]
async fn talk(
    /// The topic.
    #[arg(complete = books)]
    topic: String,
) -> Vec<ResourceContents> {
    let contents =
        |language: &str| ResourceContents::text(format!("talk://{topic}/{language}"), language);
    vec![contents("en"), contents("de")]
}

/// Notify clients that a resource has changed.
#[tool]
async fn notify_change(
    /// The URI of the resource.
    uri: String,
) {
    pool().resource_updated(uri);
}

/// Add a tool, a prompt and a resource, or one of them.
#[tool]
async fn add_items(
    /// Their common name.
    name: String,
    /// `tool`, `prompt`, `resource`.
    kinds: Vec<String>,
) -> Result<(), ToolError> {
    let source = Source::owner("grown");
    for kind in kinds {
        match kind.as_str() {
            "tool" => {
                let tool = Tool::builder(name.clone(), "Grown.").handler(|| async { "grown" });
                pool().add_tools(&source, [tool])?;
            }
            "prompt" => {
                let prompt = Prompt::builder(name.clone(), "Grown.").handler(|| async { "grown" });
                pool().add_prompts(&source, [prompt])?;
            }
            _ => {
                let resource = Resource::builder(format!("grown://{name}"), name.clone(), "Grown.");
                pool().add_resources(&source, [resource.handler(|| async { "grown" })])?;
            }
        }
    }
    Ok(())
}

/// Remove a prompt and a resource.
#[tool]
async fn remove_items(
    /// Their common name.
    name: String,
) -> Result<(), ToolError> {
    let source = Source::owner("grown");
    pool().remove_prompts(&source, [name.clone()])?;
    pool().remove_resources(&source, [format!("grown://{name}")])?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = POOL.get_or_init(|| {
        let builder = ToolPool::builder().linked().state(Arc::new(Shelf("shelf")));
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    });
    let mut server = McpServer::new(pool.clone(), "offering", "1.0.0");
    if std::env::args().any(|word| word == "paged") {
        let hint = Duration::from_secs(30);
        server = server.with_page_size(2).with_cache_hint(hint, CacheScope::Public);
    }
    server.serve_stdio().await?;
    Ok(())
}
