//! The commands, on a log with a few calls.

use super::*;
use crate::testing::{Folder, TRACE, WebClient, fill, pool, tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};
use tool_runtime_core::tool::{Execution, ToolCall};
use tool_runtime_core::vocabulary::Principal;

/// Runs `log NAME ..`. Arguments that begin with dashes are flags, or options with the value that follows.
fn attempt(words: &[&str]) -> Result<(bool, String), CommandFailure> {
    let action = match words[0] {
        "show" => Action::Show,
        "verify" => Action::Verify,
        "export" => Action::Export,
        _ => Action::Resolve,
    };
    let command = LogCommand { action, file: FileArgument::Required };
    let form = command.form();
    let (mut values, mut options) = (Vec::new(), Vec::new());
    let mut words = words[1..].iter();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--") else {
            values.push(*word);
            continue;
        };
        let option = form.options.iter().find(|option| option.name == name).expect("an option");
        options.push((name, option.value.map_or("", |_| words.next().expect("a value"))));
    }
    let mut output = Vec::new();
    let is_fine = command.write(&CommandArguments::new(values, options), &mut output)?;
    Ok((is_fine, String::from_utf8(output).expect("UTF-8")))
}

fn run(words: &[&str]) -> (bool, String) {
    attempt(words).unwrap()
}

#[tokio::test]
async fn calls_and_records_are_shown_and_exported() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::open(&path).unwrap();
    fill(&log, 2).await;
    pool(&log).call(ToolCall::new("other\u{1b}[2J", "{}")).await;
    log.flush().await.unwrap();
    let file = path.to_str().unwrap();
    let (_, output) = run(&["show", file]);
    let lines: Vec<&str> = output.lines().map(|line| &line[26..]).collect();
    assert!(lines[1].starts_with(r#"echo {"text":1} -> succeeded after "#), "{output}");
    assert!(lines[2].starts_with("other {} -> failed: "), "{output}");
    assert!(!output.contains('\u{1b}'));
    assert_eq!(run(&["show", file, "--tool", "echo", "--records"]).1.lines().count(), 8);
    let (_, exported) = run(&["export", file, "--after", "8"]);
    let first: LogRecord = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!((first.seq, exported.lines().count()), (9, 2));
}

/// Denies `send` of everyone but `ada`.
struct Sending;

impl PolicyEngine for Sending {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.name() == "send" && call.principal().id() != "ada" {
            true => Decision::deny("only Ada sends").with_rule("sending"),
            false => Decision::allow(),
        }
    }
}

