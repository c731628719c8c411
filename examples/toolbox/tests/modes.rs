//! Permission modes with the built-in tools.

use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;
use tool_runtime::skills::{SkillLibrary, Skills};
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::shell::ShellParams;
use tool_runtime_builtins::{Builtins, Workspace};

/// A root with a file and a skill, and a pool in a mode whose person is asked in vain.
async fn pool(root: &TempDir, mode: PermissionMode) -> ToolPool {
    fs::write(root.path().join("a.txt"), "one\n").unwrap();
    let skill = root.path().join("skills/review");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: review\ndescription: Review a change.\n---\nRead it.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    let library = SkillLibrary::loader().root(root.path().join("skills")).load();
    let permissions = Permissions::new(mode);
    let workspace = Workspace::builder().root(root.path()).build().unwrap();
    let people = PeopleParams::new().permissions(permissions.clone());
    let builtins =
        Builtins::new(workspace).files().search().shell(ShellParams::default()).people(people);
    let pool = ToolPool::builder()
        .install(builtins)
        .add(library.tool())
        .policy(permissions)
        .approver(|_: ApprovalRequest| async { Approval::rejected("asked") })
        .build()
        .unwrap();
    drop(Skills::new(&library, &pool));
    pool
}

/// What becomes of a call: `ran`, `asked` or `denied`.
async fn fate(pool: &ToolPool, name: &str, arguments: Value) -> &'static str {
    let result = pool.call(ToolCall::json(name, arguments)).await;
    match result.error().map(|error| error.class()) {
        None => "ran",
        Some(ErrorClass::ApprovalRejected) => "asked",
        Some(ErrorClass::Denied) => "denied",
        Some(class) => panic!("{name} {class:?}: {}", result.observation().to_text()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_decide_about_the_built_in_tools() {
    let calls = || {
        [
            ("Read", json!({ "file_path": "a.txt" })),
            ("Edit", json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" })),
            ("Write", json!({ "file_path": "b.txt", "content": "b" })),
            ("Move", json!({ "source": "b.txt", "destination": "c.txt" })),
            ("Delete", json!({ "path": "c.txt" })),
            ("Bash", json!({ "command": "true" })),
            ("Skill", json!({ "skill": "review" })),
        ]
    };
    for (mode, expected) in [
        (PermissionMode::Default, ["ran", "asked", "asked", "asked", "asked", "asked", "asked"]),
        (PermissionMode::AcceptEdits, ["ran", "ran", "ran", "ran", "asked", "asked", "asked"]),
        (PermissionMode::Plan, ["ran", "denied", "denied", "denied", "denied", "denied", "ran"]),
        (PermissionMode::Bypass, ["ran"; 7]),
    ] {
        let root = tempfile::tempdir().unwrap();
        let pool = pool(&root, mode).await;
        for ((name, arguments), expected) in calls().into_iter().zip(expected) {
            assert_eq!(fate(&pool, name, arguments).await, expected, "{mode:?} {name}");
        }
        pool.close().await;
    }
}
