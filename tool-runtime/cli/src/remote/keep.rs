//! `remote keep`: creates the streams of an installation on a NATS server, and those of queues again after its restart.

use super::HubAddress;
use crate::{exit, print, signals};
use std::process::ExitCode;
use std::time::Duration;
use tokio::select;
use tokio::time::sleep;
use tool_runtime_command::seam::SERVERS;
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken};
use tool_runtime_remote::{Board as _, BoardError, NameError, NatsBoard, Queue};

/// The time between two looks at the streams, and two attempts to connect.
const PAUSE: Duration = Duration::from_secs(2);

const ABOUT: &str =
    "Create the streams on a NATS server, and those of the queues again when they are missing";

/// The command `remote keep`.
pub(super) struct Keep;

impl CliCommand for Keep {
    fn form(&self) -> CommandForm {
        let form = CommandForm::new("remote keep", ABOUT).heading(SERVERS).repeated_option(
            "queue",
            "NAME",
            "A queue; repeatable",
        );
        HubAddress::options(form)
    }

    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        Some(Box::pin(keep(arguments)))
    }

    fn serves(&self) -> bool {
        true
    }
}

async fn keep(arguments: &CommandArguments) -> ExitCode {
    let named =
        HubAddress::from_arguments(arguments, None).and_then(|hub| Ok((hub, queues(arguments)?)));
    let (hub, queues) = match named {
        Ok(named) => named,
        Err(problem) => {
            print::error(&problem);
            return ExitCode::from(exit::USAGE);
        }
    };
    match until(&hub, &queues, signals::shutdown_token(false)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(exit::ERROR)
        }
    }
}

fn queues(arguments: &CommandArguments) -> Result<Vec<Queue>, String> {
    let queues = arguments.values("queue").map(str::parse);
    let queues = queues.collect::<Result<Vec<Queue>, NameError>>();
    let queues = queues.map_err(|error| format!("--queue: {error}"))?;
    if queues.is_empty() {
        return Err("name each queue by `--queue NAME`".to_owned());
    }
    Ok(queues)
}

async fn until(
    hub: &HubAddress,
    queues: &[Queue],
    end: CancellationToken,
) -> Result<(), BoardError> {
    let Some(board) = super::run::reach(&end, || Box::pin(hub.connect_nats())).await? else {
        return Ok(());
    };
    let keeping = look(&board, queues);
    end.run_until_cancelled(keeping).await.unwrap_or(Ok(()))
}

/// Looks at the streams again and again. Says once what is wrong, and that it is right again.
async fn look(board: &NatsBoard, queues: &[Queue]) -> Result<(), BoardError> {
    let (mut is_right, mut outage) = (None, None);
    loop {
        match board.keep(queues).await {
            Ok(()) if is_right != Some(true) => {
                is_right = Some(true);
                let names = queues.iter().map(|queue| format!("`{queue}`"));
                let names = names.collect::<Vec<_>>().join(", ");
                print::to_stderr(&format!("keeping {names} at {}", board.address()));
            }
            Ok(()) => {}
            Err(error) if error.is_transient() && is_right != Some(false) => {
                is_right = Some(false);
                print::warning(&format!("{error}; trying again"));
            }
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
        select! {
            now = board.next_outage(&outage) => outage = now,
            () = sleep(PAUSE) => {}
        }
    }
}
