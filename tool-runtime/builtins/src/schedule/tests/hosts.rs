//! Hosts and the states of runs.

use super::*;
use crate::schedule::RunState;
use std::time::Duration;
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::{CancellationToken, Principal};

/// Ticks, waits for the runs, and moves on by a minute.
async fn minute(setup: &Setup, host: &mut ScheduleHost) {
    host.tick().await.unwrap();
    host.idle().await;
    setup.time.advance(60);
}

#[tokio::test]
async fn a_job_runs_once_at_each_of_its_times_as_its_creator() {
    let setup = Setup::new();
    let ada = setup.pool.for_principal(Principal::new("ada"));
    let job = json!({ "name": "a", "schedule": "* * * * *", "tool": "note", "arguments": { "text": "x" } });
    value(&ada, "CronCreate", job).await;
    let (mut host, events) = setup.host();
    host.tick().await.unwrap();
    host.idle().await;
    assert!(setup.notes().is_empty(), "before its time");
    setup.time.advance(30);
    for _ in 0..3 {
        host.tick().await.unwrap();
        minute(&setup, &mut host).await;
    }
    assert_eq!(setup.notes(), ["ada: x"; 3]);
    let lines: Vec<String> = events.lock().unwrap().iter().map(ScheduleEvent::to_string).collect();
    assert_eq!(lines[0], "cron_1 `a` running, due 2026-06-01T08:00:00+00:00");
    assert_eq!(lines[1], "cron_1 `a` succeeded, due 2026-06-01T08:00:00+00:00: noted");
}

#[tokio::test]
async fn a_run_of_a_command_that_fails_has_failed() {
    let command = Tool::builder("command", "Run a command.")
        .handler(|| async { Observation::json(&json!({ "exit_code": 3 })) });
    let setup = Setup::with(|builder| builder, |pool| pool.add(command));
    let job = json!({ "name": "a", "schedule": "* * * * *", "tool": "command", "arguments": {} });
    value(&setup.pool, "CronCreate", job).await;
    let (mut host, _) = setup.host();
    setup.time.advance(30);
    minute(&setup, &mut host).await;
    assert_eq!(setup.runs().await, ["failed 08:00 x1"]);
}

#[tokio::test]
async fn runs_without_a_host_are_missed_visibly() {
    let setup = Setup::new();
    setup.minutely(json!({})).await;
    setup.time.set("2026-06-01T08:10:20Z");
    let (mut host, events) = setup.host();
    minute(&setup, &mut host).await;
    // The last one is within the grace of a minute.
    assert_eq!(setup.runs().await, ["succeeded 08:10 x1", "missed 08:00 x10"]);
    let text = events.lock().unwrap()[0].to_string();
    assert_eq!(
        text,
        "cron_1 `minutely` missed, due 2026-06-01T08:00:00+00:00 and 9 more: no host lived"
    );
    let list = call(&setup.pool, "CronList", json!({})).await.observation().to_text();
    assert!(
        list.contains("missed 2026-06-01T08:00:00+00:00 to 2026-06-01T08:09:00+00:00 (10 times)"),
        "{list}"
    );
}

/// A computer that starts with a wrong clock, which is corrected later.
#[tokio::test]
async fn a_clock_that_was_far_ahead_does_not_stop_jobs() {
    for is_new_host in [false, true] {
        let setup = Setup::new();
        setup.minutely(json!({})).await;
        let weekly = json!({ "name": "weekly", "schedule": "0 9 * * MON", "tool": "note", "arguments": { "text": "w" } });
        value(&setup.pool, "CronCreate", weekly).await;
        setup.time.set("2031-06-01T08:00:10Z");
        let (mut host, _) = setup.host();
        minute(&setup, &mut host).await;
        setup.time.set("2026-06-01T07:59:59Z");
        if is_new_host {
            host.stop().await;
            host = setup.host().0;
        }
        minute(&setup, &mut host).await;
        minute(&setup, &mut host).await;
        let runs = setup.runs().await;
        assert!(runs.iter().any(|run| run == "succeeded 08:00 x1"), "{is_new_host}: {runs:?}");
        host.stop().await;
    }
}

