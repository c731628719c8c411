//! What happens in one run, in which order.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) servers: Vec<Faults>,
    /// Whether all were tried before the first step.
    pub(super) is_settled: bool,
    pub(super) steps: Vec<Step>,
}

/// What a server does that it should not.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    is_stateless: bool,
    probe: &'static str,
    /// How many of its lives end at once.
    dead: u64,
    slow: u64,
    /// It does not go when its input ends.
    stays: bool,
}

/// Something that happens; what it begins goes on while the next ones happen.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Call {
        server: usize,
        tool: &'static str,
        patience: Patience,
    },
    Batch(Vec<(usize, &'static str)>),
    Rule(usize, Rule),
    /// `SIGKILL`.
    Kill(usize),
    /// Milliseconds.
    Pause(u64),
}

/// How long whoever calls waits, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    ForEver,
    /// The call is cancelled then, and its result awaited.
    Cancels(u64),
    /// The call is dropped then.
    Drops(u64),
}

/// What an operator does to a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Disable,
    Enable,
    Reconnect,
    Remove,
    Add,
}

/// The tools of every server. What they do is written in `faulty_server`.
pub(super) const TOOLS: [&str; 12] = [
    "echo",
    "echo-ro",
    "slow",
    "slow-ro",
    "garbage",
    "twice",
    "flood",
    "change",
    "refuse",
    "hang",
    "gone-text",
    "die",
];

/// A server without this one has changed its list.
pub(super) const FICKLE: &str = "twice";

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
    let probe = select(vec!["refuse", "params", "die"]);
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
    let call = (server(), tool(), patience());
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
        12 => call.prop_map(|(server, tool, patience)| Step::Call { server, tool, patience }),
        2 => vec((server(), tool()), 1..8).prop_map(Step::Batch),
        2 => (server(), rule).prop_map(|(server, rule)| Step::Rule(server, rule)),
        1 => server().prop_map(Step::Kill),
        5 => (0..25_u64).prop_map(Step::Pause),
    ]
}

/// Death takes along all that runs beside it: it is rare.
fn tool() -> impl Strategy<Value = &'static str> {
    let harmless = TOOLS.into_iter().filter(|tool| *tool != "die").collect::<Vec<_>>();
    prop_oneof![20 => select(harmless), 1 => Just("die")]
}

fn patience() -> impl Strategy<Value = Patience> {
    prop_oneof![
        6 => Just(Patience::ForEver),
        1 => (0..30_u64).prop_map(Patience::Cancels),
        1 => (0..30_u64).prop_map(Patience::Drops),
    ]
}

impl Faults {
    /// As the faulty server reads it.
    pub(super) fn script(&self, lives: &str, log: &str) -> Value {
        json!({
            "version": if self.is_stateless { "2026-07-28" } else { "2025-11-25" },
            "probe": self.probe,
            "dead": self.dead,
            "slow": self.slow,
            "stays": self.stays,
            "tools": TOOLS,
            "lives": lives,
            "log": log,
        })
    }
}

impl Plan {
    /// Whether nothing keeps calls from reaching a server.
    pub(super) fn is_calm(&self, server: usize) -> bool {
        self.is_settled
            && self.servers[server].dead == 0
            && !self.steps.iter().any(|step| step.disturbs(server))
    }

    /// Whether a server's list may become another one.
    pub(super) fn is_fickle(&self, server: usize) -> bool {
        self.steps.iter().any(|step| step.calls(server, "change"))
    }
}

impl Step {
    fn disturbs(&self, server: usize) -> bool {
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
