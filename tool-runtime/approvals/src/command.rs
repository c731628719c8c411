//! The commands `approvals list`, `approve` and `deny`.

use crate::file_store::FileStore;
use crate::store::{ApprovalAnswer, ApprovalStore, StoreError, StoredApproval};
use std::fmt::Write as _;
use std::path::PathBuf;
use tool_runtime_core::Remember;
use tool_runtime_core::seam::printable;

/// Shows and answers the questions in a directory, see [`FileStore`].
///
/// ```
/// use clap::Parser;
/// use tool_runtime::approvals::ApprovalsCommand;
///
/// #[derive(Parser)]
/// enum Command {
///     Approvals(ApprovalsCommand),
/// }
///
/// let command = Command::try_parse_from(["program", "approvals", "--dir", "inbox", "list"]);
/// # assert!(command.is_ok());
/// ```
#[derive(Clone, Debug, clap::Args)]
pub struct ApprovalsCommand {
    /// The directory of the inbox
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Action {
    /// Show the open questions
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a call run
    Approve {
        /// The id of the question, or its beginning
        id: String,
        /// Other arguments, as a JSON object
        #[arg(long, value_name = "OBJECT")]
        args: Option<String>,
        /// Let all such calls of the session run
        #[arg(long)]
        session: bool,
    },
    /// Refuse a call
    Deny {
        /// The id of the question, or its beginning
        id: String,
        /// The reason, which the model reads
        #[arg(long)]
        reason: Option<String>,
    },
}

impl ApprovalsCommand {
    /// Runs the command, and gives the text to print.
    ///
    /// # Errors
    /// The directory cannot be used, or the question cannot be answered.
    pub async fn run(self) -> Result<String, StoreError> {
        let store = FileStore::open(self.dir)?;
        match self.action {
            Action::List { json } => list(&store, json).await,
            Action::Approve { id, args, session } => {
                let mut answer = ApprovalAnswer::approve();
                answer.arguments = args;
                if session {
                    answer.remember = Remember::Session;
                }
                give(&store, &id, answer).await
            }
            Action::Deny { id, reason } => give(&store, &id, ApprovalAnswer::deny(reason)).await,
        }
    }
}

async fn list(store: &dyn ApprovalStore, json: bool) -> Result<String, StoreError> {
    let mut open = store.list().await?;
    open.retain(StoredApproval::is_open);
    if json {
        let text = serde_json::to_string_pretty(&open);
        return text.map_err(|error| StoreError::Failed(error.to_string()));
    }
    let mut text = String::new();
    for stored in &open {
        let request = &stored.request;
        let caller =
            if request.caller.is_empty() { "an anonymous caller" } else { &request.caller };
        let minutes = stored.time_left().as_secs().div_ceil(60);
        let _ = writeln!(
            text,
            "{}  {}",
            &request.id[..8.min(request.id.len())],
            line(&request.question)
        );
        let _ = writeln!(text, "  {}", line(&request.visual));
        let _ = writeln!(text, "  {} of {}, {minutes} min left", line(&request.tool), line(caller));
        if let Some(summary) = &request.summary {
            let _ = writeln!(text, "  the model says: {}", line(summary));
        }
    }
    if open.is_empty() {
        text.push_str("no open questions\n");
    }
    Ok(text)
}

fn line(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join(" ")
}

async fn give(
    store: &dyn ApprovalStore,
    id: &str,
    answer: ApprovalAnswer,
) -> Result<String, StoreError> {
    if let Some(edited) = &answer.arguments
        && let Err(error) =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(edited)
    {
        return Err(StoreError::Failed(format!("`--args` is not a JSON object: {error}")));
    }
    let all = store.list().await?;
    let mut named = all.iter().filter(|stored| !id.is_empty() && stored.request.id.starts_with(id));
    let (Some(found), None) = (named.next(), named.next()) else {
        return Err(StoreError::Unknown(id.to_owned()));
    };
    let done = if answer.is_approved { "approved" } else { "denied" };
    store.answer(&found.request.id, answer).await?;
    Ok(format!("{done}: {}\n", line(&found.request.visual)))
}
