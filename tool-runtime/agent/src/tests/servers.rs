use super::{AddAction, WaitAction};
use crate::{Agent, AgentEvent, ScriptedModel, StopReason};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::mcp::{McpConfigError, McpManager, McpServer};
use tool_runtime::prelude::*;

const SCRIPT: &str = r#"[
    { "calls": [{ "name": "far.add", "arguments": { "a": 40, "b": 2 } }] },
    { "text": "42." },
    { "text": "Bye." }
]"#;

/// An agent with one server, and how often its servers were started.
fn agent(script: &str) -> (Agent, Arc<AtomicUsize>) {
    let far = ToolPool::builder().tool::<AddAction>().tool::<WaitAction>().build().unwrap();
    let (far, starts) = (McpServer::new(far, "far", "1"), Arc::new(AtomicUsize::default()));
    let counted = Arc::clone(&starts);
    let pool = ToolPool::builder().build().unwrap();
    let agent =
        Agent::new(ScriptedModel::from_json(script).unwrap(), pool).mcp_manager(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            McpManager::builder().in_process("far", far.clone())
        });
    (agent, starts)
}

#[tokio::test]
async fn servers_start_with_a_conversation_and_close_with_it() {
    let (agent, starts) = agent(SCRIPT);
    for round in 1..=2 {
        let agent =
            Agent { model: Arc::new(ScriptedModel::from_json(SCRIPT).unwrap()), ..agent.clone() };
        let mut run = agent.run("What is 40 + 2?");
        assert!(run.servers().is_empty());
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            match event {
                AgentEvent::Servers(servers) => {
                    events.push(format!("{} {}", servers[0].name, servers[0].is_ready()));
                }
                AgentEvent::Result(result) => {
                    events.push(result.observation().to_text().to_string());
                }
                _ => {}
            }
        }
        assert_eq!(events, ["far true", "42"]);
        assert_eq!(run.servers()[0].tools, 2);
        run.send("Bye.");
        while run.next().await.is_some() {}
        assert_eq!(starts.load(Ordering::Relaxed), round, "once for all tasks");
        run.close().await;
        assert!(agent.pool().tools().is_empty());
    }
}

#[tokio::test]
async fn runs_at_the_same_time_share_servers() {
    let (agent, starts) = agent(r#"[{ "text": "1" }, { "text": "2" }]"#);
    let (mut one, mut two) = (agent.run("Count."), agent.run("Count."));
    while one.next().await.is_some() {}
    while two.next().await.is_some() {}
    one.close().await;
    assert_eq!(agent.pool().tools().len(), 2);
    two.close().await;
    assert!(agent.pool().tools().is_empty());
    assert_eq!(starts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn servers_of_a_dropped_run_can_be_started_again() {
    let (agent, _) = agent(r#"[{ "text": "1" }, { "text": "2" }]"#);
    for _ in 0..2 {
        let mut run = agent.run("Count.");
        while let Some(event) = run.next().await {
            if let AgentEvent::Stopped(reason) = event {
                assert!(matches!(reason, StopReason::Done), "{reason}");
            }
        }
        assert!(run.servers()[0].is_ready());
    }
}

/// An agent with the servers of a file, which is removed again.
fn of_file(name: &str, text: &str) -> Result<Agent, McpConfigError> {
    let model = ScriptedModel::from_json(r#"[{ "text": "Hello." }]"#).unwrap();
    let name = format!("tool-runtime-agent-{name}-{}.json", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let agent = Agent::from_mcp_file(model, &path);
    std::fs::remove_file(&path).unwrap();
    agent
}

#[tokio::test]
async fn servers_that_cannot_be_used_do_not_keep_an_agent_from_working() {
    let text = r#"{ "mcpServers": {
        "dead": { "command": "no-such-program-here" },
        "misspelt": { "comand": "far" },
        "unset": { "command": "x", "args": ["${NO_SUCH_VARIABLE_HERE}"] }
    } }"#;
    let mut run = of_file("dead", text).unwrap().run("Greet.");
    let Some(AgentEvent::Servers(servers)) = run.next().await else { panic!("no servers") };
    let reasons: Vec<_> = servers.iter().map(ToString::to_string).collect();
    assert!(reasons[0].contains("no program `no-such-program-here`"), "{reasons:?}");
    assert!(reasons[1].contains("did you mean `command`?"), "{reasons:?}");
    assert!(reasons[2].contains("NO_SUCH_VARIABLE_HERE"), "{reasons:?}");
    let mut end = None;
    while let Some(event) = run.next().await {
        if let AgentEvent::Stopped(reason) = event {
            end = Some(reason);
        }
    }
    assert!(matches!(end, Some(StopReason::Done)), "{end:?}");
}

#[test]
fn a_file_whose_required_server_has_mistakes_is_not_an_agent() {
    let text = r#"{ "mcpServers": { "far": { "comand": "far", "required": true } } }"#;
    let error = of_file("required", text).unwrap_err().to_string();
    assert!(error.contains("comand"), "{error}");
}
