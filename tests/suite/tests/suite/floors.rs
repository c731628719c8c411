//! No module of the core imports from a floor above its own. The other floors are separate crates.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `tool-runtime/core/src`, bottom floor first. `lib.rs`, `__fuzz.rs`, `__private.rs` and `seam.rs` stand
/// outside: they only re-export.
const FLOORS: &[&str] = &["vocabulary", "schema", "tool", "govern", "pool", "dispatch"];

#[test]
fn no_module_imports_from_a_higher_floor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-runtime/core/src");
    let mut violations = Vec::new();
    for file in sources(&root) {
        let name = module_of(&root, &file);
        if is_test(&root, &file) || ["lib", "__fuzz", "__private", "seam"].contains(&name.as_str())
        {
            continue;
        }
        let floor = floor_of(&name).unwrap_or_else(|| {
            panic!("`{name}` is no floor: move it into the folder of one, or add it to FLOORS and to the table in `tool-runtime/core/src/lib.rs`")
        });
        let text = fs::read_to_string(&file).expect("a readable source");
        for (number, line) in code_lines(&text) {
            for used in modules_in(line) {
                if floor_of(used).is_some_and(|used| used > floor) {
                    violations.push(format!(
                        "{}:{number}: `{name}` uses `{used}`, a floor above",
                        file.display()
                    ));
                }
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

fn floor_of(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| *floor == name)
}

pub(super) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("a readable entry").path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Tests of a floor may build a pool.
fn is_test(root: &Path, file: &Path) -> bool {
    let relative = file.strip_prefix(root).expect("a file of the crate");
    relative.ends_with("tests.rs") || relative.iter().any(|part| part == "tests")
}

fn module_of(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).expect("a file of the crate");
    let first = relative.components().next().expect("a path").as_os_str();
    first.to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// Lines of code: examples in doc comments are a user's and may use everything.
pub(super) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn modules_in(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crate::").map(|(index, found)| {
        let rest = &line[index + found.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn an_import_is_found() {
    let text = "use crate::pool::ToolPool;\n/// use crate::dispatch::Batch;\n";
    let used: Vec<&str> = code_lines(text).flat_map(|(_, line)| modules_in(line)).collect();
    assert_eq!(used, ["pool"]);
    assert!(floor_of("pool") > floor_of("tool"));
}
