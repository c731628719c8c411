//! Files that a policy denies or the operator protects: no tool reads, finds or lists them.

use crate::support::Folder;
use serde_json::{Value, json};
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::policy::{Policy, Rule, Touches};
use tool_runtime::pool::ToolPoolBuilder;
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Workspace};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("notes/plan.md", "the password is elsewhere\n");
    folder.put("notes/secret.md", "the password is hunter2\n");
    folder.put("keys/server.key", "the password is a key\n");
    folder
}

/// The tools over the folder, with a policy of this rule and one that allows the rest.
fn governed(folder: &Folder, rules: impl IntoIterator<Item = Rule>) -> ToolPoolBuilder {
    let workspace = Workspace::builder().root(folder.path("")).build().unwrap();
    let policy = rules.into_iter().fold(Policy::builder(), |policy, rule| policy.rule(rule));
    ToolPool::builder()
        .install(Builtins::new(workspace).files().search())
        .policy(policy.rule(Rule::allow("rest")).build().unwrap())
}

async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    pool.call(ToolCall::json(tool, arguments)).await.observation().to_text()
}

/// What each tool says that could show the file or its name.
async fn found(pool: &ToolPool) -> String {
    let mut shown = String::new();
    for (tool, arguments) in [
        ("Grep", json!({ "pattern": "password" })),
        ("Grep", json!({ "pattern": "password", "output_mode": "content", "path": "notes" })),
        ("Grep", json!({ "pattern": "password", "output_mode": "count" })),
        ("Glob", json!({ "pattern": "**/*" })),
        ("ListDirectory", json!({ "path": "notes" })),
    ] {
        let text = call(pool, tool, arguments).await;
        assert!(text.contains("plan.md") && text.contains("may not be read: 1"), "{tool}: {text}");
        shown.push_str(&text);
    }
    shown
}

#[tokio::test]
async fn searches_leave_out_what_a_policy_denies() {
    let folder = folder();
    let secrets = Rule::deny("secrets").touches(Touches::new(["secret.md"]));
    let pool = governed(&folder, [secrets]).build().unwrap();
    let all = found(&pool).await;
    assert!(!all.contains("secret.md") && !all.contains("hunter2"), "{all}");
    assert!(all.contains("server.key"), "{all}");
    let named = json!({ "pattern": "password", "path": "notes/secret.md" });
    let refused = call(&pool, "Grep", named).await;
    assert!(refused.contains("`notes/secret.md` may not be read"), "{refused}");
    let read = call(&pool, "Read", json!({ "file_path": "notes/secret.md" })).await;
    assert!(read.contains("is not allowed"), "{read}");
    // All of a directory.
    let keys = Rule::deny("keys").touches(Touches::new(["keys"]));
    let pool = governed(&folder, [keys]).build().unwrap();
    let found = call(&pool, "Grep", json!({ "pattern": "password", "path": "keys" })).await;
    assert!(found.contains("no match") && !found.contains("server"), "{found}");
    let list = call(&pool, "ListDirectory", json!({})).await;
    assert!(list.contains("notes") && !list.contains("keys"), "{list}");
}

#[tokio::test]
async fn a_search_finds_files_that_are_asked_about_if_the_same_question_was_approved() {
    let folder = folder();
    let approver = |_: ApprovalRequest| async { Approval::approved() };
    let keys = || Rule::ask("keys").touches(Touches::new(["*.key"]));
    let search = || Rule::ask("search").tool("Grep");
    for (rules, finds_keys) in [([search(), keys()], true), ([keys(), search()], false)] {
        let pool = governed(&folder, rules).approver(approver).build().unwrap();
        let found = call(&pool, "Grep", json!({ "pattern": "password" })).await;
        assert!(found.contains("plan.md"), "{found}");
        assert_eq!(found.contains("server.key"), finds_keys, "{found}");
        // Nobody is asked about the search by name.
        let found = call(&pool, "Glob", json!({ "pattern": "**/*" })).await;
        assert!(found.contains("plan.md") && !found.contains("server.key"), "{found}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn searches_leave_out_what_the_operator_protects() {
    let folder = folder();
    let workspace = Workspace::builder().root(folder.path(""));
    let workspace = workspace.protect(folder.path("notes/secret.md")).build().unwrap();
    let pool =
        ToolPool::builder().install(Builtins::new(workspace).files().search()).build().unwrap();
    let all = found(&pool).await;
    assert!(!all.contains("secret.md") && !all.contains("hunter2"), "{all}");
    let read = call(&pool, "Read", json!({ "file_path": "notes/secret.md" })).await;
    assert!(read.contains("is protected"), "{read}");
    std::os::unix::fs::symlink("notes", folder.path("link")).unwrap();
    for (tool, arguments) in [
        ("ListDirectory", json!({ "path": "keys/../notes" })),
        ("ListDirectory", json!({ "path": "link" })),
        ("Glob", json!({ "path": "keys/../notes", "pattern": "*" })),
        ("Glob", json!({ "path": "link", "pattern": "*" })),
        ("Grep", json!({ "path": "keys/../notes", "pattern": "hunter2" })),
        ("Grep", json!({ "path": "link", "pattern": "hunter2" })),
        ("Grep", json!({ "pattern": "x", "glob": "s*" })),
        ("Read", json!({ "file_path": "notes/secret.txt" })),
    ] {
        let text = call(&pool, tool, arguments.clone()).await;
        assert!(!text.contains("secret.md"), "{tool} {arguments}: {text}");
        assert!(tool != "Grep" || !arguments["glob"].is_string() || !text.contains("left out"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_protected_link_and_what_it_leads_to_stay() {
    let folder = folder();
    let root = folder.path("").canonicalize().unwrap();
    std::fs::create_dir(root.join("v1")).unwrap();
    std::fs::create_dir(root.join("v2")).unwrap();
    std::fs::write(root.join("v1/tokens"), "one").unwrap();
    std::fs::write(root.join("v2/tokens"), "two").unwrap();
    std::os::unix::fs::symlink("v1", root.join("data")).unwrap();
    std::os::unix::fs::symlink("data/tokens", root.join("tokens")).unwrap();
    let workspace = Workspace::builder().root(&root).protect(root.join("tokens")).build().unwrap();
    let pool =
        ToolPool::builder().install(Builtins::new(workspace.clone()).files()).build().unwrap();
    for (tool, arguments) in [
        ("Read", json!({ "file_path": "tokens" })),
        ("Read", json!({ "file_path": "v1/tokens" })),
        ("Delete", json!({ "path": "tokens" })),
        ("Delete", json!({ "path": "data" })),
        ("Write", json!({ "file_path": "tokens", "content": "eve" })),
        ("Move", json!({ "source": "data", "destination": "other" })),
    ] {
        let text = call(&pool, tool, arguments.clone()).await;
        assert!(text.contains("protected"), "{tool} {arguments}: {text}");
    }
    assert!(root.join("tokens").is_symlink() && root.join("data").is_symlink());
    // More is protected while the tools are used.
    assert!(call(&pool, "Read", json!({ "file_path": "v2/tokens" })).await.contains("two"));
    workspace.protect([root.join("v2")]).unwrap();
    assert!(call(&pool, "Read", json!({ "file_path": "v2/tokens" })).await.contains("protected"));
}
