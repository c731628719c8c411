//! One run: a pool, a manager, and misbehaving processes.

use super::super::leaks::{ProcessResources, kill_workers, workers};
use super::operator::{ExpectedState, Operator};
use super::plan::{Plan, Step, Wait};
use super::results::{IDLE_LIMIT, IssuedCall, MAX_DURATION, requests, with_hang_limit};
use crate::support::Directory;
use proptest::test_runner::TestCaseError;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime::ErrorClass;
use tool_runtime::mcp::{McpManager, McpServerConfig, McpState};
use tool_runtime::prelude::*;

/// The calls, and the results that were received.
type Calls = JoinSet<Result<Vec<(IssuedCall, Option<ToolResult>)>, String>>;

pub(super) fn run(plan: &Plan) -> Result<(), TestCaseError> {
    let directory = Directory::new();
    let before = ProcessResources::before();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ran = runtime.block_on(Simulation::run(plan, directory.path()));
    drop(runtime);
    ran.and_then(|()| before.are_released()).map_err(TestCaseError::fail)
}

struct Simulation<'a> {
    plan: &'a Plan,
    /// Working directory of each server.
    folders: Vec<PathBuf>,
    pool: ToolPool,
    manager: McpManager,
    calls: Calls,
    issued: u64,
}

impl<'a> Simulation<'a> {
    async fn run(plan: &'a Plan, folder: &Path) -> Result<(), String> {
        let pool = ToolPool::builder().allow_empty().build().map_err(|error| error.to_string())?;
        let builder = McpManager::builder()
            .retry(Duration::from_millis(10), Duration::from_millis(100))
            .max_call_duration(MAX_DURATION);
        let mut folders = Vec::new();
        for server in 0..plan.servers.len() {
            folders.push(folder.join(name(server)));
            std::fs::create_dir(&folders[server]).map_err(|error| error.to_string())?;
        }
        let manager = builder.start(&pool).map_err(|error| error.to_string())?;
        let mut simulation =
            Self { plan, folders, pool, manager, calls: JoinSet::new(), issued: 0 };
        let mut operators = Vec::new();
        for server in 0..plan.servers.len() {
            let config = simulation.config(server);
            let added = simulation.manager.add(name(server), config.clone()).await;
            added.map_err(|error| error.to_string())?;
            operators.push(Operator::of(&simulation.manager, name(server), config));
        }
        if plan.is_settled {
            with_hang_limit("the start", simulation.manager.settled()).await?;
        }
        for step in &plan.steps {
            simulation.step(step, &operators).await;
        }
        let mut states = Vec::new();
        for operator in operators {
            states.push(operator.finish().await?);
        }
        let ran = simulation.finish(&states).await;
        with_hang_limit("closing", simulation.manager.close()).await?;
        simulation.check_released().await.and(ran)
    }

    fn config(&self, server: usize) -> McpServerConfig {
        let path = |file: &str| self.folders[server].join(file).to_string_lossy().into_owned();
        let script = self.plan.servers[server].script(&path("starts"), &path("log"));
        McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server"))
            .args([script.to_string()])
            .cwd(self.folders[server].to_string_lossy().into_owned())
            .tool_timeout("hang", IDLE_LIMIT)
    }

    async fn step(&mut self, step: &Step, operators: &[Operator]) {
        match step {
            Step::Call { server, tool, wait } => self.call(*server, tool, *wait),
            Step::Batch(calls) => self.batch(calls),
            Step::Rule(server, rule) => operators[*server].send(*rule),
            Step::Kill(server) => kill_workers(&self.folders[*server]),
            Step::Pause(milliseconds) => sleep(Duration::from_millis(*milliseconds)).await,
        }
    }

    fn make(&mut self, server: usize, tool: &'static str) -> (IssuedCall, ToolCall) {
        self.issued += 1;
        let issued = IssuedCall {
            number: self.issued,
            server,
            tool,
            is_undisturbed: self.plan.is_undisturbed(server),
            may_change_list: self.plan.may_change_list(server),
            may_be_cancelled: false,
        };
        let id = format!("{}.{tool}", name(server));
        let call = ToolCall::new(id, issued.arguments().to_string());
        (issued, call)
    }

    fn call(&mut self, server: usize, tool: &'static str, wait: Wait) {
        let (mut issued, call) = self.make(server, tool);
        let pool = self.pool.clone();
        match wait {
            Wait::Forever => self.calls.spawn(async move {
                let result = with_hang_limit(&issued, pool.call(call)).await?;
                issued.check(&result)?;
                Ok(vec![(issued, Some(result))])
            }),
            Wait::CancelAfter(after) => self.calls.spawn(async move {
                issued.may_be_cancelled = true;
                let cancel = CancellationToken::new();
                let context = pool.context().with_cancellation(cancel.clone());
                let late = async {
                    sleep(Duration::from_millis(after)).await;
                    cancel.cancel();
                };
                let called = with_hang_limit(&issued, pool.call_with(call, &context));
                let (result, ()) = tokio::join!(called, late);
                let result = result?;
                issued.check(&result)?;
                Ok(vec![(issued, Some(result))])
            }),
            Wait::DropAfter(after) => self.calls.spawn(async move {
                let result = timeout(Duration::from_millis(after), pool.call(call)).await.ok();
                Ok(vec![(issued, result)])
            }),
        };
    }

