//! Random cases of callers, runners and faults, in paused time; what holds in every case.

mod case;
mod search;

use super::faulty::{Cut, Faults, FaultyBoard};
use super::fleet::{class, text};
use crate::record::State;
use crate::{Board as _, Depth, Engine, MemoryStore, Queue, Remote, Runner, StepKey};
use case::{Call, Case, Event, What};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::peer::{Peer, PeerCapability, PeerError, PeerRequest};
use tool_runtime_core::tool::{Execution, StepId, Tool, ToolCall, ToolContext, ToolResult};
use tool_runtime_core::vocabulary::error::ErrorClass;
use tool_runtime_core::vocabulary::{BoxFuture, CancellationToken};

/// The time that answers may take beyond their limits.
const GRACE: Duration = Duration::from_millis(100);

/// The time in which lost messages are repaired, in milliseconds.
const REPAIRED: u64 = 42_000;

/// Calls that are under way ask the board about their steps more often than this: the longest pause between attempts is one
/// second.
const IDLE: Duration = Duration::from_secs(3);

/// The effects of tools, by the numbers of calls.
type Effects = Arc<Mutex<HashMap<u64, u32>>>;

fn tool(name: &str, is_safe: bool, effects: &Effects) -> Tool {
    let effects = Arc::clone(effects);
    Tool::builder(name, "Have an effect.").read_only(is_safe).handler(
        move |arguments: serde_json::Map<String, Value>, context: ToolContext| {
            let effects = Arc::clone(&effects);
            async move {
                let number = |name: &str| arguments[name].as_u64().unwrap();
                if arguments["asks"] == true {
                    let answer = context.ask::<bool>("sure", "Really?").await;
                    if !matches!(answer, Ok(tool_runtime_core::tool::peer::Answer::Accepted(true)))
                    {
                        return format!("not {}: {answer:?}", number("call"));
                    }
                }
                sleep(Duration::from_millis(number("before"))).await;
                *effects.lock().unwrap().entry(number("call")).or_default() += 1;
                sleep(Duration::from_millis(number("after"))).await;
                format!("did {}", number("call"))
            }
        },
    )
}

/// A client that is asked, and answers only in its second request.
#[derive(Default)]
struct Client {
    answers: bool,
    is_asked: Notify,
}

impl Peer for Client {
    fn can(&self, capability: PeerCapability) -> bool {
        capability == PeerCapability::Elicitation
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async move {
            self.is_asked.notify_one();
            if !self.answers {
                std::future::pending::<()>().await;
            }
            Ok(json!({ "action": "accept", "content": { request.key(): true } }))
        })
    }
}

struct World {
    engine: Engine,
    faults: Arc<Faults>,
    effects: Effects,
    queue: Queue,
    cuts: Vec<Cut>,
    /// Whether a runner was killed, ended or cut off.
    has_lost_runner: AtomicBool,
}

impl World {
    fn board(&self, name: &str, process: usize) -> FaultyBoard {
        let inner = self.engine.board(name.parse().unwrap());
        FaultyBoard::new(inner, &self.faults, self.cuts[process].clone())
    }

    fn start_runner(&self, process: usize) -> (CancellationToken, tokio::task::JoinHandle<()>) {
        let tools = [tool("once", false, &self.effects), tool("again", true, &self.effects)];
        let pool = super::fleet::pool(tools);
        let runner = Runner::new(self.board("runner", process)).queue(self.queue.clone()).slots(3);
        let token = CancellationToken::new();
        let end = token.clone();
        let task = tokio::spawn(async move { drop(runner.serve_until(&pool, &end).await) });
        (token, task)
    }
}