/// A correction by a second must not repeat a time.
#[tokio::test]
async fn a_clock_that_goes_back_a_little_repeats_nothing() {
    let setup = Setup::new();
    let weekly = json!({ "name": "w", "schedule": "0 9 * * MON", "tool": "note", "arguments": { "text": "w" } });
    value(&setup.pool, "CronCreate", weekly).await;
    let (mut host, _) = setup.host();
    setup.time.set("2026-06-01T09:00:00Z");
    host.tick().await.unwrap();
    host.idle().await;
    setup.time.set("2026-06-01T08:59:58Z");
    minute(&setup, &mut host).await;
    minute(&setup, &mut host).await;
    assert_eq!(setup.notes().len(), 1);
}

/// Twenty days have 28,800 minutes, which three steps of one tick record.
#[tokio::test]
async fn all_missed_times_are_counted() {
    let setup = Setup::with(|builder| builder.grace(Duration::ZERO), |pool| pool);
    setup.minutely(json!({})).await;
    setup.minutely(json!({ "name": "late", "on_missed": "run_once" })).await;
    setup.time.set("2026-06-21T08:00:20Z");
    let (mut host, _) = setup.host();
    host.tick().await.unwrap();
    host.idle().await;
    let list = setup.list().await;
    for (job, last, times) in [(0, "2026-06-21T08:00", 28_801), (1, "2026-06-21T07:59", 28_800)] {
        let runs = list["jobs"][job]["runs"].as_array().unwrap().clone();
        let missed: Vec<&Value> = runs.iter().filter(|run| run["state"] == "missed").collect();
        assert!(missed[0]["last_due"].as_str().unwrap().starts_with(last), "{runs:?}");
        let counted: u64 = missed.iter().map(|run| run["times"].as_u64().unwrap()).sum();
        assert_eq!((missed.len(), counted), (3, times));
    }
    assert_eq!(list["jobs"][1]["runs"][0]["due"], "2026-06-21T08:00:00+00:00");
    assert_eq!(setup.notes().len(), 1);
}

#[tokio::test]
async fn a_missed_run_is_made_once_by_choice() {
    let setup = Setup::new();
    setup.minutely(json!({ "schedule": "*/5 * * * *", "on_missed": "run_once" })).await;
    setup.time.set("2026-06-01T08:12:00Z");
    let (mut host, _) = setup.host();
    minute(&setup, &mut host).await;
    minute(&setup, &mut host).await;
    assert_eq!(setup.notes().len(), 1);
    assert_eq!(setup.runs().await, ["succeeded 08:10 x1", "missed 08:00 x2"]);
}

#[tokio::test]
async fn times_that_no_host_ran_are_not_lost_when_a_job_is_replaced() {
    for (changed, expected) in [
        // The host accounts for the times of an unchanged schedule.
        (json!({}), "missed 08:00 x10, succeeded 08:10 x1"),
        (json!({ "on_missed": "run_once" }), "missed 08:00 x10, succeeded 08:10 x1"),
        (json!({ "schedule": "0 9 * * *" }), "missed 08:00 x11"),
        (json!({ "enabled": false }), "missed 08:00 x11"),
    ] {
        let setup = Setup::new();
        setup.minutely(json!({})).await;
        setup.time.set("2026-06-01T08:10:20Z");
        let mut job = changed.clone();
        job["replace"] = true.into();
        setup.minutely(job).await;
        let (mut host, _) = setup.host();
        minute(&setup, &mut host).await;
        let mut runs = setup.runs().await;
        runs.sort();
        assert_eq!(runs.join(", "), expected, "{changed}");
    }
}

