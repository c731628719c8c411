//! The tools for jobs.

use super::*;
use tool_runtime::Principal;
use tool_runtime::secret::Secrets;

fn job(name: &str, schedule: &str) -> Value {
    json!({ "name": name, "schedule": schedule, "tool": "note", "arguments": { "text": "a" } })
}

#[tokio::test]
async fn a_job_is_created_listed_and_deleted() {
    let setup = Setup::new();
    let mut morning = job("morning", "0 9 * * MON-FRI");
    morning["time_zone"] = "Europe/Berlin".into();
    let result = call(&setup.pool, "CronCreate", morning).await.observation().to_text();
    let expected = "created `cron_1`; next runs: 2026-06-02T09:00:00+02:00, 2026-06-03T09:00:00+02:00, \
                    2026-06-04T09:00:00+02:00\nno host lives, so no job runs";
    assert!(result.starts_with(expected), "{result}");

    let text = call(&setup.pool, "CronList", json!({})).await.observation().to_text();
    assert!(
        text.starts_with(
            "cron_1 `morning`: note {\"text\":\"a\"} at `0 9 * * MON-FRI` (Europe/Berlin)"
        ),
        "{text}"
    );
    assert!(text.contains("no host lives"), "{text}");
    let (mut host, _) = setup.host();
    host.tick().await.unwrap();
    assert_eq!(setup.list().await["host"]["process"], std::process::id());
    host.stop().await;
    assert_eq!(setup.list().await["host"], Value::Null);

    let unknown = error(&setup.pool, "CronDelete", json!({ "id": "cron_2" })).await;
    assert_eq!(unknown, "there is no job `cron_2`; did you mean `cron_1`?");
    let by_name = error(&setup.pool, "CronDelete", json!({ "id": "morning" })).await;
    assert!(by_name.ends_with("the job of that name is `cron_1`"), "{by_name}");
    call(&setup.pool, "CronDelete", json!({ "id": "cron_1" })).await;
    assert_eq!(setup.list().await["jobs"], json!([]));
    assert!(
        error(&setup.pool, "CronDelete", json!({ "id": "cron_1" }))
            .await
            .contains("you have no jobs")
    );
    // Numbers are not used again.
    assert_eq!(setup.minutely(json!({})).await["id"], "cron_2");
}

#[tokio::test]
async fn what_cannot_run_is_refused_with_the_remedy() {
    let setup = Setup::with(|builder| builder.max_jobs(2), |pool| pool);
    let refused = |change: Value| {
        let mut job = job("a", "0 9 * * *");
        job.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        error(&setup.pool, "CronCreate", job)
    };
    let text = refused(json!({ "schedule": "0 25 * * *" })).await;
    assert!(text.contains("field 2 of `schedule`, the hour"), "{text}");
    let text = refused(json!({ "schedule": "*/10 * * * * *" })).await;
    assert!(
        text.contains("too frequent") && text.contains("the shortest interval is 60s"),
        "{text}"
    );
    let text = refused(json!({ "time_zone": "Europe/Berln" })).await;
    assert!(text.contains("did you mean `Europe/Berlin`?"), "{text}");
    let text = refused(json!({ "tool": "not" })).await;
    assert!(text.contains("unknown tool `not`; did you mean `note`?"), "{text}");
    let text = refused(json!({ "arguments": { "txt": "a" } })).await;
    assert!(text.contains("`text`") && text.contains("txt"), "{text}");
    let text = refused(json!({ "name": "a\nb" })).await;
    assert!(text.contains("`name` must be one line"), "{text}");
    let text = refused(json!({ "arguments": { "text": "x".repeat(70_000) } })).await;
    assert!(text.contains("at most 65536 are stored"), "{text}");

    value(&setup.pool, "CronCreate", job("a", "0 9 * * *")).await;
    let text = refused(json!({})).await;
    assert!(text.contains("`cron_1` has the name `a` already"), "{text}");
    let changed = json!({ "name": "a", "schedule": "0 10 * * *", "tool": "note", "arguments": { "text": "b" },
        "replace": true, "enabled": false });
    let changed = value(&setup.pool, "CronCreate", changed).await;
    assert_eq!((&changed["id"], &changed["next"]), (&json!("cron_1"), &json!([])));
    value(&setup.pool, "CronCreate", job("b", "0 9 * * *")).await;
    let text = refused(json!({ "name": "c" })).await;
    assert!(text.contains("you have 2 jobs, which is the limit"), "{text}");
}

#[tokio::test]
async fn secrets_are_not_stored() {
    let secrets = Secrets::new().with("TOKEN", "8fQm2x1v");
    let setup = Setup::with(|builder| builder, |pool| pool.secrets(secrets));
    let mut job = job("a", "0 9 * * *");
    job["arguments"]["text"] = "Bearer 8fQm2x1v".into();
    let text = error(&setup.pool, "CronCreate", job).await;
    assert!(text.contains("must not contain a secret") && !text.contains("8fQm2x1v"), "{text}");
}

