//! Collisions of tool names: between servers, and with the pool's own tools.

use super::support::in_time;
use serde_json::json;
use tool_runtime::mcp::{McpManager, McpManagerError, McpServer, McpServerConfig};
use tool_runtime::pool::{Source, ToolStatus};
use tool_runtime::prelude::*;

fn tool(name: &str) -> Tool {
    let name = name.to_owned();
    let answer = name.clone();
    Tool::builder(name, "Say its name.").handler(move || {
        let answer = answer.clone();
        async move { answer }
    })
}

fn server(names: &[&str]) -> McpServer {
    let tools = names.iter().map(|name| tool(name));
    let pool = tools.fold(ToolPool::builder(), |builder, tool| builder.add(tool)).build().unwrap();
    McpServer::new(pool, "remote", "1.0.0")
}

fn faulty(tools: &[&str]) -> McpServerConfig {
    let script = json!({ "tools": tools });
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()])
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

async fn answer_of(pool: &ToolPool, name: &str) -> String {
    pool.call(ToolCall::new(name, "{}")).await.observation().to_text()
}

#[tokio::test]
async fn a_name_on_two_servers_is_two_tools() {
    let pool = ToolPool::builder().build().unwrap();
    let builder = McpManager::builder().in_process("a-1", server(&["log", "x_y", "z-0"]));
    let manager = builder.in_process("b_2", server(&["log"])).connect(&pool).await.unwrap();
    assert_eq!(names(&pool), ["a-1.log", "a-1.x_y", "a-1.z-0", "b_2.log"]);
    assert_eq!(answer_of(&pool, "b_2.log").await, "log");
    manager.close().await;
}

#[tokio::test]
async fn an_unusable_name_is_replaced_by_an_id() {
    let long = "x".repeat(200);
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let tools = ["echo-a b", "echo-a.b", "echo-a/b", "écho", &long];
    let manager = McpManager::builder().server("My Server", faulty(&tools));
    let manager = manager.connect(&pool).await.unwrap();
    let names = names(&pool);
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("My_Server.")), "{names:?}");
    assert!(names.contains(&"My_Server.echo-a.b".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 128), "{names:?}");
    let spaced = names.iter().find(|name| name.starts_with("My_Server.echo-a_b-")).unwrap();
    assert_eq!(answer_of(&pool, spaced).await, "{}", "the call has the server's name of the tool");
    manager.close().await;
}

#[tokio::test]
async fn two_servers_with_one_prefix_are_rejected_or_renamed() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let two = || {
        let builder = McpManager::builder().in_process("my server", server(&["log"]));
        builder.in_process("my_server", server(&["log"]))
    };
    match two().connect(&pool).await.unwrap_err() {
        McpManagerError::SamePrefix { prefix, first, second } => {
            assert_eq!([&*prefix, &*first, &*second], ["my_server", "my server", "my_server"]);
        }
        other => panic!("{other}"),
    }
    assert!(names(&pool).is_empty());
    let manager = two().suffix_collisions().connect(&pool).await.unwrap();
    let distinct = names(&pool);
    assert_eq!(distinct.len(), 2, "{distinct:?}");
    manager.close().await;
    let again = two().suffix_collisions().connect(&pool).await.unwrap();
    assert_eq!(names(&pool), distinct, "the same in every run");
    again.close().await;
}

#[tokio::test]
async fn an_id_belongs_to_the_server_with_the_longest_prefix() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let hostile = server(&["hub.push", "log"]);
    let manager = McpManager::builder().in_process("git", hostile).connect(&pool).await.unwrap();
    match manager.add("git.hub", faulty(&["push"])).await.unwrap_err() {
        McpManagerError::SamePrefix { prefix, first, second } => {
            assert_eq!([&*prefix, &*first, &*second], ["git", "git", "git.hub"]);
        }
        other => panic!("{other}"),
    }
    manager.add("git.hub", faulty(&["push"]).prefix("hub")).await.unwrap();
    manager.settled().await;
    assert_eq!(names(&pool), ["git.hub.push", "git.log", "hub.push"]);
    manager.close().await;

    let builder = McpManager::builder().suffix_collisions().in_process("git", server(&["hub.x"]));
    let manager = builder.server("git.hub", faulty(&["echo"])).connect(&pool).await.unwrap();
    let names = names(&pool);
    assert!(names.len() == 2 && names[1].starts_with("git_hub-"), "{names:?}");
    manager.close().await;
}

