//! Processes: which are missing, and how they end.

use super::{Fixture, at, ended, scripted};
use crate::code::{CodeParams, LanguageServer};
use crate::{Builtins, Workspace};
use tool_runtime::prelude::*;

/// A server with a child, which hold the pipe `alive` open.
fn with_child(server: &str) -> LanguageServer {
    let script = format!("exec 9>alive; sleep 1000 & {server}");
    LanguageServer::new("bash", ["-c", &script], [("x", "fake")])
}

fn python() -> String {
    scripted("utf-16", "push").arguments.join(" ")
}

#[tokio::test]
async fn the_end_of_a_pool_ends_servers_with_their_children() {
    let fixture = Fixture::with(with_child(&format!("exec python3 {}", python())));
    fixture.put("a.x", "");
    let alive = fixture.pipe("alive");
    fixture.state("a.x").await.unwrap();
    fixture.close().await;
    ended(alive).await;
}

#[tokio::test]
async fn a_dropped_pool_ends_servers_with_their_children() {
    let fixture = Fixture::with(with_child(&format!("exec python3 {}", python())));
    fixture.put("a.x", "");
    let alive = fixture.pipe("alive");
    fixture.state("a.x").await.unwrap();
    drop(fixture.pool);
    ended(alive).await;
}

#[tokio::test]
async fn a_server_that_ignores_its_end_is_killed() {
    let stubborn = with_child("trap '' TERM; echo > begun; cat >/dev/null; sleep 1000");
    let fixture = Fixture::with(stubborn);
    fixture.put("a.x", "");
    let (begun, alive) = (fixture.pipe("begun"), fixture.pipe("alive"));
    fixture.out_of_time("a.x", begun).await;
    ended(alive).await;
}

#[tokio::test]
async fn missing_programs_are_named_with_their_remedy() {
    let missing = LanguageServer {
        install: Some("run the installer".to_owned()),
        ..LanguageServer::new("no-such-server", [], [("y", "y")])
    };
    let over = |servers: Vec<(&str, LanguageServer)>| {
        let directory = tempfile::TempDir::new().unwrap();
        std::fs::write(directory.path().join("a.y"), "").unwrap();
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let named = servers.into_iter().map(|(name, server)| (name.to_owned(), server));
        let params = CodeParams { language_servers: named.collect(), ..CodeParams::default() };
        (
            directory,
            ToolPool::builder().install(Builtins::new(workspace).code(params)).build().unwrap(),
        )
    };
    let (_directory, pool) = over(vec![("y", missing), ("fake", scripted("utf-16", "push"))]);
    for _ in 0..5 {
        let result = pool.call(ToolCall::json("LSP", at("hover", "a.y", 1, 1))).await;
        assert_eq!(
            result.observation().to_text(),
            "`hover` needs a language server; `no-such-server` is missing; run the installer"
        );
    }
}
