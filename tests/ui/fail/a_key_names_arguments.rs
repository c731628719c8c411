use tool_runtime::prelude::*;

struct Db;

/// Copy a file.
#[tool(
    reads("file:{pth}", "file:{colour}", "db:{_db}", "file:{}", "env:{token}", "file:{more}"),
    writes("", "{_path}", "file:{_path", "file:_path}", "_path", 7)
)]
async fn copy(
    /// The source.
    _path: String,
    _db: &Db,
    /// The token that opens it.
    #[arg(secret)]
    token: String,
    #[arg(flatten)] more: More,
) {
    drop((token, more));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct More {}

/// Access nothing.
#[tool(reads = "file:{path}", writes)]
async fn touch() {}

fn main() {}