#[tokio::test]
async fn secret_arguments_are_not_stored_where_they_are_nested() {
    let schema = json!({ "type": "object",
        "properties": { "login": { "$ref": "#/$defs/Login" } },
        "$defs": { "Login": { "type": "object", "properties": {
            "user": { "type": "string" }, "token": { "type": "string", "writeOnly": true } } } } });
    let sync = Tool::builder("sync", "Copy all.").input_schema(schema.as_object().unwrap().clone());
    let sync = sync.handler(|_: serde_json::Map<String, Value>| async { "copied" });
    let setup = Setup::with(|builder| builder, |pool| pool.add(sync));
    for (login, name) in [(json!({ "token": "s3" }), "token"), (json!({ "key": "s3" }), "key")] {
        let job = json!({ "name": "a", "schedule": "0 9 * * *", "tool": "sync", "arguments": { "login": login } });
        let text = error(&setup.pool, "CronCreate", job).await;
        assert!(text.contains(&format!("the argument `{name}` of `sync` is secret")), "{text}");
    }
    let plain = json!({ "tool": "sync", "arguments": { "login": { "user": "ada" } } });
    assert_eq!(setup.minutely(plain).await["id"], "cron_1");
}

#[tokio::test]
async fn callers_see_and_delete_their_own_jobs_alone() {
    let setup = Setup::new();
    let ada = setup.pool.for_principal(Principal::new("ada"));
    let http = setup.pool.for_principal(Principal::anonymous().restricted());
    value(&ada, "CronCreate", job("hers", "0 9 * * *")).await;
    for other in [&setup.pool, &http, &setup.pool.for_principal(Principal::new("process"))] {
        assert_eq!(value(other, "CronList", json!({})).await["jobs"], json!([]));
        assert!(error(other, "CronDelete", json!({ "id": "cron_1" })).await.contains("no job"));
    }
    assert_eq!(value(&ada, "CronList", json!({})).await["jobs"][0]["name"], "hers");
    // The owner of the process is not an anonymous caller of a server.
    value(&setup.pool, "CronCreate", job("his", "0 9 * * *")).await;
    assert_eq!(value(&http, "CronList", json!({})).await["jobs"], json!([]));
}

#[tokio::test]
async fn a_narrowed_caller_cannot_make_a_job_of_what_it_cannot_call() {
    let setup = Setup::new();
    let narrow = setup.pool.scope();
    let _guard = narrow.restrict(["CronCreate"]).unwrap();
    let text = error(&narrow, "CronCreate", job("a", "0 9 * * *")).await;
    assert!(text.contains("`note` is not available now"), "{text}");
}

/// A tool that creates a job in a session of its own, as an agent does.
fn delegate() -> Tool {
    let handler = |_: serde_json::Map<String, Value>, context: ToolContext| async move {
        let session = context.pool().unwrap().session();
        call(session.pool(), "CronCreate", job("inner", "0 9 * * *")).await.observation().to_text()
    };
    Tool::builder("delegate", "Create a job.").handler(handler)
}

#[tokio::test]
async fn a_job_may_not_create_jobs_unless_the_operator_says_so() {
    let direct = json!({ "tool": "CronCreate", "arguments": job("inner", "0 9 * * *") });
    let nested = json!({ "tool": "delegate", "arguments": {} });
    for (more, allowed) in [(&direct, false), (&nested, false), (&direct, true), (&nested, true)] {
        let configure =
            |builder: ScheduleBuilder| if allowed { builder.jobs_may_schedule() } else { builder };
        let setup = Setup::with(configure, |pool| pool.add(delegate()));
        setup.minutely(more.clone()).await;
        setup.time.advance(30);
        let (mut host, events) = setup.host();
        host.tick().await.unwrap();
        host.idle().await;
        let jobs = setup.list().await["jobs"].as_array().unwrap().len();
        assert_eq!(jobs, if allowed { 2 } else { 1 });
        let text = events.lock().unwrap().last().unwrap().to_string();
        assert_eq!(text.contains("a job may not create or change jobs"), !allowed, "{text}");
    }
}

#[tokio::test]
async fn a_command_is_a_call_of_bash() {
    let bash = Tool::builder("Bash", "Run a command.")
        .input_schema(json!({ "type": "object", "properties": { "command": { "type": "string" } },
            "required": ["command"], "additionalProperties": false }))
        .handler(|arguments: serde_json::Map<String, Value>| async move {
            arguments["command"].as_str().unwrap().to_owned()
        });
    let setup = Setup::with(|builder| builder, |pool| pool.add(bash));
    let job = json!({ "name": "a", "schedule": "0 9 * * *", "command": "make test" });
    let created = value(&setup.pool, "CronCreate", job.clone()).await;
    assert_eq!(
        (&created["tool"], &created["arguments"]["command"]),
        (&json!("Bash"), &json!("make test"))
    );
    for (more, expected) in [
        (json!({ "tool": "note" }), "leave out `tool` and `arguments`"),
        (json!({ "arguments": { "timeout_ms": 1 } }), "leave out `tool` and `arguments`"),
        (json!({ "command": null }), "write `tool` and `arguments`, or `command`"),
    ] {
        let mut wrong = job.clone();
        wrong.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let text = error(&setup.pool, "CronCreate", wrong).await;
        assert!(text.contains(expected), "{text}");
    }
    let text = error(&Setup::new().pool, "CronCreate", job).await;
    assert!(text.contains("the job cannot call `Bash`: unknown tool `Bash`"), "{text}");
}
