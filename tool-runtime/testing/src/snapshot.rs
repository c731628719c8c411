//! Snapshots of a pool's definitions.

use super::breaking::breaking;
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::Path;
use std::{env, fs, io};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_server::seam::offered_beside_tools;

/// The variable that makes [`assert_snapshot`] write the file, if set to `overwrite`.
const VARIABLE: &str = "TOOL_SNAPSHOTS";

/// All definitions of a pool as indented JSON. The text is the same for the same pool.
///
/// ```
/// use tool_runtime::{Tool, ToolPool, testing};
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder().add(ping).build()?;
/// assert!(testing::snapshot(&pool).contains("Answer at once."));
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub fn snapshot(pool: &ToolPool) -> String {
    let snapshot = pool.snapshot();
    let tools: Vec<_> = snapshot.definitions().collect();
    let mut offered = json!({ "tools": tools });
    for (kind, list) in offered_beside_tools(&snapshot) {
        offered[kind] = list;
    }
    format!("{offered:#}\n")
}

/// Asserts that the [`snapshot`] of a pool equals a file: a change of definitions changes the file, and a reviewer sees
/// it.
///
/// With the environment variable `TOOL_SNAPSHOTS=overwrite` the file is written instead. Paths are relative to the
/// package, where `cargo test` runs.
///
/// ```no_run
/// use tool_runtime::{ToolPool, testing};
///
/// # fn pool() -> ToolPool { unimplemented!() }
/// #[test]
/// fn the_tools_match_the_snapshot() {
///     testing::assert_snapshot("tests/tools.json", &pool());
/// }
/// # fn main() {}
/// ```
///
/// # Panics
/// The pool differs from the file: the message has a diff and the changes that break callers. The file does not exist, or
/// cannot be read or written.
#[track_caller]
pub fn assert_snapshot(path: impl AsRef<Path>, pool: &ToolPool) {
    let is_accepted = env::var_os(VARIABLE).is_some_and(|value| value == "overwrite");
    if let Err(difference) = compare(&snapshot(pool), path.as_ref(), is_accepted) {
        panic!("{difference}");
    }
}

/// # Errors
/// The difference, as text.
fn compare(now: &str, path: &Path, is_accepted: bool) -> Result<(), String> {
    let display = path.display();
    if is_accepted {
        return fs::write(path, now).map_err(|error| format!("{display}: {error}"));
    }
    let before = match fs::read_to_string(path) {
        // Git may convert line ends on Windows.
        Ok(text) => text.replace("\r\n", "\n"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("{display} is not there; {}", how_to_accept("write it")));
        }
        Err(error) => return Err(format!("{display}: {error}")),
    };
    if before == now {
        return Ok(());
    }
    let diff = TextDiff::from_lines(before.as_str(), now);
    let diff = diff.unified_diff().context_radius(3).header("the file", "the pool").to_string();
    let breaking = breaking(&parsed(&before), &parsed(now));
    let breaking = if breaking.is_empty() {
        String::new()
    } else {
        format!("callers that it breaks:\n  {}\n", breaking.join("\n  "))
    };
    let accept = how_to_accept("accept it");
    Err(format!("the pool does not offer what {display} says\n{diff}\n{breaking}{accept}"))
}

fn how_to_accept(what: &str) -> String {
    format!("to {what}, run the test again with {VARIABLE}=overwrite in its environment")
}

/// The JSON of a snapshot; null if it is invalid.
fn parsed(snapshot: &str) -> Value {
    serde_json::from_str(snapshot).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tool_runtime_core::tool::Tool;

    fn pool(description: &str) -> ToolPool {
        let tool = Tool::builder("ping", description).handler(|| async { "pong" });
        ToolPool::builder().add(tool).build().expect("a pool")
    }

    fn scratch(name: &str) -> PathBuf {
        env::temp_dir().join(format!("tool-snapshot-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_snapshot_is_accepted_stored_and_compared() {
        let path = scratch("kept");
        let now = snapshot(&pool("Answer."));
        let missing = compare(&now, &path, false).unwrap_err();
        assert!(missing.contains("is not there") && missing.contains("TOOL_SNAPSHOTS=overwrite"));
        compare(&now, &path, true).expect("written");
        compare(&now, &path, false).expect("the same");
        let changed = compare(&snapshot(&pool("Answer soon.")), &path, false).unwrap_err();
        fs::remove_file(path).expect("removable");
        assert!(changed.contains(r#"-      "description": "Answer.","#), "{changed}");
        assert!(changed.contains(r#"+      "description": "Answer soon.","#), "{changed}");
        assert!(!changed.contains("breaks"), "{changed}");
    }

    #[test]
    fn a_snapshot_contains_prompts_and_resources() {
        use tool_runtime_core::tool::prompt::Prompt;
        use tool_runtime_core::tool::resource::Resource;
        let prompt = Prompt::builder("greet", "Greet.").handler(|_| async { "Hello" });
        let note = Resource::builder("notes://{id}", "note", "A note.").handler(|_| async { "x" });
        let pool = ToolPool::builder().add_prompt(prompt).add_resource(note).build();
        let snapshot = snapshot(&pool.expect("a pool"));
        let offered: Value = serde_json::from_str(&snapshot).expect("JSON");
        assert_eq!(offered["prompts"][0]["name"], "greet");
        assert_eq!(offered["resourceTemplates"][0]["uriTemplate"], "notes://{id}");
        assert_eq!(offered.get("resources"), None);
    }

    #[test]
    fn line_endings_do_not_matter() {
        let path = scratch("ends");
        let now = snapshot(&pool("Answer."));
        fs::write(&path, now.replace('\n', "\r\n")).expect("writable");
        let compared = compare(&now, &path, false);
        fs::remove_file(path).expect("removable");
        assert_eq!(compared, Ok(()));
    }
}
