//! Servers that crash, send garbage, are slow.

use super::{Fixture, LIMIT, at, ended, scripted};
use crate::code::{CodeParams, LanguageServer};
use crate::{Builtins, Workspace};
use serde_json::json;
use std::time::Duration;
use tool_runtime::{ToolCall, ToolPool};

#[tokio::test]
async fn a_server_that_crashes_is_started_again() {
    let fixture = Fixture::new();
    fixture.put("a.x", "CRASH_ONCE");
    let state = fixture.state("a.x").await.unwrap();
    assert_eq!([&state["text"], &state["version"]], [&json!("CRASH_ONCE"), &json!(1)]);
    fixture.close().await;
}

#[tokio::test]
async fn a_server_that_crashes_always_is_given_up_with_its_error_output() {
    let fixture = Fixture::new();
    fixture.put("a.x", "CRASH_ALWAYS");
    let error = fixture.state("a.x").await.unwrap_err();
    assert!(error.starts_with("the language server for `fake` ended during the call: "), "{error}");
    assert!(error.contains("it wrote: the heap is full"), "{error}");
    let error = fixture.state("a.x").await.unwrap_err();
    assert!(
        error.contains("has ended 3 times and is not started again for some minutes"),
        "{error}"
    );
    fixture.close().await;
}

#[tokio::test]
async fn garbage_and_huge_messages_end_the_server() {
    for (text, expected) in [
        ("GARBAGE", "\"Segmentation fault\", which is not a header"),
        ("HUGE", "a message of 999999999999 bytes, more than"),
    ] {
        let fixture = Fixture::new();
        fixture.put("a.x", text);
        let error = fixture.state("a.x").await.unwrap_err();
        assert!(error.contains(expected), "{error}");
        // Other files get a new server.
        fixture.put("b.x", "fine");
        fixture.state("b.x").await.unwrap();
        fixture.close().await;
    }
}

#[tokio::test]
async fn errors_of_a_server_are_results_and_some_requests_are_repeated() {
    let fixture = Fixture::new();
    fixture.put("a.x", "REFUSED");
    assert_eq!(
        fixture.state("a.x").await.unwrap_err(),
        "the language server for `fake` answered: not here (code -32803)"
    );
    fixture.put("b.x", "MODIFIED");
    fixture.state("b.x").await.unwrap();
    fixture.close().await;
}

#[tokio::test]
async fn a_slow_request_is_cancelled_and_the_server_stays() {
    let fixture = Fixture::new();
    fixture.put("a.x", "SLOW");
    fixture.put("b.x", "fine");
    let got = fixture.pipe("got");
    let error = fixture.out_of_time("a.x", got).await;
    assert_eq!(error, "the language server for `fake` did not answer within 30 seconds");
    assert_eq!(fixture.state("b.x").await.unwrap()["cancelled"], 1);
    fixture.close().await;
}

#[tokio::test]
async fn a_dropped_call_cancels_its_request() {
    let fixture = Fixture::new();
    fixture.put("a.x", "SLOW");
    fixture.put("b.x", "fine");
    let got = fixture.pipe("got");
    let call = fixture.pool.call(ToolCall::json("LSP", at("hover", "a.x", 1, 1)));
    tokio::select! {
        _ = call => panic!("the request was answered"),
        text = ended(got) => assert_eq!(text, "got"),
    }
    // The next call is not held up by it.
    assert_eq!(fixture.state("b.x").await.unwrap()["cancelled"], 1);
    fixture.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let server =
        LanguageServer::new("bash", ["-c", "echo 'no license' >&2; exit 7"], [("x", "fake")]);
    let fixture = Fixture::with(server);
    fixture.put("a.x", "");
    let error = fixture.state("a.x").await.unwrap_err();
    let expected =
        "`hover` needs a language server; the language server for `fake` did not start: ended: ";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.ends_with("it wrote: no license"), "{error}");
    let mute = LanguageServer::new("sleep", ["1000"], [("x", "fake")]);
    let fixture = Fixture::limited(mute, Duration::from_secs(1));
    fixture.put("a.x", "");
    let error = fixture.state("a.x").await.unwrap_err();
    assert!(error.ends_with("did not start: did not answer within 1 seconds"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_becomes_ready_is_replaced_by_a_search_of_the_text() {
    let mute = LanguageServer::new("sleep", ["1000"], [("x", "fake")]);
    let fixture = Fixture::limited(mute, LIMIT * 2);
    fixture.put("a.x", "def a\n");
    let found = fixture.call(at("goToDefinition", "a.x", 1, 5)).await.unwrap();
    assert_eq!(found["items"][0]["line"], 1, "{found}");
    let notice = found["notices"][0].as_str().unwrap();
    let expected = "the language server for `fake` still starts after 3 s; ask again later";
    assert!(notice.ends_with(expected), "{notice}");
    // It does not wait for the start.
    fixture.close().await;
}

#[tokio::test]
async fn a_server_that_starts_slowly_is_there_for_later_calls() {
    let gates = Fixture::new();
    let gate = gates.make_pipe("gate");
    let server = scripted("utf-16", "push");
    let script = format!("read line < '{}'; exec python3 \"$@\"", gate.display());
    let mut arguments = vec!["-c".to_owned(), script, "bash".to_owned()];
    arguments.extend(server.arguments);
    let server = LanguageServer { command: "bash".into(), arguments, ..server };
    let fixture = Fixture::limited(server, LIMIT * 2);
    fixture.put("a.x", "def a\n");
    let found = fixture.call(at("goToDefinition", "a.x", 1, 5)).await.unwrap();
    assert!(found["notices"][0].as_str().unwrap().contains("still starts"), "{found}");
    std::fs::write(gate, "go\n").unwrap();
    assert_eq!(fixture.state("a.x").await.unwrap()["text"], "def a\n");
    fixture.close().await;
}

/// Tools could put another program there.
#[tokio::test]
async fn a_program_that_tools_may_change_is_not_started() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::TempDir::new().unwrap();
    let bin = directory.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let started = directory.path().join("started");
    std::fs::write(bin.join("fake-server"), format!("#!/bin/sh\n: > {}\n", started.display()))
        .unwrap();
    std::fs::write(directory.path().join("a.x"), "def a").unwrap();
    std::fs::set_permissions(bin.join("fake-server"), PermissionsExt::from_mode(0o755)).unwrap();
    let link = tempfile::TempDir::new().unwrap();
    std::os::unix::fs::symlink(bin.join("fake-server"), link.path().join("fake-server")).unwrap();
    for path in [&bin, link.path()] {
        let workspace = Workspace::builder().root(directory.path());
        let workspace = workspace.environment([("PATH", path)]).build().unwrap();
        let server = LanguageServer::new("fake-server", [], [("x", "fake")]);
        let language_servers = [("fake".to_owned(), server)].into();
        let params = CodeParams { language_servers, ..CodeParams::default() };
        let pool = ToolPool::builder().install(Builtins::new(workspace).code(params));
        let pool = pool.build().unwrap();
        for operation in ["goToDefinition", "hover"] {
            let result = pool.call(ToolCall::json("LSP", at(operation, "a.x", 1, 5))).await;
            let text = result.observation().to_text();
            assert!(text.contains("which tools may change"), "{text}");
            assert_eq!(result.is_error(), operation == "hover", "{text}");
        }
        assert!(!started.exists());
    }
}