#[tokio::test]
async fn calls_are_chosen_by_caller_decision_time_and_text() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::open(&path).unwrap();
    let pool = tools().policy(Sending).recorder(log.clone()).build().unwrap();
    for (caller, tool, text) in [
        ("ada", "send", "Mine"),
        ("bob", "send", "mine"),
        ("bob", "echo", "yours"),
        ("", "echo", ""),
        ("", "wrong", ""),
    ] {
        let context = pool.context().with_principal(Principal::new(caller));
        let call = ToolCall::json(tool, serde_json::json!({ "text": text }));
        pool.call_with(call, &context).await;
    }
    log.flush().await.unwrap();
    let file = path.to_str().unwrap();
    for (options, expected) in [
        (&["--principal", "bob"][..], &["send", "echo"][..]),
        (&["--decision", "denied"], &["send"]),
        (&["--decision", "denied", "--grep", "ONLY ada"], &["send"]),
        (&["--grep", "mine"], &["send", "send"]),
        (&["--tool", "echo", "--principal", "bob"], &["echo"]),
        (&["--since", "1h"], &["send", "send", "echo", "echo", "wrong"]),
        (&["--until", "2026-01-31"], &[]),
        (&["--state", "succeeded"], &["send", "echo", "echo"]),
        (&["--state", "denied"], &["send"]),
        (&["--state", "failed"], &["wrong"]),
        (&["--principal", "carl"], &[]),
    ] {
        let words = [&["show", file, "--json"], options].concat();
        let (_, output) = run(&words);
        let calls = output.lines().map(|line| serde_json::from_str(line).unwrap());
        let tools: Vec<String> =
            calls.map(|call: serde_json::Value| call["tool"].as_str().unwrap().into()).collect();
        assert_eq!(tools, expected, "{options:?}");
    }
    let (_, output) = run(&["show", file, "--principal", "ada", "--json"]);
    let call: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(call["arguments"], serde_json::json!({ "text": "Mine" }));
    assert_eq!((&call["principal"], &call["state"]), (&"ada".into(), &"succeeded".into()));
    let (_, output) = run(&["show", file, "--decision", "denied", "--json"]);
    let call: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&call["rule"], &call["reason"]), (&"sending".into(), &"only Ada sends".into()));
    assert_eq!((&call["state"], &call["is_ended"]), (&"denied".into(), &true.into()));
    let (_, output) = run(&["show", file, "--state", "denied"]);
    let told = r#"send {"text":"mine"} for bob -> denied (rule sending): only Ada sends"#;
    assert!(output.ends_with(&format!("  {told}\n")), "{output}");
    for (state, expected) in [("denied", "denied"), ("failed", "failed")] {
        let (_, output) = run(&["export", file, "--state", state]);
        let kind = format!(r#""kind":"{expected}""#);
        assert!(output.lines().count() == 1 && output.contains(&kind), "{state}: {output}");
    }
    let (_, output) = run(&["show", file, "--records", "--decision", "denied"]);
    assert!(output.lines().count() == 1 && output.contains(" send for bob"), "{output}");
    let (_, exported) = run(&["export", file, "--principal", "ada", "--grep", "mine"]);
    assert!(exported.contains(r#""kind":"proposed""#), "{exported}");
    let Err(CommandFailure::Usage(wrong)) = attempt(&["show", file, "--decision", "maybe"]) else {
        panic!("`maybe` is no decision")
    };
    assert!(wrong.contains("is not one of `allowed`, `denied`"), "{wrong}");
}

#[tokio::test]
async fn verify_says_what_it_found_and_what_it_could_not_check() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (path, head) = (folder.file("calls.db"), elsewhere.file("head"));
    let log = EventLog::builder().head_file(&head).open(&path).unwrap();
    fill(&log, 2).await;
    let (file, head) = (path.to_str().unwrap(), head.to_str().unwrap());
    let (is_fine, text) = run(&["verify", file]);
    assert!(
        is_fine && text.starts_with("records 1 to 8 are as they were written\nwhether the end")
    );
    assert!(!run(&["verify", file, "--head", head]).1.contains("not known"));
    let (_, found) = run(&["verify", file, "--head", head, "--json"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["is_intact"], &found["records"]), (&true.into(), &8.into()));
    drop(log);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute("UPDATE records SET text = replace(text, 'echo', 'send') WHERE seq = 3", [])
        .unwrap();
    connection.execute("DELETE FROM records WHERE seq = 8", []).unwrap();
    let (is_fine, text) = run(&["verify", file, "--head", head]);
    let expected = "record 3 was changed\nthe end was cut: the last record is 7, and record 8 was written\nproblems: 2\n";
    assert!(!is_fine && text.starts_with(expected), "{text}");
}

#[tokio::test]
async fn an_operator_finds_and_resolves_a_step() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::open(&path).unwrap();
    let runs = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&runs);
    let tool = tool_runtime_core::tool::Tool::builder("wait", "Wait.").handler(move || {
        begun.store(true, Ordering::Relaxed);
        std::future::pending::<()>()
    });
    let pool = tool_runtime_core::pool::ToolPool::builder()
        .add(tool)
        .install(log.clone())
        .build()
        .unwrap();
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
    let file = path.to_str().unwrap();
    while !runs.load(Ordering::Relaxed) {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    assert!(run(&["show", file, "--unresolved"]).1.contains("its end is not recorded"));
    drop(call);
    log.flush().await.unwrap();
    let text = run(&["show", file, "--unresolved"]).1;
    let step = text.split("resolve FILE ").nth(1).unwrap().trim();
    run(&["resolve", file, step, "--result", "sent", "--by", "ada"]);
    assert_eq!(run(&["show", file, "--unresolved"]).1, "no such calls\n");
    assert!(run(&["show", file, "--run", "one"]).1.contains("resolved by ada"));
    assert!(run(&["show", file, "--state", "resolved"]).1.contains("resolved by ada"));
    assert_eq!(run(&["show", file, "--state", "cancelled"]).1, "no such calls\n");
}

#[tokio::test]
async fn lines_end_with_the_ids_that_the_logs_of_requests_have() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::open(&path).unwrap();
    let pool = pool(&log);
    let context = pool.context().with_peer(Arc::new(WebClient));
    pool.call_with(ToolCall::new("echo", "{}"), &context).await;
    log.flush().await.unwrap();
    let file = path.to_str().unwrap();
    for options in [&["show", file][..], &["show", file, "--records"]] {
        let (_, output) = run(options);
        let ids = format!(" trace={TRACE} mcp_session=session-7");
        assert!(output.lines().all(|line| line.ends_with(&ids)), "{output}");
    }
    assert!(run(&["show", file, "--grep", "SESSION-7"]).1.contains("echo"));
}

