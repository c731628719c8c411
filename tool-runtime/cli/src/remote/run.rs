//! `run`: serves the tools of the program to the callers of a queue.

use super::HubAddress;
use crate::{exit, print, signals};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_command::seam::SERVERS;
use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken};
use tool_runtime_remote::{BoardError, RunnerNews, seam};

/// The pause between two attempts to reach the hub for the first time.
const PAUSE: Duration = Duration::from_secs(1);

/// The command `run`.
pub(super) struct Run {
    /// The name and version of the program.
    pub(super) program: String,
}

impl CliCommand for Run {
    fn form(&self) -> CommandForm {
        let form =
            CommandForm::new("run", "Run the tools for other programs, as a runner of a hub")
                .heading(SERVERS)
                .option(
                    "queue",
                    "NAME",
                    "The queue, which replicas share; default: the name of the program",
                )
                .option("slots", "N", "The number of calls that run at the same time; default: 16")
                .repeated_option("label", "NAME=VALUE", "A label, by which callers select runners");
        HubAddress::options(form)
    }

    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        Box::pin(async move {
            let settings = HubAddress::from_arguments(arguments, None)
                .and_then(|hub| Ok((hub, Settings::from_arguments(arguments)?)));
            let (hub, settings) = match settings {
                Ok(settings) => settings,
                Err(problem) => {
                    print::error(&problem);
                    return ExitCode::from(exit::USAGE);
                }
            };
            match self.serve(&hub, settings, pool).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    print::error(&error.to_string());
                    ExitCode::from(exit::ERROR)
                }
            }
        })
    }

    fn serves(&self) -> bool {
        true
    }
}

/// The options of a runner.
struct Settings {
    queue: Option<tool_runtime_remote::Queue>,
    slots: Option<usize>,
    labels: Vec<(String, String)>,
}

impl Settings {
    fn from_arguments(arguments: &CommandArguments) -> Result<Self, String> {
        let queue = arguments.value("queue").map(str::parse).transpose();
        let queue =
            queue.map_err(|error: tool_runtime_remote::NameError| format!("--queue: {error}"))?;
        let slots = arguments.value("slots").map(slots).transpose()?;
        let label = |text: &str| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(format!("--label: `{text}` is not `NAME=VALUE`")),
        };
        let labels = arguments.values("label").map(label).collect::<Result<_, _>>()?;
        Ok(Self { queue, slots, labels })
    }
}

fn slots(text: &str) -> Result<usize, String> {
    let slots = text.parse().ok().filter(|slots| *slots >= 1);
    slots.ok_or_else(|| format!("--slots: `{text}` is not a number from 1 on"))
}

impl Run {
    async fn serve(
        &self,
        hub: &HubAddress,
        settings: Settings,
        pool: &ToolPool,
    ) -> Result<(), BoardError> {
        let end = signals::shutdown_token(false);
        let Some(board) = reach(&end, || Box::pin(hub.connect())).await? else { return Ok(()) };
        let mut runner = seam::runner(board).program(&*self.program);
        if let Some(queue) = settings.queue {
            runner = runner.queue(queue);
        }
        if let Some(slots) = settings.slots {
            runner = runner.slots(slots);
        }
        for (name, value) in settings.labels {
            runner = runner.label(name, value);
        }
        let url = hub.redacted();
        let runner = runner.on_news(move |news| report(news, &url));
        runner.serve_until(pool, &end).await
    }
}

fn report(news: &RunnerNews, url: &str) {
    match news {
        RunnerNews::Accepted { queue, tools, slots } => {
            let has_none = *tools == 0;
            let (tools, slots) = (counted(*tools, "tool"), counted(*slots, "slot"));
            print::to_stderr(&format!("runner of queue `{queue}` at {url}: {tools}, {slots}"));
            if has_none {
                print::warning("there is no tool to serve; look at `report`");
            }
        }
        RunnerNews::Lost(error) => print::warning(&format!("{error}; trying again")),
        RunnerNews::Back => print::to_stderr(&format!("connected to the hub at {url} again")),
        _ => {}
    }
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// Waits for the hub. `None` if the process is told to end before.
pub(super) async fn reach<'a, B>(
    end: &CancellationToken,
    connect: impl Fn() -> BoxFuture<'a, Result<B, BoardError>>,
) -> Result<Option<B>, BoardError> {
    let mut is_told = false;
    loop {
        let Some(connected) = end.run_until_cancelled(connect()).await else {
            return Ok(None);
        };
        match connected {
            Ok(board) => return Ok(Some(board)),
            Err(error) if error.is_transient() && !is_told => {
                is_told = true;
                print::warning(&format!("{error}; trying again"));
            }
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
        if end.run_until_cancelled(sleep(PAUSE)).await.is_none() {
            return Ok(None);
        }
    }
}
