//! `remote status`: the queues and runners of a hub.

use super::HubAddress;
use crate::{exit, print};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_command::seam::SERVERS;
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_remote::{RemoteStatus, seam};

/// The time for runners to answer.
const ROLL: Duration = Duration::from_secs(1);

/// The command `remote status`.
pub(crate) struct Status {
    /// The hub of the program, if it has one.
    pub(crate) hub: Option<String>,
}

impl CliCommand for Status {
    fn form(&self) -> CommandForm {
        let form = CommandForm::new("remote status", "Show the queues and runners of a hub")
            .heading(SERVERS)
            .flag("json", "Print JSON");
        HubAddress::options(form)
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(show(arguments, self.hub.as_deref())))
    }
}

/// Exit code 1 if something is wrong.
async fn show(arguments: &CommandArguments, default: Option<&str>) -> ExitCode {
    let hub = match HubAddress::from_arguments(arguments, default) {
        Ok(hub) => hub,
        Err(problem) => {
            print::error(&problem);
            return ExitCode::from(exit::USAGE);
        }
    };
    match status(&hub).await {
        Ok(status) => {
            let text = match arguments.has("json") {
                true => serde_json::to_string_pretty(&status).unwrap_or_default(),
                false => status.to_string().trim_end().to_owned(),
            };
            print::line(&text);
            if status.is_healthy() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) }
        }
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(exit::ERROR)
        }
    }
}

async fn status(hub: &HubAddress) -> Result<RemoteStatus, Box<dyn std::error::Error>> {
    let pool = ToolPool::builder().allow_empty().build()?;
    let remote = seam::remote(hub.connect().await?).start_timeout(ROLL).connect(&pool).await?;
    sleep(ROLL).await;
    let status = remote.status().await;
    remote.close().await;
    Ok(status)
}
