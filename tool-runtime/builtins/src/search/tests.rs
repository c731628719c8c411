//! The tools as a caller sees them.

mod glob;
mod grep;
mod tool_search;

use crate::{Builtins, Profile, Workspace, hints};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::prelude::*;

/// A directory with files, and a pool over it.
struct Fixture {
    directory: TempDir,
    pool: ToolPool,
}

impl Fixture {
    /// Files with their contents, from the oldest to the newest.
    fn new(files: &[(&str, &str)]) -> Self {
        Self::in_profile(Profile::Standard, files)
    }

    fn in_profile(profile: Profile, files: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        for (age, (path, content)) in files.iter().enumerate() {
            write(&directory.path().join("root").join(path), content.as_bytes(), age);
        }
        fs::create_dir_all(directory.path().join("root")).unwrap();
        let workspace = Workspace::builder().root(directory.path().join("root")).build().unwrap();
        let builtins = Builtins::new(workspace).profiles([profile]).search();
        let pool = ToolPool::builder().install(builtins).check_outputs().build().unwrap();
        Self { directory, pool }
    }

    fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("root")
    }

    async fn call(&self, tool: &str, arguments: Value) -> Observation {
        self.pool.call(ToolCall::json(tool, arguments)).await.observation().clone()
    }

    /// The text of a result, without its notice.
    async fn text(&self, tool: &str, arguments: Value) -> String {
        let text = self.call(tool, arguments).await.to_text();
        let lines = text.lines().filter(|line| !line.starts_with('['));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The lines of a result without its notice, sorted.
    async fn sorted(&self, tool: &str, arguments: Value) -> Vec<String> {
        let text = self.text(tool, arguments).await;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

fn write(path: &Path, content: &[u8], age: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    let time = UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn hints_are_stated_and_outputs_have_schemas() {
    let fixture = Fixture::in_profile(Profile::Standard, &[]);
    assert_eq!(hints::rows(&fixture.pool), ["Glob r-i- core", "Grep r-i- core"]);
}

#[test]
fn the_arguments_of_grep_are_those_that_models_know() {
    let fixture = Fixture::in_profile(Profile::Standard, &[]);
    let tools = fixture.pool.tools();
    let tool = tools.iter().find(|tool| tool.name() == "Grep").unwrap();
    let schema = serde_json::to_value(&tool.definition().input_schema).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for name in [
        "pattern",
        "path",
        "glob",
        "type",
        "output_mode",
        "-i",
        "-A",
        "-B",
        "-C",
        "multiline",
        "head_limit",
    ] {
        assert!(properties[name]["description"].is_string(), "{name}");
    }
    assert_eq!(
        (&schema["required"], &properties["head_limit"]["default"]),
        (&serde_json::json!(["pattern"]), &serde_json::json!(250))
    );
}

#[cfg(feature = "files")]
#[test]
fn the_first_of_two_profiles_names_the_tools() {
    let names = |profiles: [Profile; 2]| {
        let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
        let builtins = Builtins::new(workspace).profiles(profiles).search().files();
        let pool = ToolPool::builder().install(builtins).build().unwrap();
        let names = ["Glob", "Grep", "glob", "grep", "Read", "file_editor"];
        names.map(|name| pool.tools().iter().any(|tool| tool.name() == name))
    };
    let [standard, open_hands] = [Profile::Standard, Profile::OpenHands];
    assert_eq!(names([standard, open_hands]), [true, true, false, false, true, true]);
    assert_eq!(names([open_hands, standard]), [false, false, true, true, true, true]);
}

/// Receives progress.
#[derive(Default)]
struct Bar(Mutex<Vec<f64>>);

impl Peer for Bar {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress.done);
    }
}

#[tokio::test]
async fn searches_report_progress() {
    let fixture = Fixture::new(&[]);
    for number in 0..1200 {
        fs::write(fixture.root().join(number.to_string()), "x").unwrap();
    }
    for (tool, pattern) in [("Glob", "**"), ("Grep", "x")] {
        let bar = Arc::new(Bar::default());
        let context = fixture.pool.context().with_peer(Arc::clone(&bar) as Arc<dyn Peer>);
        let call = ToolCall::json(tool, serde_json::json!({ "pattern": pattern }));
        assert!(!fixture.pool.call_with(call, &context).await.is_error());
        assert_eq!(*bar.0.lock().unwrap(), [1000.0], "{tool}");
    }
}

/// Its path is longer than the system allows.
#[tokio::test]
async fn directories_that_cannot_be_read_are_counted() {
    let fixture = Fixture::new(&[("a.txt", "x")]);
    let authority = cap_std::ambient_authority();
    let mut directory = cap_std::fs::Dir::open_ambient_dir(fixture.root(), authority).unwrap();
    let name = "d".repeat(250);
    for _ in 0..20 {
        directory.create_dir(&name).unwrap();
        directory = directory.open_dir(&name).unwrap();
    }
    for (tool, pattern) in [("Glob", "**"), ("Grep", "x")] {
        let result = fixture.call(tool, serde_json::json!({ "pattern": pattern })).await;
        assert_eq!(result.to_text(), "a.txt\n[directories that could not be read: 1]", "{tool}");
    }
}
