//! Properties: undo restores the bytes, no path leaves the roots.

use crate::support::{Folder, Tools};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A step of a sequence of edits.
#[derive(Clone, Debug)]
enum Step {
    Write(String),
    Insert(usize, String),
    Replace(usize, usize, String),
    Delete,
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "  b", "\tc ", "“d”", "", "a b", "}"]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n"]);
    prop::collection::vec((line, end), 0..6)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end]).collect())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => text().prop_map(Step::Write),
        3 => (0_usize..6, text()).prop_map(|(line, text)| Step::Insert(line, text)),
        6 => (0_usize..40, 1_usize..12, text()).prop_map(|(at, length, text)| Step::Replace(at, length, text)),
        1 => Just(Step::Delete),
    ]
}

/// The call of a step, on the current content.
fn call(step: &Step, content: &str) -> (&'static str, Value) {
    match step {
        Step::Write(text) => ("Write", json!({ "file_path": "a", "content": text })),
        Step::Insert(line, text) => (
            "file_editor",
            json!({ "command": "insert", "path": "a", "insert_line": line, "new_str": text }),
        ),
        Step::Replace(at, length, text) => {
            let old: String = content.chars().skip(*at).take(*length).collect();
            ("Edit", crate::support::edit("a", &old, text))
        }
        Step::Delete => ("Delete", json!({ "path": "a" })),
    }
}

fn run(future: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn content(folder: &Folder) -> Option<Vec<u8>> {
    std::fs::read(folder.path("a")).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undo_restores_every_version(start in text(), steps in prop::collection::vec(step(), 1..10)) {
        run(async {
            let folder = Folder::new();
            folder.put("a", &start);
            let tools = Tools::over(folder.path(""));
            tools.read("a").await;
            let mut versions = vec![content(&folder)];
            for step in &steps {
                let before = content(&folder);
                let text = String::from_utf8(before.clone().unwrap_or_default()).unwrap();
                let (tool, arguments) = call(step, &text);
                let result = tools.call(tool, arguments).await;
                if result.is_error() {
                    prop_assert_eq!(content(&folder), before);
                } else {
                    versions.push(content(&folder));
                }
            }
            versions.pop();
            while let Some(version) = versions.pop() {
                tools.ok("UndoEdit", json!({ "file_path": "a" })).await;
                prop_assert_eq!(content(&folder), version);
            }
            tools.error("UndoEdit", json!({ "file_path": "a" })).await;
            Ok(())
        })?;
    }

    #[cfg(unix)]
    #[test]
    fn no_path_leaves_the_root(
        links in prop::collection::vec((path(), path()), 0..6),
        paths in prop::collection::vec(path(), 1..6),
    ) {
        run(async {
            let folder = Folder::new();
            for name in ["a", "b/a", "root/a", "root/b/a"] {
                folder.put(name, if name.starts_with("root") { "inside\n" } else { "secret\n" });
            }
            for (link, target) in &links {
                let target = target.replace("ROOT", folder.path("").to_str().unwrap());
                let _ = std::os::unix::fs::symlink(target, folder.path("root").join(link.replace("..", "b")));
            }
            let tools = Tools::over(folder.path("root"));
            for path in &paths {
                let path = path.replace("ROOT", folder.path("").to_str().unwrap());
                let text = tools.call("Read", json!({ "file_path": path })).await.observation().to_text();
                prop_assert!(!text.contains("secret"), "{}", text);
                tools.call("Write", json!({ "file_path": path, "content": "x" })).await;
                tools.call("Delete", json!({ "path": path })).await;
                tools.call("Move", json!({ "source": "a", "destination": path })).await;
            }
            prop_assert_eq!(folder.names(), ["a", "b", "root"]);
            prop_assert_eq!(folder.text("a") + &folder.text("b/a"), "secret\nsecret\n");
            prop_assert_eq!(std::fs::read_dir(folder.path("b")).unwrap().count(), 1);
            Ok(())
        })?;
    }
}

/// Short paths of few names, so that they meet each other. `ROOT` is the directory around the root.
#[cfg(unix)]
fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "..", ".", "c", "root"]);
    let names = prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
    (prop::bool::weighted(0.2), names)
        .prop_map(|(absolute, path)| if absolute { format!("ROOT/{path}") } else { path })
}
