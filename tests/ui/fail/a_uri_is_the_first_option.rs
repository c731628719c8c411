use tool_runtime::prelude::*;

/// The notes.
#[resource(uri = "notes://all", mime_type = "text/plain")]
async fn notes() -> String {
    String::new()
}

// Not an error: the resource is made.
async fn run(context: &ToolContext) -> String {
    use tool_runtime::resource::ResourceAction;
    NotesResource {}.run(context).await
}

fn main() {}