impl World {
    /// Waits until nothing goes on that is about a step. Only the runners' presence is left then, so nothing follows.
    async fn settled(&self) {
        let board = self.engine.board("check".parse().unwrap());
        while !self.faults.are_idle(IDLE)
            || board.depth(&self.queue).await.unwrap() != Depth::default()
        {
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// What a call was answered, and whether its caller could reach the board then.
struct Answered {
    result: Option<ToolResult>,
    took: Duration,
    was_cut: bool,
}

async fn run_call(
    world: Arc<World>,
    pool: ToolPool,
    number: u64,
    call: Call,
    start: Instant,
) -> Answered {
    sleep_until(start + Duration::from_millis(call.at)).await;
    let attempt = async |round: u32, answers: bool| {
        let limit = Duration::from_millis(call.limit);
        let arguments = json!({
            "call": number, "before": call.before, "after": call.after, "asks": call.asks,
        });
        let client = Arc::new(Client { answers, is_asked: Notify::new() });
        let mut context = pool
            .context()
            .as_step(step(number))
            .with_peer(Arc::clone(&client) as _)
            .with_deadline((Instant::now() + limit).into_std());
        if call.keeps {
            let execution = Execution::new(format!("order-{number}")).with_attempt(round);
            context = context.in_execution(&Arc::new(execution));
        }
        let name = if call.is_safe { "again" } else { "once" };
        let asked_at = Instant::now();
        let called = pool.call_with(ToolCall::json(name, arguments), &context);
        let result = tokio::select! {
            biased;
            result = called => Some(result),
            // A client of 2026-07-28: the call is dropped, and continued by the next request.
            () = client.is_asked.notified(), if !answers => None,
            () = sleep(Duration::from_millis(call.dropped.unwrap_or(u64::MAX / 2))), if round == 1 && call.dropped.is_some() => None,
        };
        let was_cut = world.cuts[3 + call.caller].is_cut();
        (Answered { result, took: asked_at.elapsed(), was_cut }, limit)
    };
    let (first, limit) = attempt(1, !call.asks).await;
    assert!(first.took <= limit + GRACE, "{number}: {:?} of {limit:?}", first.took);
    if first.result.is_some() || !(call.keeps || call.asks) {
        return first;
    }
    // Its client answers, or its execution is repeated.
    sleep(Duration::from_millis(call.at % 900)).await;
    let (second, limit) = attempt(2, true).await;
    assert!(second.took <= limit + GRACE, "{number}: {:?} of {limit:?}", second.took);
    second
}

fn step(number: u64) -> StepId {
    StepId::new(format!("{number:032x}"))
}

/// Runs a case, and checks it. Returns what tells one course of events from another.
async fn run(case: Case) -> (u64, Duration) {
    let begin = Instant::now();
    let queue: Queue = "web".parse().unwrap();
    let world = Arc::new(World {
        engine: Engine::new(MemoryStore::default()),
        faults: Faults::new(case.seed, case.rate),
        effects: Effects::default(),
        queue: queue.clone(),
        cuts: (0..5).map(|_| Cut::default()).collect(),
        has_lost_runner: AtomicBool::new(false),
    });
    let mut runners: Vec<_> = (0..3).map(|process| Some(world.start_runner(process))).collect();
    let (mut pools, mut remotes) = (Vec::new(), Vec::new());
    for caller in 0..2 {
        let pool = super::fleet::pool([]);
        let board = world.board(&format!("pool{caller}"), 3 + caller);
        let remote = Remote::builder(board).trust(true).linger(Duration::from_secs(600));
        remotes.push(remote.connect(&pool).await.unwrap());
        pools.push(pool);
    }
    // The catalogues may be late, and so are the calls then.
    for pool in &pools {
        while pool.get("once").is_none() {
            sleep(Duration::from_millis(100)).await;
        }
    }
    let start = Instant::now();
    let mut calls = JoinSet::new();
    for (number, call) in case.calls.iter().cloned().enumerate() {
        let (world, pool) = (Arc::clone(&world), pools[call.caller].clone());
        calls.spawn(async move {
            let number = number as u64;
            (number, run_call(world, pool, number, call, start).await)
        });
    }
    let mut events = case.events.clone();
    events.sort_by_key(|event| event.at);
    let play = async {
        for event in events {
            sleep_until(start + Duration::from_millis(event.at)).await;
            play(&world, &mut runners, event).await;
        }
    };
    let answered = async {
        let mut answered = HashMap::new();
        while let Some(joined) = calls.join_next().await {
            let (number, answer) = joined.unwrap();
            answered.insert(number, answer);
        }
        answered
    };
    let (answered, ()) = tokio::join!(answered, play);
    // What was cut off comes back, and everything settles.
    drop(timeout(Duration::from_secs(40), world.settled()).await);
    world.faults.heal();
    world.cuts.iter().for_each(|cut| cut.set(false));
    timeout(Duration::from_secs(50), world.settled()).await.expect("everything settles");
    check(&world, &case, &answered).await;
    for remote in remotes {
        remote.close().await;
    }
    for (token, task) in runners.into_iter().flatten() {
        token.cancel();
        timeout(Duration::from_secs(60), task).await.expect("a runner ends").unwrap();
    }
    (world.faults.random_state(), begin.elapsed())
}

async fn play(
    world: &Arc<World>,
    runners: &mut [Option<(CancellationToken, tokio::task::JoinHandle<()>)>],
    event: Event,
) {
    match event.what {
        What::Cut { time } => {
            if event.process < 3 {
                world.has_lost_runner.store(true, Ordering::SeqCst);
            }
            let cut = world.cuts[event.process].clone();
            cut.set(true);
            tokio::spawn(async move {
                sleep(Duration::from_millis(time)).await;
                cut.set(false);
            });
        }
        What::Kill { pause } => {
            let process = event.process % 3;
            world.has_lost_runner.store(true, Ordering::SeqCst);
            if let Some((_, task)) = runners[process].take() {
                task.abort();
                drop(task.await);
            }
            sleep(Duration::from_millis(pause)).await;
            runners[process] = Some(world.start_runner(process));
        }
        What::Restart => {
            let process = event.process % 3;
            world.has_lost_runner.store(true, Ordering::SeqCst);
            if let Some((token, task)) = runners[process].replace(world.start_runner(process)) {
                token.cancel();
                tokio::spawn(task);
            }
        }
    }
}

async fn check(world: &World, case: &Case, answered: &HashMap<u64, Answered>) {
    let board = world.engine.board("check".parse().unwrap());
    let effects = world.effects.lock().unwrap().clone();
    for (number, call) in (0_u64..).zip(&case.calls) {
        let answer = &answered[&number];
        let effects = effects.get(&number).copied().unwrap_or_default();
        let caller = format!("pool{}", call.caller).parse().unwrap();
        let key = StepKey::new(world.queue.clone(), caller, step(number));
        let record = board.read(&key).await.unwrap();
        let about = || format!("call {number}: {call:?}, {effects} effects, record {record:?}");
        assert!(call.is_safe || effects <= 1, "{}", about());
        let Some(result) = &answer.result else { continue };
        if result.error().is_none() && text(result) == format!("did {number}") {
            assert!(effects >= 1, "{}", about());
        }
        // Nobody was lost, and what was lost otherwise is repaired in time.
        let in_time = call.limit >= call.before + call.after + REPAIRED;
        if case.events.is_empty() && case.rate <= 5 && in_time && call.dropped.is_none() {
            assert_eq!(text(result), format!("did {number}"), "{}", about());
            let longest = Duration::from_millis(call.before + call.after + REPAIRED);
            assert!(answer.took <= longest, "{:?}: {}", answer.took, about());
        }
        let is_unknown = class(result) == Some(ErrorClass::Indeterminate);
        if is_unknown && call.dropped.is_none() {
            assert!(world.has_lost_runner.load(Ordering::SeqCst), "{}", about());
        }
        if answer.was_cut {
            continue;
        }
        let written = record.as_ref().and_then(|it| match &it.record.state {
            State::Done { outcome: crate::Payload::Inline(json), .. } => Some(json.as_str()),
            _ => None,
        });
        let said = match result.error() {
            Some(error) => error.message().to_owned(),
            None => text(result),
        };
        let is_written =
            written.is_some_and(|json| json.contains(&serde_json::to_string(&said).unwrap()));
        let is_local =
            matches!(class(result), Some(ErrorClass::Timeout | ErrorClass::Indeterminate));
        assert!(is_written || is_local, "{said}: {}", about());
        // A board that loses messages may not answer within the time of grace.
        if class(result) == Some(ErrorClass::Timeout) && case.rate == 0 {
            let done = written.unwrap_or_default();
            assert!(!done.contains("\"ok\""), "{said}: {}", about());
        }
    }
    let depth = board.depth(&world.queue).await.unwrap();
    assert_eq!((depth.queued, depth.claimed), (0, 0), "jobs are left: {case:?}");
}