#[tokio::test]
async fn a_step_without_a_run_is_shown_and_nothing_has_to_be_resolved() {
    let folder = Folder::new();
    let path = folder.file("calls.db");
    let log = EventLog::open(&path).unwrap();
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    let tool = tool_runtime_core::tool::Tool::builder("wait", "Wait.").handler(move || {
        begins.store(true, Ordering::Relaxed);
        std::future::pending::<()>()
    });
    let pool = tool_runtime_core::pool::ToolPool::builder()
        .add(tool)
        .install(log.clone())
        .build()
        .unwrap();
    let context = pool.context().as_step(StepId::new("made-elsewhere"));
    let mut call = Box::pin(pool.call_with(ToolCall::new("wait", "{}"), &context));
    while !begun.load(Ordering::Relaxed) {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    drop(call);
    log.flush().await.unwrap();
    let file = path.to_str().unwrap();
    assert!(run(&["show", file]).1.contains("wait {} as step made-elsewhere -> cancelled"));
    let unresolved = run(&["show", file, "--unresolved"]).1;
    assert!(unresolved.contains("wait {}") && !unresolved.contains("resolve"), "{unresolved}");
    assert!(run(&["verify", file]).0);
}

#[test]
fn mistakes_in_arguments_say_what_to_write() {
    for (words, expected) in [
        (&["resolve", "a.db", "s", "--by", "ada"][..], "choose `--not-run` or"),
        (&["resolve", "a.db", "s", "--by", "ada", "--not-run", "--result", "x"], "choose"),
        (&["resolve", "a.db", "s", "--not-run"], "say who you are"),
        (&["export", "a.db", "--after", "x"], "`--after x` is not the number"),
    ] {
        match attempt(words) {
            Err(CommandFailure::Usage(text)) => assert!(text.contains(expected), "{text}"),
            other => panic!("{words:?}: {other:?}"),
        }
    }
}

#[test]
fn a_run_that_the_log_does_not_have_is_an_error() {
    let folder = Folder::new();
    let file = folder.file("calls.db");
    drop(pool(&EventLog::open(&file).unwrap()));
    match attempt(&["show", file.to_str().unwrap(), "--run", "one"]) {
        Err(CommandFailure::Failed(text)) => assert_eq!(text, "the log has no run `one`"),
        other => panic!("{other:?}"),
    }
}

/// A program makes its log before it knows which command it runs.
#[tokio::test]
async fn commands_about_a_missing_log_fail_and_create_nothing() {
    for name in ["calls.db", "calls.jsonl"] {
        let folder = Folder::new();
        let path = folder.file(name);
        let file = path.to_str().unwrap();
        let log = EventLog::open(&path).unwrap();
        for words in [
            &["verify", file][..],
            &["show", file],
            &["export", file],
            &["resolve", file, "s", "--not-run", "--by", "ada"],
        ] {
            match attempt(words) {
                Err(CommandFailure::Failed(text)) => {
                    assert!(text.contains("does not exist: give the file"), "{text}");
                }
                other => panic!("{words:?}: {other:?}"),
            }
        }
        drop(log);
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[tokio::test]
async fn commands_that_read_change_no_file() {
    for name in ["calls.db", "calls.jsonl"] {
        let folder = Folder::new();
        let path = folder.file(name);
        fill(&EventLog::open(&path).unwrap(), 1).await;
        // Readers of SQLite coordinate by journals, which stay behind, empty.
        let is_journal = |name: &String| name.ends_with("-shm") || name.ends_with("-wal");
        let files = || {
            let content = |name: String| (std::fs::read(folder.file(&name)).unwrap(), name);
            let names = folder.names().into_iter().filter(|name| !is_journal(name));
            names.map(content).collect::<Vec<_>>()
        };
        let before = files();
        for command in ["verify", "show", "export"] {
            run(&[command, path.to_str().unwrap()]);
            assert!(files() == before, "{command} {name}: {:?}", folder.names());
        }
    }
}

#[test]
fn verify_of_a_log_without_records_fails_and_says_what_to_look_for() {
    let folder = Folder::new();
    for name in ["calls.db", "calls.jsonl"] {
        let path = folder.file(name);
        drop(pool(&EventLog::open(&path).unwrap()));
        let (is_fine, text) = run(&["verify", path.to_str().unwrap()]);
        let expected = "the log is empty: either nothing was recorded, or all records were removed\nproblems: 1\ncopy the files";
        assert!(!is_fine && text.starts_with(expected), "{text}");
    }
    let path = folder.file("emptied.db");
    std::fs::write(&path, "").unwrap();
    match attempt(&["verify", path.to_str().unwrap()]) {
        Err(CommandFailure::Failed(text)) => {
            assert!(text.ends_with("or look for who emptied it"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

#[tokio::test]
async fn verify_asks_for_a_newer_head_if_the_record_of_the_head_was_removed() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (path, head) = (folder.file("calls.db"), elsewhere.file("head"));
    let log = EventLog::open(&path).unwrap();
    fill(&log, 2).await;
    log.prune(6).await.unwrap();
    std::fs::write(&head, format!(r#"{{"seq":4,"hash":"{}"}}"#, "0".repeat(64))).unwrap();
    let (_, text) = run(&["verify", path.to_str().unwrap(), "--head", head.to_str().unwrap()]);
    assert!(text.contains("\nrecord 4 of the head was removed, so"), "{text}");
}

#[test]
fn a_pool_with_a_log_has_commands_that_need_no_pool() {
    use tool_runtime_command::seam::Commands as _;
    use tool_runtime_core::pool::{PoolExtension as _, ToolPool};
    let commands = EventLog::prepare(ToolPool::builder()).commands();
    let names: Vec<&str> = commands.iter().map(|command| command.form().name).collect();
    assert_eq!(names, ["log show", "log follow", "log verify", "log export", "log resolve"]);
    let arguments = CommandArguments::new([""; 0], [("", ""); 0]);
    assert!(commands.iter().all(|command| command.run_without_pool(&arguments).is_some()));
}
