//! A runner with two tools, whose effect is a line in a file.

use crate::Failure;
use crate::files::{self, Effect, Tool};
use crate::network::{self, QUEUE, RUNNER};
use crate::unmarked::Unmarked;
use serde_json::{Map, Value, json};
use std::env;
use std::process;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::SetOnce;
use tokio::time::sleep;
use tool_runtime::{RetryMode, ToolContext, ToolPool};
use tool_runtime_remote::Runner;

/// The longest time before the effect of a tool, and after it, in milliseconds.
const WAIT: u64 = 1000;

/// The state that the tools share.
pub(crate) struct Effects {
    path: String,
    /// The id of this runner, once it is known.
    runner: SetOnce<String>,
}

impl Effects {
    /// Notes the id of this runner.
    pub(crate) fn note_runner(&self, runner: &str) {
        if self.runner.set(runner.to_owned()).is_ok() {
            let up = Effect::Up { runner: runner.to_owned(), pid: process::id() };
            files::append(&self.path, &up).expect("the effects can be written");
        }
    }

    /// Has the effect of a step, and returns it.
    async fn have(&self, tool: Tool, step: &str) -> String {
        let runner = self.runner.wait().await.clone();
        let effect = Effect::Had { step: step.to_owned(), tool, runner, pid: process::id() };
        files::append(&self.path, &effect).expect("the effects can be written");
        serde_json::to_string(&effect).expect("it is plain data")
    }
}

pub(crate) async fn run(url: &str, path: &str) -> Result<(), Failure> {
    let effects = Arc::new(Effects { path: path.to_owned(), runner: SetOnce::new() });
    let pool = ToolPool::builder()
        .add(tool(Tool::Once, RetryMode::AtMostOnce, &effects))
        .add(tool(Tool::Again, RetryMode::SafeToRetry, &effects))
        .build()?;
    let board = Unmarked {
        board: network::connect(url, RUNNER).await?,
        effects,
        is_unmarked: env::var_os("REMOTE_KILL_UNMARKED").is_some(),
    };
    let runner = Runner::new(board).queue(QUEUE.parse()?);
    Ok(runner.serve_until(&pool, &network::end_of_input()).await?)
}

fn tool(tool: Tool, mode: RetryMode, effects: &Arc<Effects>) -> tool_runtime::Tool {
    let effects = Arc::clone(effects);
    let description = "Wait, append a line to the file of effects, wait, and answer with it.";
    let builder = tool_runtime::Tool::builder(tool.name(), description).retry_mode(mode);
    builder.input_schema(json!({ "type": "object" })).handler(
        move |_: Map<String, Value>, context: ToolContext| {
            let effects = Arc::clone(&effects);
            async move {
                let step = context.step().expect("a call of a runner is a step");
                // Behind it are the caller, in an execution, and the number of a later round.
                let step = step.as_str().split(['@', '/']).next().unwrap_or_default();
                let [before, after] = waits(step);
                sleep(before).await;
                let effect = effects.have(tool, step).await;
                sleep(after).await;
                effect
            }
        },
    )
}

/// The times before and after the effect: random, and always the same for a step.
fn waits(step: &str) -> [Duration; 2] {
    let seed = step.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let mut random = fastrand::Rng::with_seed(seed.unwrap_or_default());
    [(); 2].map(|()| Duration::from_millis(random.u64(..WAIT)))
}
