//! The operator of one server: executes its rules in order, concurrently with everything else.

use super::plan::Rule;
use super::results::with_hang_limit;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tool_runtime::mcp::{McpManager, McpManagerError, McpServerConfig};

/// The expected state of a server after all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedState {
    On,
    Off,
    Empty,
}

pub(super) struct Operator {
    rules: mpsc::UnboundedSender<Rule>,
    done: JoinHandle<Result<ExpectedState, String>>,
}

impl Operator {
    pub(super) fn of(manager: &McpManager, name: String, config: McpServerConfig) -> Self {
        let (rules, mut next) = mpsc::unbounded_channel();
        let manager = manager.clone();
        let done = tokio::spawn(async move {
            let mut state = ExpectedState::On;
            while let Some(rule) = next.recv().await {
                let outcome =
                    with_hang_limit(rule, execute(&manager, &name, &config, rule)).await?;
                state = after(state, rule, &outcome).ok_or_else(|| {
                    format!("{rule:?} of {name}, which is {state:?}: {outcome:?}")
                })?;
            }
            Ok(state)
        });
        Self { rules, done }
    }

    pub(super) fn send(&self, rule: Rule) {
        // A panicked task returns its error at the end.
        let _ = self.rules.send(rule);
    }

    /// Waits until all rules are done, and returns the expected state.
    pub(super) async fn finish(self) -> Result<ExpectedState, String> {
        drop(self.rules);
        self.done.await.map_err(|error| error.to_string())?
    }
}

async fn execute(
    manager: &McpManager,
    name: &str,
    config: &McpServerConfig,
    rule: Rule,
) -> Result<(), McpManagerError> {
    match rule {
        Rule::Disable => manager.disable(name).await,
        Rule::Enable => manager.enable(name).await,
        Rule::Reconnect => manager.reconnect(name).await,
        Rule::Remove => manager.remove(name).await,
        Rule::Add => manager.add(name, config.clone()).await,
    }
}

/// The expected state after a rule that succeeds.
fn after(
    state: ExpectedState,
    rule: Rule,
    outcome: &Result<(), McpManagerError>,
) -> Option<ExpectedState> {
    match (state, rule, outcome) {
        (ExpectedState::Empty, Rule::Add, Ok(())) => Some(ExpectedState::On),
        (ExpectedState::On | ExpectedState::Off, Rule::Add, Err(McpManagerError::Known { .. })) => {
            Some(state)
        }
        (_, Rule::Add, _) => None,
        (ExpectedState::Empty, _, Err(McpManagerError::Unknown { .. })) => {
            Some(ExpectedState::Empty)
        }
        (ExpectedState::Empty, ..) | (_, _, Err(_)) => None,
        (_, Rule::Disable, Ok(())) => Some(ExpectedState::Off),
        (_, Rule::Remove, Ok(())) => Some(ExpectedState::Empty),
        // From any state.
        (_, Rule::Enable | Rule::Reconnect, Ok(())) => Some(ExpectedState::On),
    }
}
