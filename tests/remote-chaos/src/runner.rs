//! A runner with two tools, whose effect is a line in a file.

use crate::Failure;
use crate::fence::{Fence, Fenced};
use crate::files::{self, Effect, Tool};
use crate::network::{self, QUEUE, RUNNER};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::SetOnce;
use tokio::time::sleep;
use tool_runtime::tool::RetryMode;
use tool_runtime::{ToolContext, ToolPool};
use tool_runtime_remote::Runner;

/// The longest time before the effect of a tool, and after it, in milliseconds. In a control it is longer than the server
/// takes to come back.
const WAIT: u64 = 1000;
const WAIT_OF_CONTROL: u64 = 4000;

/// The state that the tools share.
pub(crate) struct Effects {
    path: PathBuf,
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
    async fn have(&self, tool: Tool, step: &str, is_large: bool) -> String {
        let runner = self.runner.wait().await.clone();
        let (step, pid) = (step.to_owned(), process::id());
        let effect = Effect::Had { step, tool, runner, pid, is_large };
        files::append(&self.path, &effect).expect("the effects can be written");
        serde_json::to_string(&effect).expect("it is plain data")
    }
}

pub(crate) async fn run(url: &str, folder: &Path) -> Result<(), Failure> {
    let path = files::effects(folder);
    let effects = Arc::new(Effects { path, runner: SetOnce::new() });
    let fence = Fence::of_environment()?;
    let wait = if fence == Fence::Record { WAIT } else { WAIT_OF_CONTROL };
    let pool = ToolPool::builder()
        .add(tool(Tool::Once, RetryMode::AtMostOnce, wait, &effects))
        .add(tool(Tool::Again, RetryMode::SafeToRetry, wait, &effects))
        .build()?;
    let board = network::connect(url, RUNNER, folder).await?.into_board();
    let runner = Runner::new(Fenced::new(board, effects, fence));
    let runner = runner.queue(QUEUE.parse()?);
    Ok(runner.serve_until(&pool, &network::end_of_input()).await?)
}

fn tool(tool: Tool, mode: RetryMode, wait: u64, effects: &Arc<Effects>) -> tool_runtime::Tool {
    let effects = Arc::clone(effects);
    let description = "Wait, append a line to the file of effects, wait, and answer with it.";
    let builder = tool_runtime::Tool::builder(tool.name(), description).retry_mode(mode);
    builder.input_schema(json!({ "type": "object" })).handler(
        move |arguments: Map<String, Value>, context: ToolContext| {
            let effects = Arc::clone(&effects);
            async move {
                let step = context.step().expect("a call of a runner is a step");
                // Behind it are the caller, in an execution, and the number of a later round.
                let step = step.as_str().split(['@', '/']).next().unwrap_or_default();
                let [before, after] = waits(step, wait);
                sleep(before).await;
                let padding = arguments.get("padding").and_then(Value::as_str).map_or(0, str::len);
                let effect = effects.have(tool, step, padding > 0).await;
                sleep(after).await;
                effect + &" ".repeat(padding)
            }
        },
    )
}

/// The times before and after the effect: random, and always the same for a step.
fn waits(step: &str, longest: u64) -> [Duration; 2] {
    let seed = step.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let mut random = fastrand::Rng::with_seed(seed.unwrap_or_default());
    [(); 2].map(|()| Duration::from_millis(random.u64(..longest)))
}
