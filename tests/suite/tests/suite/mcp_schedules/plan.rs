//! The random plan of one run.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The plan of one run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) servers: Vec<Faults>,
    /// Whether all servers were connected before the first step.
    pub(super) is_settled: bool,
    pub(super) steps: Vec<Step>,
}

/// The faults of a server.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    is_stateless: bool,
    probe: &'static str,
    /// Number of starts that exit immediately.
    dead: u64,
    slow: u64,
    /// The server ignores the end of its input.
    stays: bool,
}

/// One step; it may continue while the next ones run.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Call {
        server: usize,
        tool: &'static str,
        wait: Wait,
    },
    Batch(Vec<(usize, &'static str)>),
    Rule(usize, Rule),
    /// `SIGKILL`.
    Kill(usize),
    /// Milliseconds.
    Pause(u64),
}

/// Time that a caller waits, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    Forever,
    /// Then the call is cancelled, and its result awaited.
    CancelAfter(u64),
    /// Then the call is dropped.
    DropAfter(u64),
}

/// An operation on a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Disable,
    Enable,
    Reconnect,
    Remove,
    Add,
}

/// The tools of every server, implemented in `faulty_server`.
pub(super) const TOOLS: [&str; 12] = [
    "echo",
    "echo-ro",
    "slow",
    "slow-ro",
    "garbage",
    "twice",
    "flood",
    "change",
    "reject",
    "hang",
    "gone-text",
    "die",
];

/// The tool that a server removes when it changes its list.
pub(super) const REMOVED_BY_CHANGE: &str = "twice";

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let steps =
        (1..=4_usize).prop_flat_map(|count| (vec(faults(), count), vec(step(count), 1..40)));
    (steps, any::<bool>()).prop_map(|((servers, steps), is_settled)| Plan {
        servers,
        is_settled,
        steps,
    })
}

fn faults() -> impl Strategy<Value = Faults> {
    let probe = select(vec!["reject", "params", "die"]);
    let dead = prop_oneof![4 => Just(0), 1 => 1..=2_u64];
    let slow = prop_oneof![3 => Just(0), 1 => 0..=60_u64];
    let stays = prop_oneof![40 => Just(false), 1 => Just(true)];
    (any::<bool>(), probe, dead, slow, stays).prop_map(
        |(is_stateless, probe, dead, slow, stays)| Faults {
            is_stateless,
            probe,
            dead,
            slow,
            stays,
        },
    )
}

fn step(servers: usize) -> impl Strategy<Value = Step> {
    let server = move || 0..servers;
    let call = (server(), tool(), wait());
    let rule = select(vec![
        Rule::Disable,
        Rule::Enable,
        Rule::Enable,
        Rule::Reconnect,
        Rule::Remove,
        Rule::Add,
        Rule::Add,
    ]);
    prop_oneof![
        12 => call.prop_map(|(server, tool, wait)| Step::Call { server, tool, wait }),
        2 => vec((server(), tool()), 1..8).prop_map(Step::Batch),
        2 => (server(), rule).prop_map(|(server, rule)| Step::Rule(server, rule)),
        1 => server().prop_map(Step::Kill),
        5 => (0..25_u64).prop_map(Step::Pause),
    ]
}

/// `die` affects all concurrent calls: it is rare.
fn tool() -> impl Strategy<Value = &'static str> {
    let harmless = TOOLS.into_iter().filter(|tool| *tool != "die").collect::<Vec<_>>();
    prop_oneof![20 => select(harmless), 1 => Just("die")]
}

fn wait() -> impl Strategy<Value = Wait> {
    prop_oneof![
        6 => Just(Wait::Forever),
        1 => (0..30_u64).prop_map(Wait::CancelAfter),
        1 => (0..30_u64).prop_map(Wait::DropAfter),
    ]
}

impl Faults {
    /// The script of the faulty server.
    pub(super) fn script(&self, starts: &str, log: &str) -> Value {
        json!({
            "version": if self.is_stateless { "2026-07-28" } else { "2025-11-25" },
            "probe": self.probe,
            "dead": self.dead,
            "slow": self.slow,
            "stays": self.stays,
            "tools": TOOLS,
            "starts": starts,
            "log": log,
        })
    }
}

impl Plan {
    /// Whether nothing interferes with calls of a server.
    pub(super) fn is_undisturbed(&self, server: usize) -> bool {
        self.is_settled
            && self.servers[server].dead == 0
            && !self.steps.iter().any(|step| step.interrupts(server))
    }

    /// Whether the list of a server may change.
    pub(super) fn may_change_list(&self, server: usize) -> bool {
        self.steps.iter().any(|step| step.calls(server, "change"))
    }
}

impl Step {
    fn interrupts(&self, server: usize) -> bool {
        match self {
            Self::Rule(own, _) | Self::Kill(own) => *own == server,
            _ => self.calls(server, "die"),
        }
    }

    fn calls(&self, server: usize, tool: &'static str) -> bool {
        match self {
            Self::Call { server: own, tool: called, .. } => (*own, *called) == (server, tool),
            Self::Batch(calls) => calls.contains(&(server, tool)),
            _ => false,
        }
    }
}