    fn batch(&mut self, calls: &[(usize, &'static str)]) {
        let (issued, calls): (Vec<IssuedCall>, Vec<ToolCall>) =
            calls.iter().map(|(server, tool)| self.make(*server, tool)).unzip();
        let pool = self.pool.clone();
        self.calls.spawn(async move {
            let ids: Vec<String> = calls.iter().map(|call| call.call_id().to_owned()).collect();
            let results = with_hang_limit(&issued, pool.call_all(calls)).await?;
            if results.iter().map(ToolResult::call_id).ne(&ids) {
                return Err(format!("{issued:?} got {results:?}"));
            }
            issued
                .into_iter()
                .zip(results)
                .map(|(issued, result)| {
                    issued.check(&result)?;
                    Ok((issued, Some(result)))
                })
                .collect()
        });
    }

    /// Waits for the started steps, then checks the final state.
    async fn finish(&mut self, states: &[ExpectedState]) -> Result<(), String> {
        let mut ended = Vec::new();
        while let Some(calls) = self.calls.join_next().await {
            ended.extend(calls.map_err(|error| error.to_string())??);
        }
        for (server, state) in states.iter().enumerate() {
            self.matches_state(server, *state).await?;
        }
        for (server, folder) in self.folders.iter().enumerate() {
            let requests = requests(&folder.join("log"));
            for (issued, result) in ended.iter().filter(|(issued, _)| issued.server == server) {
                let arrived = requests.get(&issued.number).copied().unwrap_or_default();
                issued.count(arrived, result.as_ref())?;
            }
        }
        Ok(())
    }

    /// Whether a server is in the expected state, and calls confirm that.
    async fn matches_state(&mut self, server: usize, state: ExpectedState) -> Result<(), String> {
        let status = self.manager.server(&name(server)).map(|status| status.state);
        let (issued, call) = self.make(server, "echo-ro");
        match (state, status) {
            (ExpectedState::Empty, Err(_)) => {
                self.fails(call, ErrorClass::NotFound, "unknown tool").await
            }
            (ExpectedState::Off, Ok(McpState::Disabled)) => {
                self.fails(call, ErrorClass::Denied, "disabled").await
            }
            (ExpectedState::On, Ok(_)) => {
                self.recovers(server).await?;
                let result = with_hang_limit(&issued, self.pool.call(call)).await?;
                issued.check(&result)?;
                // A call that ends is replaced by another.
                let (mut issued, call) = self.make(server, "echo");
                issued.is_undisturbed = true;
                let result = with_hang_limit(&issued, self.pool.call(call)).await?;
                issued.check(&result)?;
                self.recovers(server).await
            }
            (state, status) => Err(format!("{} is {status:?}, not {state:?}", name(server))),
        }
    }

    async fn fails(&self, call: ToolCall, class: ErrorClass, words: &str) -> Result<(), String> {
        let result = with_hang_limit(words, self.pool.call(call)).await?;
        let error = result.error().ok_or_else(|| format!("{result:?}"))?;
        let is_right = error.class() == class && error.message().contains(words);
        if is_right { Ok(()) } else { Err(format!("not {class}, {words}: {error:?}")) }
    }

    /// Waits until a server is ready.
    async fn recovers(&self, server: usize) -> Result<(), String> {
        let mut statuses = self.manager.statuses();
        let name = name(server);
        let ready = async {
            while !self.manager.server(&name).is_ok_and(|status| status.is_ready()) {
                statuses.next().await;
            }
        };
        let recovered = with_hang_limit("the recovery", ready).await;
        recovered.map_err(|hang| format!("{hang}: {:?}", self.manager.server(&name)))
    }

    /// Whether all resources are released after closing.
    async fn check_released(self) -> Result<(), String> {
        let Self { folders, pool, manager, .. } = self;
        let running: Vec<u32> = folders.iter().flat_map(|folder| workers(folder)).collect();
        if !running.is_empty() {
            let commands =
                running.iter().map(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")));
            return Err(format!("left when closed: {:?}", commands.collect::<Vec<_>>()));
        }
        if !pool.tools().is_empty() || !manager.status().is_empty() {
            return Err(format!("{:?}, {:?}", pool.tools(), manager.status()));
        }
        Ok(())
    }
}

fn name(server: usize) -> String {
    format!("s{server}")
}