#[tokio::test]
async fn a_job_that_is_replaced_after_the_clock_was_set_back_runs_again() {
    let setup = Setup::new();
    setup.minutely(json!({})).await;
    let (mut host, _) = setup.host();
    setup.time.set("2026-06-01T08:00:00Z");
    minute(&setup, &mut host).await;
    setup.time.set("2026-06-01T07:59:30Z");
    setup.minutely(json!({ "replace": true })).await;
    setup.time.set("2026-06-01T08:00:00Z");
    minute(&setup, &mut host).await;
    assert_eq!((setup.notes().len(), setup.runs().await), (2, vec!["succeeded 08:00 x1".into()]));
}

#[tokio::test]
async fn jobs_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("schedule.db");
    let first = Setup::with(|builder| builder.file(&file), |pool| pool);
    first.minutely(json!({})).await;
    drop(first);
    let second = Setup::with(|builder| builder.file(&file), |pool| pool);
    second.time.advance(30);
    let (mut host, _) = second.host();
    minute(&second, &mut host).await;
    assert_eq!(second.notes(), [": hello"]);
}

/// A tool that does not end.
fn endless(started: &CancellationToken) -> Tool {
    let started = started.clone();
    Tool::builder("endless", "Never end.").handler(move || {
        started.cancel();
        std::future::pending::<String>()
    })
}

#[tokio::test]
async fn a_run_that_overlaps_the_one_before_is_skipped_and_a_deleted_job_is_cancelled() {
    let started = CancellationToken::new();
    let setup = Setup::with(|builder| builder, |pool| pool.add(endless(&started)));
    setup.minutely(json!({ "tool": "endless", "arguments": {} })).await;
    let (mut host, events) = setup.host();
    setup.time.advance(30);
    host.tick().await.unwrap();
    started.cancelled().await;
    setup.time.advance(60);
    host.tick().await.unwrap();
    assert_eq!(setup.runs().await, ["skipped 08:01 x1", "running 08:00 x1"]);
    call(&setup.pool, "CronDelete", json!({ "id": "cron_1" })).await;
    host.tick().await.unwrap();
    host.idle().await;
    let last = events.lock().unwrap().last().unwrap().clone();
    assert_eq!((last.state, &last.due[11..16]), (RunState::Cancelled, "08:00"));
}

#[tokio::test]
async fn a_second_host_waits_until_the_first_ends() {
    let setup = Setup::new();
    setup.minutely(json!({})).await;
    let ((mut first, _), (mut second, events)) = (setup.host(), setup.host());
    first.tick().await.unwrap();
    setup.time.advance(30);
    minute(&setup, &mut second).await;
    assert!(setup.notes().is_empty());
    let text = call(&setup.pool, "CronList", json!({})).await.observation().to_text();
    let expected = format!("host: process {} since ", std::process::id());
    assert!(text.contains(&expected) && text.ends_with("others wait until it ends"), "{text}");
    minute(&setup, &mut first).await;
    first.stop().await;
    minute(&setup, &mut second).await;
    assert_eq!(setup.notes().len(), 2);
    assert!(events.lock().unwrap().last().unwrap().to_string().contains("succeeded"));
}

/// A run without a record of its end would make all later ones skipped.
#[tokio::test]
async fn a_run_whose_end_was_not_recorded_is_interrupted() {
    let setup = Setup::with(|builder| builder.principals(|_| panic!("as asked")), |pool| pool);
    setup.minutely(json!({})).await;
    let (mut host, _) = setup.host();
    setup.time.advance(30);
    minute(&setup, &mut host).await;
    minute(&setup, &mut host).await;
    host.tick().await.unwrap();
    let runs = setup.runs().await;
    assert_eq!(runs, ["running 08:02 x1", "interrupted 08:01 x1", "interrupted 08:00 x1"]);
}

