//! The command `schedule`.

use super::builder::{Schedule, ScheduleError};
use super::event::ScheduleEvent;
use std::io::{self, Write as _};
use std::process::ExitCode;
use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
use tool_runtime::{BoxFuture, CancellationToken, ToolPool};

/// `program schedule [--once]`
pub(crate) struct ScheduleCommand(pub(crate) Schedule);

impl CliCommand for ScheduleCommand {
    fn form(&self) -> CommandForm {
        CommandForm::new("schedule", "Run the jobs of the schedule, until interrupted")
            .flag("once", "Run what is due now, wait for it, and end")
            .after_help(
                "Prints a line for each run. The first SIGINT or SIGTERM lets runs in progress end, or cancels \
                 them after a while.\n\nOne process at a time makes the calls; another one waits until it ends.",
            )
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move {
            match run(&self.0, arguments.has("once"), pool).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    let _ = writeln!(io::stderr(), "error: {error}");
                    ExitCode::FAILURE
                }
            }
        })
    }
}

async fn run(schedule: &Schedule, once: bool, pool: &ToolPool) -> Result<(), ScheduleError> {
    let mut host = schedule.host(pool).on_event(print);
    if once {
        host.tick().await?;
        tokio::select! {
            () = host.idle() => {}
            () = interrupted() => {}
        }
        host.stop().await;
        return Ok(());
    }
    let stop = CancellationToken::new();
    let host = host.run(stop.clone());
    tokio::pin!(host);
    tokio::select! {
        ended = &mut host => return ended,
        () = interrupted() => stop.cancel(),
    }
    host.await
}

/// A closed output does not stop the jobs.
fn print(event: &ScheduleEvent) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{event}").and_then(|()| output.flush());
}

/// Waits for the first signal to end. Without handlers, signals keep their effect.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                Ok(()) = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
