//! The access rights of clients, without I/O.
//!
//! | Deed | Scope | And |
//! |---|---|---|
//! | read a record | call | the step is the caller's |
//! | | run | |
//! | write a record | call | the step is the caller's; `suspended`, or `done` by `caller:NAME` with an error of class `cancelled`, `timeout` or `indeterminate` |
//! | | run | `started` or `done` by a runner whose id begins with `QUEUE.` |
//! | queue a job | call | |
//! | claim jobs | run | |
//! | send a note on a step | run | |
//! | send to runners | call | the body's `caller` fits |
//! | listen as a runner | run | |
//! | send presence | run | the body's `queue` and `runner` fit |
//! | hear presence, see the depth | call or run | |
//! | call the roll, hear it, use blobs, hear of own steps | any | |

use crate::board::Topic;
use crate::names::{CallerName, Queue, RunnerId, StepKey};
use crate::payload::Payload;
use crate::protocol::{CALL, RUN};
use crate::record::{Author, Record, State};
use serde::Deserialize;
use tool_runtime_core::vocabulary::error::ErrorClass;

/// A caller or a runner, by its token.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) name: CallerName,
    pub(super) scopes: Vec<String>,
}

/// An operation that a client requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed<'a> {
    Read { step: &'a StepKey },
    Write { step: &'a StepKey, record: &'a Record },
    Submit { queue: &'a Queue },
    Claim { queue: &'a Queue },
    SeeDepth { queue: &'a Queue },
    Send { topic: &'a Topic, body: &'a [u8] },
    Listen { topic: &'a Topic },
}

/// The kind of a scope.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Call,
    Run,
}

impl Client {
    fn has(&self, side: Side, queue: &Queue) -> bool {
        let side = match side {
            Side::Call => CALL,
            Side::Run => RUN,
        };
        let allows = |scope: &String| {
            scope.strip_prefix(side).is_some_and(|name| name == "*" || name == queue.as_str())
        };
        self.scopes.iter().any(allows)
    }

    /// Whether it calls or runs a queue.
    pub(super) fn knows(&self, queue: &Queue) -> bool {
        self.has(Side::Call, queue) || self.has(Side::Run, queue)
    }

    fn require(&self, side: Side, queue: &Queue) -> Result<(), String> {
        if self.has(side, queue) {
            return Ok(());
        }
        let (verb, scope) = match side {
            Side::Call => ("call", format!("call:{queue}")),
            Side::Run => ("run", format!("run:{queue}")),
        };
        Err(format!(
            "`{}` may not {verb} queue `{queue}`; give its token the scope `{scope}`",
            self.name
        ))
    }

    fn require_any(&self, queue: &Queue) -> Result<(), String> {
        if self.knows(queue) {
            return Ok(());
        }
        Err(format!(
            "`{}` may neither call nor run queue `{queue}`; give its token the scope `call:{queue}` or `run:{queue}`",
            self.name
        ))
    }

    fn require_own(&self, step: &StepKey) -> Result<(), String> {
        if step.caller == self.name {
            return Ok(());
        }
        Err(format!("the step belongs to `{}`, and not to `{}`", step.caller, self.name))
    }
}

/// Checks whether a client may do something.
///
/// # Errors
/// It may not: why, and what would help.
pub(super) fn check(client: &Client, deed: Deed<'_>) -> Result<(), String> {
    match deed {
        Deed::Read { step } if client.has(Side::Run, &step.queue) => Ok(()),
        Deed::Read { step } => {
            client.require_any(&step.queue)?;
            client.require_own(step)
        }
        Deed::Write { step, record } => check_write(client, step, record),
        Deed::Submit { queue } => client.require(Side::Call, queue),
        Deed::Claim { queue } => client.require(Side::Run, queue),
        Deed::SeeDepth { queue } => client.require_any(queue),
        Deed::Send { topic, body } => check_send(client, topic, body),
        Deed::Listen { topic } => check_listen(client, topic),
    }
}

fn check_write(client: &Client, step: &StepKey, record: &Record) -> Result<(), String> {
    let queue = &step.queue;
    client.require_any(queue)?;
    if client.has(Side::Run, queue) && is_by_runner(queue, record) {
        return Ok(());
    }
    if !client.has(Side::Call, queue) {
        return Err(format!(
            "a runner of queue `{queue}` writes `started` or `done` by a runner whose id begins with `{queue}.`, and nothing else"
        ));
    }
    client.require_own(step)?;
    if is_by_caller(&client.name, record) {
        return Ok(());
    }
    Err(format!(
        "a caller writes `suspended`, or `done` by `caller:{}` with an error of class `cancelled`, `timeout` or `indeterminate`, and nothing else",
        client.name
    ))
}

fn is_of(queue: &Queue, runner: &str) -> bool {
    let rest = runner.strip_prefix(queue.as_str()).and_then(|rest| rest.strip_prefix('.'));
    rest.is_some_and(|rest| !rest.is_empty())
}

fn is_by_runner(queue: &Queue, record: &Record) -> bool {
    match &record.state {
        State::Started { runner } | State::Done { by: Author::Runner(runner), .. } => {
            is_of(queue, runner.as_str())
        }
        _ => false,
    }
}

fn is_by_caller(name: &CallerName, record: &Record) -> bool {
    match &record.state {
        State::Suspended => true,
        State::Done { by: Author::Caller(by), outcome, .. } => by == name && gives_up(outcome),
        _ => false,
    }
}

/// An outcome with an error, of any class.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Failed {
    Error { class: ErrorClass },
}

/// Whether an outcome is one of a caller that gave up.
fn gives_up(outcome: &Payload) -> bool {
    let Payload::Inline(json) = outcome else { return false };
    let Ok(Failed::Error { class }) = serde_json::from_str(json.as_str()) else { return false };
    matches!(class, ErrorClass::Cancelled | ErrorClass::Timeout | ErrorClass::Indeterminate)
}

/// The queue and the runner of a presence.
#[derive(Deserialize)]
pub(super) struct Whose {
    pub(super) queue: Queue,
    runner: RunnerId,
}

/// Who gives an order to runners.
#[derive(Deserialize)]
struct From {
    caller: CallerName,
}

fn check_send(client: &Client, topic: &Topic, body: &[u8]) -> Result<(), String> {
    match topic {
        Topic::Step(step) => client.require(Side::Run, &step.queue),
        Topic::Control(queue) => {
            client.require(Side::Call, queue)?;
            match serde_json::from_slice::<From>(body) {
                Ok(from) if from.caller == client.name => Ok(()),
                _ => Err(format!("an order to runners has the `caller` `{}`", client.name)),
            }
        }
        Topic::Presence(queue) => {
            client.require(Side::Run, queue)?;
            match serde_json::from_slice::<Whose>(body) {
                Ok(whose) if whose.queue == *queue && is_of(queue, whose.runner.as_str()) => Ok(()),
                _ => Err(format!(
                    "presence in queue `{queue}` has this `queue`, and a `runner` that begins with `{queue}.`"
                )),
            }
        }
        Topic::AllPresence => Err("name the queue: `presence/QUEUE`".to_owned()),
        Topic::Roll => Ok(()),
    }
}

fn check_listen(client: &Client, topic: &Topic) -> Result<(), String> {
    match topic {
        Topic::Step(_) => Err("listen to the topic `mine`, which has all own steps".to_owned()),
        Topic::Control(queue) => client.require(Side::Run, queue),
        Topic::Presence(queue) => client.require_any(queue),
        Topic::AllPresence | Topic::Roll => Ok(()),
    }
}

#[cfg(test)]
mod tests;
