//! The table of `access`, row by row.

use super::*;
use crate::names::StepKey;
use crate::payload::{BlobRef, Json};
use crate::record::Ended;
use serde_json::json;
use tool_runtime_core::tool::StepId;

const CALL: &[&str] = &["call:web"];
const RUN: &[&str] = &["run:web"];
const BOTH: &[&str] = &["call:web", "run:web"];
const ALL: &[&str] = &["call:*", "run:*"];
const OTHER: &[&str] = &["call:files", "run:files"];
const NEAR: &[&str] =
    &["call:we", "run:webs", "call", "run:", "web", "Call:web", "call: web", "run:web,x"];
const NONE: &[&str] = &[];

fn client(scopes: &[&str]) -> Client {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    Client { name: name("ada"), scopes }
}

fn name(text: &str) -> CallerName {
    text.parse().unwrap()
}

fn queue() -> Queue {
    "web".parse().unwrap()
}

/// Checks which of the scopes allow something.
fn allows(what: &str, deed: Deed<'_>, allowed: &[&[&str]]) {
    for scopes in [CALL, RUN, BOTH, ALL, OTHER, NEAR, NONE] {
        let answer = check(&client(scopes), deed);
        assert_eq!(answer.is_ok(), allowed.contains(&scopes), "{what} by {scopes:?}: {answer:?}");
    }
}

fn done(by: &str, outcome: serde_json::Value) -> Record {
    let by = Author::try_from(by.to_owned()).unwrap();
    let outcome = Payload::Inline(Json::from_value(&outcome));
    Record::new(1, State::Done { by, was: Ended::None, ran: None, outcome })
}

fn failed(class: &str) -> serde_json::Value {
    json!({ "error": { "class": class, "message": "" } })
}

fn step_of(caller: &str) -> StepKey {
    StepKey::new(queue(), name(caller), StepId::new("9f"))
}

fn write<'a>(step: &'a StepKey, record: &'a Record) -> Deed<'a> {
    Deed::Write { step, record }
}

fn started(runner: &str) -> Record {
    Record::new(1, State::Started { runner: runner.into() })
}

#[test]
fn a_step_is_read_by_its_caller_and_by_runners() {
    allows("own", Deed::Read { step: &step_of("ada") }, &[CALL, RUN, BOTH, ALL]);
    allows("another's", Deed::Read { step: &step_of("bob") }, &[RUN, BOTH, ALL]);
}

#[test]
fn a_job_is_queued_by_callers() {
    allows("a job", Deed::Submit { queue: &queue() }, &[CALL, BOTH, ALL]);
}

#[test]
fn a_caller_writes_that_it_waits_or_gives_up_and_a_runner_that_it_runs_and_what_came_out() {
    let step = step_of("ada");
    let blob = Payload::Blob(BlobRef::from_bytes(b"{}"));
    let ada = Author::Caller(name("ada"));
    let blob = State::Done { by: ada, was: Ended::None, ran: None, outcome: blob };
    let both = json!({ "error": failed("cancelled")["error"], "ok": {} });
    let (callers, runners): (&[_], &[_]) = (&[CALL, BOTH, ALL], &[RUN, BOTH, ALL]);
    for (record, allowed) in [
        (Record::new(1, State::Suspended), callers),
        (done("caller:ada", failed("cancelled")), callers),
        (done("caller:ada", failed("timeout")), callers),
        (done("caller:ada", failed("indeterminate")), callers),
        (done("caller:ada", failed("tool")), &[]),
        (done("caller:ada", failed("haunted")), &[]),
        (done("caller:ada", json!({ "ok": { "content": [] } })), &[]),
        (done("caller:ada", both), &[]),
        (Record::new(1, blob), &[]),
        (done("caller:bob", failed("cancelled")), &[]),
        (started("web.h1-7f"), runners),
        (started("files.h1-7f"), &[]),
        (started("web."), &[]),
        (started("website.h1-7f"), &[]),
        (done("runner:web.h1-7f", json!({ "ok": {} })), runners),
        (done("runner:web.h1-7f", failed("indeterminate")), runners),
        (done("runner:files.h1-7f", json!({ "ok": {} })), &[]),
    ] {
        allows(&serde_json::to_string(&record).unwrap(), write(&step, &record), allowed);
    }
}

#[test]
fn a_caller_does_not_write_on_the_step_of_another_and_a_runner_does() {
    let step = step_of("bob");
    let (suspended, cancelled) =
        (Record::new(1, State::Suspended), done("caller:ada", failed("cancelled")));
    allows("suspended", write(&step, &suspended), &[]);
    allows("cancelled", write(&step, &cancelled), &[]);
    allows("started", write(&step, &started("web.h1-7f")), &[RUN, BOTH, ALL]);
}

#[test]
fn runners_claim_jobs_and_both_sides_see_the_depth() {
    let queue = queue();
    allows("a claim", Deed::Claim { queue: &queue }, &[RUN, BOTH, ALL]);
    allows("the depth", Deed::SeeDepth { queue: &queue }, &[CALL, RUN, BOTH, ALL]);
}

#[test]
fn notes_and_presence_come_from_runners_and_control_from_callers() {
    let step = step_of("ada");
    let (callers, runners): (&[_], &[_]) = (&[CALL, BOTH, ALL], &[RUN, BOTH, ALL]);
    let any: &[_] = &[CALL, RUN, BOTH, ALL, OTHER, NEAR, NONE];
    let own = r#"{"queue":"web","runner":"web.h1-7f","slots":8}"#;
    for (topic, body, allowed) in [
        (Topic::Step(step), "{}", runners),
        (Topic::Control(queue()), r#"{"caller":"ada"}"#, callers),
        (Topic::Control(queue()), r#"{"caller":"bob"}"#, &[]),
        (Topic::Control(queue()), "{}", &[]),
        (Topic::Presence(queue()), own, runners),
        (Topic::Presence(queue()), r#"{"queue":"files","runner":"web.h1-7f"}"#, &[]),
        (Topic::Presence(queue()), r#"{"queue":"web","runner":"files.h1-7f"}"#, &[]),
        (Topic::Presence(queue()), "{}", &[]),
        (Topic::AllPresence, own, &[]),
        (Topic::Roll, "{}", any),
    ] {
        allows(
            &format!("{topic:?} {body}"),
            Deed::Send { topic: &topic, body: body.as_bytes() },
            allowed,
        );
    }
}

#[test]
fn each_side_hears_what_is_for_it() {
    let step = step_of("ada");
    let any: &[_] = &[CALL, RUN, BOTH, ALL, OTHER, NEAR, NONE];
    for (topic, allowed) in [
        (Topic::Step(step), &[] as &[_]),
        (Topic::Control(queue()), &[RUN, BOTH, ALL]),
        (Topic::Presence(queue()), &[CALL, RUN, BOTH, ALL]),
        (Topic::AllPresence, any),
        (Topic::Roll, any),
    ] {
        allows(&format!("{topic:?}"), Deed::Listen { topic: &topic }, allowed);
    }
}

#[test]
fn what_is_missing_is_named() {
    let queue = queue();
    let error = |scopes, deed| check(&client(scopes), deed).unwrap_err();
    assert_eq!(
        error(CALL, Deed::Claim { queue: &queue }),
        "`ada` may not run queue `web`; give its token the scope `run:web`"
    );
    let record = done("caller:ada", failed("tool"));
    let step = step_of("ada");
    let write = write(&step, &record);
    assert!(
        error(CALL, write).starts_with("a caller writes `suspended`, or `done` by `caller:ada`")
    );
    assert!(error(RUN, write).starts_with("a runner of queue `web` writes `started` or `done`"));
}
