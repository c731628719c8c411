//! The command `schedule`.

use super::builder::{Schedule, ScheduleError};
use super::event::ScheduleEvent;
use super::job::RunState;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
use tool_runtime::{BoxFuture, CancellationToken, ToolPool};

/// `program schedule [--once]`
pub(crate) struct ScheduleCommand(pub(crate) Schedule);

impl CliCommand for ScheduleCommand {
    fn form(&self) -> CommandForm {
        CommandForm::new("schedule", "Run the jobs of the schedule, until interrupted").heading("Servers")
            .flag("once", "Run what is due now, wait for it, and end: with code 1 if a run failed")
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
            let ended = match arguments.has("once") {
                true => run_once(&self.0, pool).await,
                false => run(&self.0, pool).await.map(|()| true),
            };
            match ended {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::FAILURE,
                Err(error) => {
                    let _ = writeln!(io::stderr(), "error: {error}");
                    ExitCode::FAILURE
                }
            }
        })
    }
}

/// Makes the runs that are due. Returns whether they were made, and none failed.
async fn run_once(schedule: &Schedule, pool: &ToolPool) -> Result<bool, ScheduleError> {
    let has_failed = Arc::new(AtomicBool::new(false));
    let mut host = schedule.host(pool).on_event({
        let has_failed = Arc::clone(&has_failed);
        move |event| {
            has_failed.fetch_or(event.state == RunState::Failed, Ordering::Relaxed);
            print(event);
        }
    });
    host.tick().await?;
    if host.lock.is_none() {
        let _ = writeln!(io::stderr(), "error: another process runs the schedule; nothing was run");
        return Ok(false);
    }
    tokio::select! {
        () = host.idle() => {}
        () = interrupted() => {}
    }
    host.stop().await;
    Ok(!has_failed.load(Ordering::Relaxed))
}

async fn run(schedule: &Schedule, pool: &ToolPool) -> Result<(), ScheduleError> {
    let host = schedule.host(pool).on_event(print);
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
