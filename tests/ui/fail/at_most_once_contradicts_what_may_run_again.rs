use tool_runtime::prelude::*;

/// Send a mail.
#[tool(at_most_once, safe_to_retry)]
async fn send() {}

/// Read the mails.
#[tool(read_only, at_most_once)]
async fn read() {}

/// Say it, with a value.
#[tool(at_most_once = true)]
async fn say() {}

struct Mailbox;

#[toolset(idempotent, safe_to_retry)]
impl Mailbox {
    /// Empty the mailbox.
    #[tool(at_most_once)]
    async fn empty(&self) {}

    /// Forward all mails.
    #[tool(at_most_once, idempotent = false)]
    async fn forward(&self) {}

    /// Mark all mails as read.
    #[tool(safe_to_retry)]
    async fn mark(&self) {}
}

impl Toolset for Mailbox {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
