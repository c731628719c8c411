//! The hints of every tool are true: those that only read change nothing, those that are idempotent change nothing more
//! the second time, and those that are not destructive lose nothing.

use crate::support::Desk;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// The names, modes, links and contents below a directory.
type State = BTreeMap<String, (u32, Vec<u8>)>;

fn state(root: &Path) -> State {
    let (mut state, mut directories) = (State::new(), vec![root.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match () {
                () if metadata.is_symlink() => {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                }
                () if metadata.is_dir() => Vec::new(),
                () => fs::read(&path).unwrap(),
            };
            if metadata.is_dir() {
                directories.push(path.clone());
            }
            state.insert(path.display().to_string(), (metadata.mode(), content));
        }
    }
    state
}

const FILES: &[(&str, &str)] = &[
    ("a", "a\nb\na\n"),
    ("b", "x = 1\r\n"),
    ("src/a", "one\n"),
    ("src/b", ""),
    ("empty/.keep", ""),
];

/// The text of each property of each tool, by its name or its type: often one that fits, so that calls succeed.
fn value(name: String, schema: Value) -> BoxedStrategy<Value> {
    let path = prop_oneof![
        prop::sample::select(vec!["a", "b", "src/a"]),
        prop::sample::select(vec!["src", "new/c", "empty/.keep", "d", "."]),
    ];
    let text = prop::sample::select(vec!["a", "b", "x = 1", "one", "", "y\n", "*", "**/*", "o.e"]);
    let patch = (path.clone(), text.clone()).prop_map(|(path, text)| {
        json!(format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** Update File: a\n@@\n-b\n+c\n*** End Patch\n"))
    });
    let quoted = prop::sample::select(vec!["b", "x = 1", "one", "a"]);
    match (name.as_str(), schema["type"].as_str()) {
        ("patch", _) => patch.boxed(),
        ("edits", _) => (quoted, text)
            .prop_map(|(old, new)| json!([{ "old_string": old, "new_string": new }]))
            .boxed(),
        ("command", _) => {
            prop::sample::select(vec!["view", "create", "str_replace", "insert", "undo_edit"])
                .prop_map(Value::from)
                .boxed()
        }
        ("file_path" | "path" | "source" | "destination", _) => path.prop_map(Value::from).boxed(),
        ("view_range", _) => (0..4_i64, -1..4_i64).prop_map(|(from, to)| json!([from, to])).boxed(),
        ("output_mode", _) => prop::sample::select(vec!["content", "count", "files_with_matches"])
            .prop_map(Value::from)
            .boxed(),
        ("old_string" | "old_str", _) => quoted.prop_map(Value::from).boxed(),
        ("type", _) => Just(json!("rust")).boxed(),
        (_, Some("boolean")) => any::<bool>().prop_map(Value::from).boxed(),
        (_, Some("string")) => text.prop_map(Value::from).boxed(),
        _ => (0..5_i64).prop_map(Value::from).boxed(),
    }
}

/// A tool that is not a shell, with arguments of its schema.
fn call() -> impl Strategy<Value = (String, Value)> {
    static TOOLS: OnceLock<Vec<(String, Value)>> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| {
        let desk = Desk::new(&[]);
        let tools = desk.pool.tools();
        let closed = tools.iter().filter(|tool| {
            tool.definition().annotations.open_world_hint == Some(false)
                && !tool.name().ends_with("Bash")
                && tool.name() != "BashOutput"
        });
        let schema = |tool: &tool_runtime::Tool| {
            serde_json::to_value(&tool.definition().input_schema).unwrap()
        };
        closed.map(|tool| (tool.name().to_owned(), schema(tool))).collect()
    });
    prop::sample::select(tools.clone()).prop_flat_map(|(tool, schema)| {
        let required: Vec<String> =
            serde_json::from_value(schema["required"].clone()).unwrap_or_default();
        let properties = schema["properties"].as_object().unwrap().clone();
        let fields: Vec<_> = properties
            .into_iter()
            .map(|(name, schema)| {
                let chance = if required.contains(&name) { 0.97 } else { 0.4 };
                (Just(name.clone()), prop::option::weighted(chance, value(name, schema)))
            })
            .collect();
        fields.prop_map(move |fields| {
            let given = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
            (tool.clone(), Value::Object(given.collect::<Map<_, _>>()))
        })
    })
}

/// Number of calls that succeeded, of each tool.
type Successes = BTreeMap<String, usize>;

async fn check((tool, arguments): (String, Value), successes: &mut Successes) {
    let desk = Desk::new(FILES);
    for (path, _) in FILES {
        desk.read(path).await;
    }
    let tools = desk.pool.tools();
    let hints =
        tools.iter().find(|known| known.name() == tool).unwrap().definition().annotations.clone();
    // Something to undo.
    desk.ok("Write", json!({ "file_path": "b", "content": "x = 1\n" })).await;
    let before = state(&desk.path(""));
    let first = desk.call(&tool, arguments.clone()).await;
    let once = state(&desk.path(""));
    let call = format!("{tool} {arguments}: {}", first.to_text());
    *successes.entry(tool.clone()).or_default() += usize::from(!first.is_error());
    if hints.read_only_hint == Some(true) || first.is_error() {
        assert_eq!(before, once, "{call}");
    }
    if hints.destructive_hint == Some(false) {
        // Every content is still there, under this name or another.
        let contents =
            |state: &State| state.values().map(|(_, content)| content.clone()).collect::<Vec<_>>();
        let (mut kept, mut after) = (contents(&before), contents(&once));
        kept.sort();
        after.sort();
        assert!(kept.iter().all(|content| after.contains(content)), "{call}");
    }
    if hints.idempotent_hint == Some(true) {
        desk.call(&tool, arguments).await;
        assert_eq!(once, state(&desk.path("")), "{call}");
    }
}

#[test]
fn hints_are_true_for_generated_calls() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (strategy, mut successes) = (call(), Successes::new());
    for _ in 0..250 {
        let generated = strategy.new_tree(&mut runner).unwrap().current();
        runtime.block_on(check(generated, &mut successes));
    }
    // Otherwise the test would say little.
    assert!(successes.values().all(|number| *number > 0), "{successes:?}");
    assert!(successes.len() >= 12, "{successes:?}");
}

#[tokio::test]
async fn reading_a_job_changes_no_files_and_ending_it_twice_is_ending_it_once() {
    let desk = Desk::new(FILES);
    let start = json!({ "command": "sleep 1000", "run_in_background": true });
    let id = desk.value("Bash", start).await["job_id"].clone();
    let before = state(&desk.path(""));
    desk.ok("BashOutput", json!({ "job_id": id })).await;
    let once = desk.value("KillBash", json!({ "job_id": id })).await;
    let twice = desk.value("KillBash", json!({ "job_id": id })).await;
    assert_eq!((&once["status"], once == twice), (&json!("killed"), true));
    assert_eq!(before, state(&desk.path("")));
}
