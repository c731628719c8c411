//! What a pool offers: names, hints, schemas, declarations.

use crate::hints;
use crate::support::{Folder, Tools, tools};
use serde_json::json;
use tool_runtime::pool::DeclaredTools;
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Profile, Workspace};

fn names(builtins: Builtins) -> Vec<String> {
    let pool = ToolPool::builder().install(builtins).build().unwrap();
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

#[test]
fn profiles_and_prefixes_decide_about_names() {
    let folder = Folder::new();
    let workspace = Workspace::builder().root(folder.path("")).build().unwrap();
    let builtins = || Builtins::new(workspace.clone());
    let mut standard = names(builtins().files());
    standard.sort();
    let expected = [
        "Delete",
        "Edit",
        "ListDirectory",
        "Move",
        "MultiEdit",
        "Read",
        "UndoEdit",
        "Write",
        "apply_patch",
    ];
    assert_eq!(standard, expected);
    let mut other = names(builtins().profiles([Profile::OpenHands]).prefix("fs").files());
    other.sort();
    assert_eq!(other, ["fs.apply_patch", "fs.file_editor"]);
}

#[test]
fn every_tool_states_all_hints_and_the_schema_of_its_result() {
    let (_folder, tools) = tools(&[]);
    let expected = [
        "Delete -d-- advanced",
        "Edit -d-- core edit",
        "ListDirectory r-i- core",
        "Move ---- advanced edit",
        "MultiEdit -d-- advanced edit",
        "Read r-i- core",
        "UndoEdit -d-- advanced edit",
        "Write -di- core edit",
        "apply_patch -d-- advanced edit",
        "file_editor -d-- core edit",
    ];
    assert_eq!(hints::rows(&tools.0), expected);
}

#[test]
fn tags_select_tools() {
    let folder = Folder::new();
    let workspace = Workspace::builder().root(folder.path("")).build().unwrap();
    let builtins = Builtins::new(workspace).files();
    let pool = ToolPool::builder().install(builtins).allow(["tag:core"]).build().unwrap();
    let mut names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["Edit", "ListDirectory", "Read", "Write"]);
}

#[tokio::test]
async fn declarations_are_about_paths() {
    let (_folder, tools) = tools(&[("docs/a.md", "a\n"), ("key", "k\n")]);
    let declared = DeclaredTools::allow("Read(docs/**)");
    let _restriction = tools.0.restrict_declared(&declared);
    tools.ok("Read", json!({"file_path": "docs/a.md"})).await;
    tools.error("Read", json!({"file_path": "key"})).await;
}

#[tokio::test]
async fn a_workspace_that_is_state_serves_toolsets_of_a_configuration() {
    let folder = Folder::new();
    folder.put("a", "x\n");
    let workspace = Workspace::builder().root(folder.path("")).build().unwrap();
    let builder = ToolPool::builder().state(workspace);
    let pool = builder.toolset::<tool_runtime_builtins::files::Files>(()).build().await.unwrap();
    assert_eq!(Tools(pool).read("a").await, "     1\tx\n");
}

/// The root is not the current directory of the process. Unordered, a read would nearly always come too early.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_batch_are_ordered_by_the_file_and_not_by_its_spelling() {
    let (folder, tools) = tools(&[]);
    let patch = |content: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: ./a\n+{content}\n*** End Patch\n");
        ToolCall::json("apply_patch", json!({ "patch": patch }))
    };
    let absolute = folder.path("a");
    for number in 0..20 {
        let content = number.to_string().repeat(100_000);
        let calls = [
            patch(&content),
            ToolCall::json("Read", json!({ "file_path": absolute })),
            ToolCall::json("Delete", json!({ "path": "a" })),
        ];
        let results = tools.0.call_all(calls).await;
        let outputs: Vec<String> =
            results.iter().map(|result| result.observation().to_text()).collect();
        assert!(outputs[1].starts_with("     1\t"), "{}", outputs[1]);
        assert_eq!(outputs[2], "deleted `a`");
    }
}
