//! MCP servers of skills: each starts with the first skill that needs it and ends with the last.

use super::super::support::in_time;
pub(super) use super::super::support::is_running as is_alive;
use super::{Root, names, not_loaded};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tool_runtime::mcp::McpManager;
use tool_runtime::prelude::*;
use tool_runtime::skills::{SkillLibrary, Skills};

/// A server's entry as front matter, and the file of its starts.
pub(super) fn server(test: &str, mut script: Value) -> (String, PathBuf) {
    let starts_file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("starts-skills-{test}"));
    drop(std::fs::remove_file(&starts_file));
    script["starts"] = json!(starts_file);
    let entry =
        json!({ "command": env!("CARGO_BIN_EXE_faulty_server"), "args": [script.to_string()] });
    (format!("mcpServers: {}", json!({ "far": entry })), starts_file)
}

pub(super) fn starts(starts_file: &Path) -> usize {
    std::fs::read_to_string(starts_file).unwrap_or_default().lines().count()
}

/// Waits until the process of the last start has ended.
pub(super) async fn ended(starts_file: &Path) {
    in_time(async {
        while is_alive(starts_file) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

fn pool(library: &SkillLibrary) -> ToolPool {
    ToolPool::builder().add(library.tool()).build().unwrap()
}

async fn load(pool: &ToolPool, name: &str) {
    in_time(super::load(pool, name)).await;
}

#[tokio::test]
async fn a_server_runs_while_its_skill_is_active() {
    let (entry, starts_file) = server("active", json!({ "tools": ["echo", "add"] }));
    let keys = format!("allowed-tools: mcp__far__echo\n{entry}");
    let session = pool(&Root::new("server-active").skill("far", &keys).load()).session();
    assert_eq!(starts(&starts_file), 0);
    load(session.pool(), "far").await;
    assert_eq!(names(session.pool()), ["Skill", "far.echo"]);
    let result = session.pool().call(ToolCall::new("far.echo", "{}")).await;
    assert!(!result.is_error(), "{result:?}");
    assert!(is_alive(&starts_file));
    super::end(session.pool()).await;
    assert!(!is_alive(&starts_file), "the answer waits for the end of the process");
    assert_eq!(names(session.pool()), ["Skill"]);
    load(session.pool(), "far").await;
    assert_eq!(starts(&starts_file), 2);
    in_time(session.close()).await;
    assert!(!is_alive(&starts_file), "the session waits for the end of the process");
}

#[tokio::test]
async fn an_outer_skill_hides_the_servers_of_an_inner_one() {
    let (entry, starts_file) = server("hidden", json!({ "tools": ["echo"] }));
    let root =
        Root::new("server-hidden").skill("outer", "allowed-tools: Read").skill("far", &entry);
    let session = pool(&root.load()).session();
    load(session.pool(), "outer").await;
    load(session.pool(), "far").await;
    assert!(is_alive(&starts_file));
    assert_eq!(names(session.pool()), ["Skill"]);
    in_time(session.close()).await;
}

#[tokio::test]
async fn skills_with_one_entry_share_its_server() {
    let (entry, starts_file) = server("shared", json!({ "tools": ["echo"] }));
    let root = Root::new("server-shared").skill("one", &entry).skill("other", &entry);
    let pool = pool(&root.load());
    let (first, second) = (pool.session(), pool.session());
    load(first.pool(), "one").await;
    load(second.pool(), "other").await;
    assert_eq!(starts(&starts_file), 1);
    in_time(first.close()).await;
    assert!(is_alive(&starts_file) && names(second.pool()) == ["Skill", "far.echo"]);
    in_time(second.close()).await;
    assert!(!is_alive(&starts_file));
}

#[tokio::test]
async fn a_server_ends_with_the_guard_or_the_handle() {
    let (entry, starts_file) = server("handle", json!({ "tools": ["echo"] }));
    let library = Root::new("server-handle").skill("far", &entry).load();
    let pool = pool(&library);
    let skills = Skills::new(&library, &pool.scope());
    drop(in_time(skills.load("far", "")).await.unwrap());
    ended(&starts_file).await;
    let far = in_time(skills.load("far", "")).await.unwrap();
    in_time(far.end()).await;
    assert!(!is_alive(&starts_file));
    // The skill of a model, in a handle that is dropped.
    let session = pool.session();
    load(session.pool(), "far").await;
    assert!(is_alive(&starts_file));
    drop(session);
    ended(&starts_file).await;
    assert_eq!((starts(&starts_file), names(&pool).len()), (3, 1));
}

#[tokio::test]
async fn a_skill_whose_server_fails_is_not_loaded() {
    let (entry, starts_file) = server("fails", json!({ "dead": 100 }));
    let keys = format!("allowed-tools: mcp__far\n{entry}");
    let session = pool(&Root::new("server-fails").skill("far", &keys).load()).session();
    let reason = in_time(not_loaded(session.pool(), "far")).await;
    assert!(
        reason.starts_with(
            "the skill `far` cannot be loaded: MCP servers that are required could not be connected to:\n- far: "
        ),
        "{reason}"
    );
    assert!(reason.contains("and it ends here"), "{reason}");
    assert_eq!(
        super::error_text(session.pool(), "Skill", r#"{"end": true}"#).await,
        "no skill is active"
    );
    assert!(!is_alive(&starts_file));
}

#[tokio::test]
async fn the_program_configures_the_managers_of_servers() {
    let (entry, _) = server("manager", json!({ "tools": ["ask"], "slow": 60_000 }));
    let root = Root::new("server-manager").skill("far", &entry);
    let short = || McpManager::builder().connect_timeout(std::time::Duration::from_millis(50));
    let library = SkillLibrary::loader().root(&root.0).mcp_manager(short).load();
    let session = pool(&library).session();
    let reason = in_time(not_loaded(session.pool(), "far")).await;
    assert!(reason.contains("- far: "), "{reason}");
}