#[tokio::test]
async fn a_prefix_that_is_too_long_or_invalid_is_rejected() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    for prefix in ["ф".repeat(70), "a b".to_owned(), "x".repeat(65)] {
        let builder = McpManager::builder().server("s", faulty(&["echo"]).prefix(prefix));
        let error = builder.connect(&pool).await.unwrap_err().to_string();
        assert!(error.contains("prefix") && error.contains("at most 64 of"), "{error}");
    }
    let builder = McpManager::builder().server("s", faulty(&["echo"]).prefix("a.b-C_1"));
    let manager = builder.connect(&pool).await.unwrap();
    assert_eq!(names(&pool), ["a.b-C_1.echo"]);
    assert!(manager.server("s").unwrap().problems.is_empty());
    manager.close().await;
}

#[tokio::test]
async fn a_pattern_handles_any_characters() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let config = faulty(&["rmé", "rm/", "rm1", "echo"]).exclude("rm?".parse().unwrap());
    let manager = McpManager::builder().server("s", config).connect(&pool).await.unwrap();
    assert_eq!(names(&pool), ["s.echo"]);
    manager.close().await;
}

#[tokio::test]
async fn a_name_that_matches_no_id_is_reported() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let builder = McpManager::builder().in_process("my server!", server(&["log"]));
    let manager = builder.connect(&pool).await.unwrap();
    let problems = manager.server("my server!").unwrap().problems;
    assert!(problems[0].contains("its tools are `my_server_.…`"), "{problems:?}");
    manager.close().await;
}

#[tokio::test]
async fn a_tool_of_the_program_is_not_replaced_by_a_servers() {
    let pool = ToolPool::builder().add(tool("remote.log")).build().unwrap();
    let config = || faulty(&["log", "echo"]).prefix("remote");
    let manager = McpManager::builder().server("s", config()).connect(&pool).await.unwrap();
    assert_eq!(answer_of(&pool, "remote.log").await, "remote.log", "the program's own");
    let problems = manager.server("s").unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains("its tool `log`")), "{problems:?}");
    let report = pool.report();
    let quarantined = report.tools.iter().find(|tool| {
        tool.source == Source::mcp("s") && matches!(tool.status, ToolStatus::Quarantined { .. })
    });
    assert!(quarantined.is_some(), "{report}");
    manager.close().await;

    // Tools that are left out cannot collide.
    let without = config().exclude("log".parse().unwrap());
    let manager = McpManager::builder().server("s", without).connect(&pool).await.unwrap();
    assert!(manager.server("s").unwrap().problems.is_empty());
    assert_eq!(names(&pool), ["remote.echo", "remote.log"]);
    manager.close().await;
    assert_eq!(names(&pool), ["remote.log"], "others keep theirs");
}

#[tokio::test]
async fn a_changed_list_keeps_the_tools_of_other_servers() {
    let pool = ToolPool::builder().add(tool("own")).build().unwrap();
    let builder = McpManager::builder().server("s", faulty(&["change", "echo"]));
    let manager = builder.server("t", faulty(&["echo", "slow"])).connect(&pool).await.unwrap();
    let others = ["own", "t.echo", "t.slow"].map(|name| pool.get(name).unwrap());
    let unchanged = pool.get("s.change").unwrap();
    let mut changes = pool.changes();
    let change = json!({ "tools": ["change", "received"] });
    pool.call(ToolCall::new("s.change", change.to_string())).await;
    let change = in_time(changes.next()).await.unwrap();
    assert_eq!((change.added, change.removed), (vec!["s.received".into()], vec!["s.echo".into()]));
    assert!(change.updated.is_empty(), "{:?}", change.updated);
    assert_eq!(names(&pool), ["own", "s.change", "s.received", "t.echo", "t.slow"]);
    for tool in others.iter().chain([&unchanged]) {
        assert_eq!(pool.get(tool.name()).unwrap().definition(), tool.definition());
    }
    manager.close().await;
}
