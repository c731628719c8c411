//! Writes the tools that fill the pools: ours, and rmcp's servers with their own. With the three measured tools they are
//! a thousand. Tests, which are built without optimisation, need a hundred: a thousand take a minute to compile.

use std::path::PathBuf;
use std::{env, fs};

/// The three measured tools, as methods of rmcp's servers.
const MEASURED: [&str; 3] = [
    "
    /// Add two integers.
    #[tool(annotations(read_only_hint = true, idempotent_hint = true))]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
",
    "
    /// Search the archive.
    #[tool(annotations(read_only_hint = true))]
    async fn search(&self, Parameters(search): Parameters<Search>) -> Json<tools::Found> {
        let Search { query, limit, tags, filter } = search;
        Json(tools::found(query, limit, tags, filter))
    }
",
    "
    /// Search the archive, and return the hits.
    #[tool(annotations(read_only_hint = true))]
    async fn search_text(&self, Parameters(search): Parameters<Search>) -> String {
        let Search { query, limit, tags, filter } = search;
        tools::search_as_text(query, limit, &tags, &filter)
    }
",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let profile = env::var("PROFILE").expect("cargo sets PROFILE");
    let all = if profile == "release" { 1000 } else { 100 };
    let fillers = all - MEASURED.len();
    write("all.rs", &format!("/// Number of linked tools.\npub const ALL: usize = {all};\n"));
    write("ours.rs", &(0..fillers).map(ours).collect::<String>());
    let [add, search, search_text] = MEASURED;
    let servers = [
        server("AddServer", &[add], 0),
        server("SearchServer", &[search], 0),
        server("SearchTextServer", &[search_text], 0),
        server("Hundred", &MEASURED, 97),
        server("Whole", &MEASURED, fillers),
    ];
    write("rmcp.rs", &servers.concat());
}

fn write(file: &str, text: &str) {
    let directory = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(PathBuf::from(directory).join(file), text).expect("OUT_DIR can be written");
}

fn ours(index: usize) -> String {
    format!(
        "/// Give the number back.
#[tool]
async fn filler_{index}(
    /// A number.
    value: i64,
) -> i64 {{
    value
}}
"
    )
}

/// A server with the attributes' defaults.
fn server(name: &str, measured: &[&str], fillers: usize) -> String {
    let measured = measured.concat();
    let fillers: String = (0..fillers).map(filler).collect();
    format!(
        "/// One of rmcp's servers.
#[derive(Clone, Copy)]
pub struct {name};

#[tool_router(vis = \"pub(crate)\")]
impl {name} {{{measured}{fillers}}}

#[tool_handler]
impl ServerHandler for {name} {{}}
"
    )
}

fn filler(index: usize) -> String {
    format!(
        "
    /// Give the number back.
    #[tool]
    async fn filler_{index}(&self, Parameters(Filler {{ value }}): Parameters<Filler>) -> String {{
        value.to_string()
    }}
"
    )
}