#[tokio::test]
async fn a_host_that_stops_cancels_what_does_not_end() {
    let started = CancellationToken::new();
    let setup = Setup::with(
        |builder| builder.stop_timeout(Duration::ZERO),
        |pool| pool.add(endless(&started)),
    );
    setup.minutely(json!({ "tool": "endless", "arguments": {} })).await;
    setup.time.advance(30);
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (schedule, pool, stop) = (setup.schedule.clone(), setup.pool.clone(), stop.clone());
        async move { schedule.run(&pool, stop).await }
    });
    started.cancelled().await;
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(setup.runs().await, ["cancelled 08:00 x1"]);
    assert_eq!(setup.list().await["host"], Value::Null);
}

/// Allows notes until it is closed, and tells whether a job calls.
struct Gate(CancellationToken);

impl PolicyEngine for Gate {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        let labels = call.context().execution().map(|execution| execution.labels().clone());
        let by_job = labels.is_some_and(|labels| labels["run_by"] == "schedule");
        match call.name() == "note" && (self.0.is_cancelled() || !by_job) {
            true => Decision::deny("closed"),
            false => Decision::allow(),
        }
    }
}

#[tokio::test]
async fn a_policy_judges_each_run() {
    let closed = CancellationToken::new();
    let gate = Gate(closed.clone());
    let setup = Setup::with(|builder| builder, |pool| pool.policy(gate));
    setup.minutely(json!({})).await;
    setup.time.advance(30);
    let (mut host, _) = setup.host();
    minute(&setup, &mut host).await;
    closed.cancel();
    minute(&setup, &mut host).await;
    assert_eq!(setup.notes().len(), 1);
    assert_eq!(setup.runs().await, ["failed 08:01 x1", "succeeded 08:00 x1"]);
    assert!(
        setup.list().await["jobs"][0]["runs"][0]["outcome"].as_str().unwrap().contains("closed")
    );
}

#[tokio::test]
async fn the_operator_decides_about_creators_at_each_run() {
    let decide = |principal: &Principal| (principal.id() != "gone").then(|| principal.clone());
    let setup = Setup::with(|builder| builder.principals(decide), |pool| pool);
    let gone = setup.pool.for_principal(Principal::new("gone"));
    let job = json!({ "name": "a", "schedule": "* * * * *", "tool": "note", "arguments": { "text": "x" } });
    value(&gone, "CronCreate", job).await;
    setup.time.advance(30);
    let (mut host, events) = setup.host();
    minute(&setup, &mut host).await;
    assert!(setup.notes().is_empty());
    let text = events.lock().unwrap().last().unwrap().to_string();
    assert!(text.ends_with("the creator of the job may not run it any more"), "{text}");
}

#[cfg(feature = "files")]
#[tokio::test]
async fn a_scheduled_write_replaces_what_it_wrote_and_nothing_else() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report = folder.path().join("report.txt");
    let written = || std::fs::read_to_string(&report).unwrap();
    // A program for each run: sessions and memory end.
    let run = async |time: &str, content: &str| {
        let workspace = Workspace::builder().root(folder.path()).build().unwrap();
        let setup = Setup::with(
            |builder| builder.file(data.path().join("schedule.db")),
            |pool| pool.install(Builtins::new(workspace).files()),
        );
        setup.time.set(time);
        let job = json!({ "tool": "Write", "replace": true, "arguments": { "file_path": "report.txt", "content": content } });
        setup.minutely(job).await;
        let (mut host, events) = setup.host();
        setup.time.advance(60);
        minute(&setup, &mut host).await;
        host.stop().await;
        events.lock().unwrap().last().unwrap().to_string()
    };
    for (time, content) in [("2026-06-01T08:00:30Z", "one\n"), ("2026-06-01T09:00:30Z", "two\n")] {
        let event = run(time, content).await;
        assert!(event.contains("succeeded"), "{event}");
        assert_eq!(written(), content);
    }
    std::fs::write(&report, "by a person\n").unwrap();
    let event = run("2026-06-01T10:00:30Z", "three\n").await;
    assert!(event.contains("failed") && event.contains("was not read yet"), "{event}");
    assert_eq!(written(), "by a person\n");
}
