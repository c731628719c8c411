use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Guest {
    _name: String,
}

async fn lists(context: &ToolContext) {
    let _ = context.ask::<Vec<Vec<String>>>("rows", "Which rows?").await;
}

async fn strings(context: &ToolContext) {
    let _ = context.ask::<Vec<String>>("names", "Which names?").await;
}

async fn underived(context: &ToolContext) {
    let _ = context.ask::<Guest>("guest", "Who is coming?").await;
}

async fn optional(context: &ToolContext) {
    let _ = context.ask::<Option<bool>>("sure", "Sure?").await;
}

fn main() {}
