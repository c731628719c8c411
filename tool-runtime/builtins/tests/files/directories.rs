//! `ListDirectory`, `Move` and `Delete`.

use crate::support::{Tools, tools};
use serde_json::json;
use tool_runtime_builtins::Workspace;

#[tokio::test]
async fn entries_are_listed_by_name() {
    let (folder, tools) = tools(&[("b.txt", "123"), ("a/c.txt", ""), ("a/d/e", "")]);
    let list = |depth| json!({ "path": ".", "depth": depth });
    assert_eq!(tools.ok("ListDirectory", json!({})).await, "a/\nb.txt (3 bytes)\n");
    let deep = "a/\na/c.txt (0 bytes)\na/d/\na/d/e (0 bytes)\nb.txt (3 bytes)\n";
    assert_eq!(tools.ok("ListDirectory", list(3)).await, deep);
    std::fs::create_dir(folder.path("empty")).unwrap();
    let empty = tools.ok("ListDirectory", json!({"path": "empty"})).await;
    assert_eq!(empty, "[the directory is empty]\n");
    let error = tools.error("ListDirectory", json!({"path": "b.txt"})).await;
    assert_eq!(error, "`b.txt` is a file; read it instead");
}

#[tokio::test]
async fn long_lists_are_cut_with_a_notice() {
    let (folder, tools) = tools(&[]);
    for number in 0..501 {
        folder.put(&format!("{number:03}"), "");
    }
    let value = tools.value("ListDirectory", json!({})).await;
    assert_eq!(value["entries"].as_array().unwrap().len(), 500);
    assert_eq!(value["truncated"], true);
    let text = tools.ok("ListDirectory", json!({})).await;
    let notice =
        "[the first 500 entries; list a subdirectory, or find files by name with `Glob`]\n";
    assert!(text.ends_with(notice), "{text}");
}

#[tokio::test]
async fn a_limit_cuts_the_deepest_entries() {
    let (folder, tools) = tools(&[("z.txt", "")]);
    for number in 0..600 {
        folder.put(&format!("many/{number:03}"), "");
    }
    let text = tools.ok("ListDirectory", json!({ "depth": 2 })).await;
    assert!(text.starts_with("many/\nmany/000 (0 bytes)\n"), "{text}");
    assert!(text.contains("\nz.txt (0 bytes)\n[the first 500 entries"), "{text}");
}

#[tokio::test]
async fn a_home_directory_is_not_a_name_below_the_root() {
    let (folder, tools) = tools(&[("a", "")]);
    let error = tools.error("Write", json!({ "file_path": "~/notes.md", "content": "" })).await;
    assert!(error.contains("`~` is not expanded"), "{error}");
    assert_eq!(folder.names(), ["a"]);
    let meant = json!({ "file_path": "./~/notes.md", "content": "" });
    assert_eq!(tools.ok("Write", meant).await, "created `~/notes.md`\n");
    // A name that exists is what the caller saw in a list.
    assert_eq!(tools.ok("ListDirectory", json!({ "path": "~" })).await, "notes.md (0 bytes)\n");
}

#[tokio::test]
async fn entries_are_moved_to_names_that_are_not_used() {
    let (folder, tools) = tools(&[("a", "a"), ("b", "b"), ("dir/x", "")]);
    let to =
        |source: &str, destination: &str| json!({"source": source, "destination": destination});
    let error = tools.error("Move", to("a", "b")).await;
    assert_eq!(error, "`b` exists; delete it first, or give another name");
    assert_eq!(tools.ok("Move", to("a", "new/c")).await, "moved `a` to `new/c`");
    assert_eq!(tools.ok("Move", to("b", "dir")).await, "moved `b` to `dir/b`");
    let value = tools.value("Move", to("dir", "other")).await;
    assert_eq!(value, json!({ "path": "other", "moved_from": "dir" }));
    assert_eq!([folder.text("new/c"), folder.text("other/b")], ["a", "b"]);
    assert_eq!(folder.names(), ["new", "other"]);
    let error = tools.error("Move", to(".", "x")).await;
    assert_eq!(error, "`.` is a root of the workspace; it stays");
    assert_eq!(tools.error("Move", to("zz", "x")).await, "`zz` does not exist");
}

#[tokio::test]
async fn files_and_empty_directories_are_deleted() {
    let (folder, tools) = tools(&[("a", "a"), ("dir/x", "")]);
    let error = tools.error("Delete", json!({"path": "dir"})).await;
    assert_eq!(error, "`dir` is not empty; delete its entries first, or run a command");
    for (path, kind) in [("a", "file"), ("dir/x", "file"), ("dir", "directory")] {
        let value = tools.value("Delete", json!({ "path": path })).await;
        let can_be_undone = kind == "file";
        assert_eq!(value, json!({ "path": path, "kind": kind, "can_be_undone": can_be_undone }));
    }
    assert!(folder.names().is_empty());
    let error = tools.error("Delete", json!({"path": "."})).await;
    assert_eq!(error, "`.` is a root of the workspace; it stays");
}

#[tokio::test]
async fn files_of_several_roots_are_known_by_absolute_paths() {
    let folder = crate::support::Folder::new();
    folder.put("one/a", "a\n");
    folder.put("two/b", "b\n");
    let roots = [folder.path("one"), folder.path("two")];
    let builder = roots.iter().fold(Workspace::builder(), |builder, root| builder.root(root));
    let tools = Tools::of(builder.build().unwrap());
    let second = |name: &str| folder.path("two").join(name).display().to_string();
    let value = tools.value("Read", json!({"file_path": "../two/b"})).await;
    assert_eq!(value["path"], second("b"));
    let text = tools.ok("Move", json!({"source": "a", "destination": second("c/a")})).await;
    assert_eq!(text, format!("moved `a` to `{}`", second("c/a")));
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+x\n*** Add File: n\n+n\n*** End Patch",
        second("c/a")
    );
    tools.ok("apply_patch", json!({ "patch": patch })).await;
    assert_eq!([folder.text("two/c/a"), folder.text("one/n")], ["x\n", "n\n"]);
    let error = tools.error("Read", json!({"file_path": "../three"})).await;
    let [one, two] = roots.map(|root| root.display().to_string());
    assert_eq!(
        error,
        format!("`../three` is outside the workspace; give a path inside `{one}` or `{two}`")
    );
}

#[tokio::test]
async fn a_directory_is_not_moved_into_itself() {
    let (folder, tools) = tools(&[("d/a.txt", "a")]);
    for to in ["d", "d/e", "d/e/f"] {
        let error = tools.error("Move", json!({"source": "d", "destination": to})).await;
        assert!(
            error.starts_with("the directory `d` cannot be moved into itself, to `d/"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path("d")).unwrap().count(), 1);
}
