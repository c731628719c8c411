//! Tools for people at a terminal: options of every kind, progress, logs, questions, images, a destructive one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::approvals::AskCaller;
use tool_runtime::content::ResourceContents;
use tool_runtime::hook::{Before, Hook};
use tool_runtime::peer::LogLevel;
use tool_runtime::prelude::*;

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Newest,
    Best,
}

/// A book.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
struct Book {
    /// The title.
    title: String,
    /// The year.
    #[serde(default)]
    year: Option<i32>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    query: String,
    sort: Option<Sort>,
    limit: u32,
    tags: Vec<String>,
    book: Option<Book>,
    exact: bool,
    env: BTreeMap<String, String>,
}

/// Search the shelf.
///
/// The result repeats what was asked for.
#[tool(read_only, idempotent)]
#[allow(clippy::too_many_arguments)]
async fn search(
    /// The text to search for.
    #[arg(length = 1..=200)]
    query: String,
    /// Order of the results.
    sort: Option<Sort>,
    /// The most results.
    #[arg(default = 5, range = 1..=50)]
    limit: u32,
    /// Only books with these tags.
    #[arg(default)]
    tags: Vec<String>,
    /// A book that is like them.
    book: Option<Book>,
    /// Whether case matters.
    #[arg(default)]
    exact: bool,
    /// Variables.
    #[arg(default)]
    env: BTreeMap<String, String>,
    /// The result's own format.
    #[arg(default = "text")]
    json: String,
) -> Json<Found> {
    drop(json);
    Json(Found { query, sort, limit, tags, book, exact, env })
}

/// Log in.
#[tool]
async fn login(
    /// The user.
    user: String,
    /// The password.
    #[arg(secret)]
    password: String,
) -> String {
    format!("{user} has a password of {} characters", password.len())
}

/// Copy files.
#[tool(progress)]
async fn copy(
    /// How many.
    count: u32,
    context: &ToolContext,
) -> String {
    for file in 1..=count {
        context.progress(file, count, format_args!("file {file}"));
    }
    context.log(LogLevel::Debug, "hidden");
    context.log(LogLevel::Warning, "one file is old");
    format!("{count} files")
}

#[derive(Debug, Form, JsonSchema, Deserialize, Serialize)]
struct Order {
    /// What to drink
    drink: Drink,
    /// How many
    #[schemars(range(min = 1, max = 9))]
    #[serde(default = "one")]
    cups: u8,
}

fn one() -> u8 {
    1
}

#[derive(Debug, Form, JsonSchema, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Drink {
    Tea,
    Coffee,
}

/// Take an order.
#[tool]
async fn order(context: &ToolContext) -> Result<String, ToolError> {
    match context.ask::<Order>("order", "Your order, please.").await?.accepted() {
        Some(Order { drink, cups }) => Ok(format!("{cups} x {drink:?}")),
        None => Ok("no order".to_owned()),
    }
}

/// A line of a delivery.
#[derive(JsonSchema, Deserialize)]
struct Line {
    /// The book.
    book: String,
    /// How many.
    #[schemars(range(min = 1))]
    count: u32,
    /// A remark.
    note: Option<String>,
}

/// The way that books take.
#[derive(JsonSchema, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
enum Way {
    /// By mail.
    Mail {
        /// The street.
        street: String,
    },
    /// Fetched.
    Pickup,
}

/// Deliver books.
#[tool]
async fn deliver(
    /// The lines.
    lines: Vec<Line>,
    /// The way.
    way: Way,
    /// Names of shelves, each with a number.
    #[arg(default)]
    shelves: BTreeMap<String, u32>,
) -> String {
    let count: u32 = lines.iter().map(|line| line.count).sum();
    let notes = lines.iter().filter(|line| line.note.is_some()).count();
    let books: Vec<&str> = lines.iter().map(|line| &*line.book).collect();
    let way = match way {
        Way::Mail { street } => format!("to {street}"),
        Way::Pickup => "fetched".to_owned(),
    };
    format!("{count} of {}, {notes} notes, {way}, {} shelves", books.join(", "), shelves.len())
}

/// Draw a dot.
#[tool(read_only)]
async fn draw() -> ContentBlock {
    ContentBlock::image("iVBORw0KGgo=", "image/png")
}

/// Delete everything.
#[tool(destructive)]
async fn purge() -> &'static str {
    "purged"
}

/// Wait until the call is cancelled.
#[tool]
async fn wait(context: &ToolContext) -> &'static str {
    context.log(LogLevel::Info, "waiting");
    std::future::pending().await
}

/// Greet a person.
#[prompt]
async fn greet(
    /// The person.
    name: String,
    /// The greeting.
    greeting: Option<String>,
) -> String {
    format!("{}, {name}!", greeting.unwrap_or_else(|| "Hello".to_owned()))
}

/// The house rules.
#[resource("shelf://rules", mime_type = "text/plain")]
async fn rules() -> &'static str {
    "Be kind."
}

/// The cover.
#[resource("shelf://cover", mime_type = "image/png")]
async fn cover() -> ResourceContents {
    ResourceContents::blob("shelf://cover", "aGVsbG8=").with_mime_type("image/png")
}

/// A mistake of servers: standard output is for messages.
struct Greeting;

impl Greeting {
    #[expect(clippy::print_stdout, reason = "what `doctor` finds")]
    fn print() -> Self {
        if std::env::var_os("TERMINAL_TOOLS_GREETS").is_some() {
            println!("Hello!");
        }
        Self
    }
}

/// A question to the caller before each drawing.
fn with_question(pool: ToolPoolBuilder) -> ToolPoolBuilder {
    if std::env::var_os("TERMINAL_TOOLS_ASKS").is_none() {
        return pool;
    }
    pool.hook(Hook::before("draw", |_| async { Before::ask("May this run?") }))
        .approver(AskCaller::new())
}

tool_runtime::main!(state = Greeting::print(), pool = with_question);
