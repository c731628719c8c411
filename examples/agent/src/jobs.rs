//! Runs the jobs that the agent schedules, while the program lives.

use crate::BoxError;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tool_runtime::{CancellationToken, ToolPool};
use tool_runtime_builtins::Workspace;
use tool_runtime_builtins::schedule::{RunState, Schedule, ScheduleError};

/// Opens the jobs in a directory. They may run each second here, so that the example is short.
pub(crate) fn open(workspace: &Workspace, directory: &Path) -> Result<Schedule, ScheduleError> {
    let file = directory.join("schedule.db");
    Schedule::builder(workspace).file(file).min_interval(Duration::from_secs(1)).open()
}

/// The host of the jobs.
pub(crate) struct Jobs {
    stop: CancellationToken,
    ended: UnboundedReceiver<()>,
    host: JoinHandle<Result<(), ScheduleError>>,
}

impl Jobs {
    /// Starts the host, which prints each run.
    pub(crate) fn start(schedule: &Schedule, pool: &ToolPool) -> Self {
        let (sender, ended) = unbounded_channel();
        let host = schedule.host(pool).on_event(move |event| {
            println!("job {event}");
            if matches!(event.state, RunState::Succeeded | RunState::Failed) {
                // The receiver is gone once the program ends.
                let _ = sender.send(());
            }
        });
        let stop = CancellationToken::new();
        let host = tokio::spawn(host.run(stop.clone()));
        Self { stop, ended, host }
    }

    /// Waits for the ends of some runs, and stops the host.
    pub(crate) async fn finish(mut self, runs: usize) -> Result<(), BoxError> {
        for _ in 0..runs {
            self.ended.recv().await.ok_or("the host of the jobs has ended")?;
        }
        self.stop.cancel();
        Ok(self.host.await??)
    }
}
