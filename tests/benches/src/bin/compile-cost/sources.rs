//! The sources of the throwaway crates: the same tools with each set of macros.

use std::fmt;
use std::fmt::Write as _;

/// The macros, and the program around the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Ours with the command line, by `main!`.
    Ours,
    /// Ours with the server alone, in a `main` like rmcp's.
    Library,
    Rmcp,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Ours, Self::Library, Self::Rmcp];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Library => "library",
            Self::Rmcp => "rmcp",
        })
    }
}

/// A server of `size` tools. Every other one returns a struct, the rest text; `edit` changes the
/// body of one of them.
pub(crate) fn server(kind: Kind, size: usize, edit: usize) -> String {
    let tools = 0..size;
    match kind {
        Kind::Ours | Kind::Library => {
            let tools: String = tools.map(|index| ours(index, edit)).collect();
            let main = if kind == Kind::Ours { "tool_runtime::main!();\n" } else { LIBRARY_MAIN };
            format!("use tool_runtime::prelude::*;\n{FOUND}{tools}\n{main}")
        }
        Kind::Rmcp => {
            let arguments: String = (0..size).map(arguments).collect();
            let tools: String = tools.map(|index| method(index, edit)).collect();
            format!(
                "{RMCP_HEAD}{FOUND}{arguments}\n#[tool_router(server_handler)]\nimpl Server {{\n{tools}}}\n{RMCP_MAIN}"
            )
        }
    }
}

const FOUND: &str = "
/// The result of a search.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    /// The best hits.
    best: String,
    /// Number of hits.
    total: i64,
}
";

const LIBRARY_MAIN: &str = r#"#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ToolPool::builder().linked().build()?;
    let server = tool_runtime::mcp::McpServer::new(pool, env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    server.serve_stdio().await?;
    Ok(())
}
"#;

const RMCP_HEAD: &str = "use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{Json, ServiceExt, tool, tool_router};
";

const RMCP_MAIN: &str = "
#[derive(Clone)]
struct Server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
";

/// Four arguments, each with a description.
const FIELDS: [(&str, &str, &str); 4] = [
    ("count", "i64", "How many to look at."),
    ("title", "Option<String>", "Only those with this title."),
    ("tags", "Vec<String>", "Only those with all of these tags."),
    ("exact", "bool", "Whether case matters."),
];

fn fields() -> String {
    let mut text = String::new();
    for (name, ty, docs) in FIELDS {
        let _ = writeln!(text, "    /// {docs}\n    {name}: {ty},");
    }
    text
}

fn returns_struct(index: usize) -> bool {
    index.is_multiple_of(2)
}

fn ours(index: usize, edit: usize) -> String {
    let output = if returns_struct(index) { "Found" } else { "String" };
    format!(
        "\n/// Look for something, number {index}.\n#[tool(read_only)]\nasync fn tool_{index}(\n{}) -> {output} {{\n{}}}\n",
        fields(),
        body(index, edit, |found| found.to_owned()),
    )
}

fn arguments(index: usize) -> String {
    format!(
        "\n#[derive(serde::Deserialize, schemars::JsonSchema)]\nstruct Arguments{index} {{\n{}}}\n",
        fields()
    )
}

fn method(index: usize, edit: usize) -> String {
    let output = if returns_struct(index) { "Json<Found>" } else { "String" };
    let names: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
    let (names, arguments) = (names.join(", "), format!("Arguments{index}"));
    format!(
        "/// Look for something, number {index}.\n#[tool(annotations(read_only_hint = true))]\nasync fn tool_{index}(&self, Parameters({arguments} {{ {names} }}): Parameters<{arguments}>) -> {output} {{\n{}}}\n",
        body(index, edit, |found| format!("Json({found})")),
    )
}

fn body(index: usize, edit: usize, wrapped: impl Fn(&str) -> String) -> String {
    let edit = if index == 0 { edit } else { 0 };
    let text = "format!(\"{} {} {exact}\", title.unwrap_or_default(), tags.join(\" \"))";
    if returns_struct(index) {
        let found = wrapped("Found { best, total }");
        format!("    let best = {text};\n    let total = count + {edit};\n    {found}\n")
    } else {
        format!("    let text = {text};\n    format!(\"{{text}} {{count}} {edit}\")\n")
    }
}
