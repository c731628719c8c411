//! Edits of one file by several processes and workspaces: those that succeed stay.
#![cfg(unix)]

use crate::support::{Folder, Tools, edit};
use std::path::Path;
use std::process::{Command, Stdio};

const FOLDER: &str = "TOOL_RUNTIME_TEST_FOLDER";
const NAME: &str = "TOOL_RUNTIME_TEST_NAME";

/// Edits of each process.
const EDITS: usize = 200;

/// Adds numbered lines to a file that others change, too. Reads it again until the edit succeeds.
async fn add_lines(folder: &Path, file: &str, name: &str) {
    let tools = Tools::over(folder);
    for number in 0..EDITS {
        let line = format!("{name} {number}\n");
        loop {
            tools.read(file).await;
            let arguments = edit(file, "end\n", &format!("{line}end\n"));
            let result = tools.call("Edit", arguments).await;
            if !result.is_error() {
                break;
            }
            let text = result.observation().to_text();
            // A file with several names may be read while it is written.
            let is_expected =
                ["was changed", "is not in the file"].iter().any(|part| text.contains(part));
            assert!(is_expected, "{text}");
        }
    }
}

/// The other process.
#[tokio::test]
async fn child() {
    let (Some(folder), Ok(name)) = (std::env::var_os(FOLDER), std::env::var(NAME)) else { return };
    add_lines(Path::new(&folder), &format!("{name}/a.txt"), &name).await;
}

fn processes(folder: &Folder) {
    let start = |name: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "concurrent::child"])
            .env(FOLDER, folder.path(""))
            .env(NAME, name)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    for mut child in ["one", "two"].map(start) {
        assert!(child.wait().unwrap().success());
    }
}

#[track_caller]
fn has_all_lines(text: &str) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let numbered = |name: &str| (0..EDITS).map(|number| format!("{name} {number}")).collect();
    let [one, two]: [Vec<String>; 2] = ["one", "two"].map(numbered);
    let mut expected = [vec!["end".to_owned()], one, two].concat();
    lines.sort();
    expected.sort();
    assert_eq!(lines.len(), expected.len());
    assert_eq!(lines, expected);
}

#[test]
fn processes_do_not_lose_edits_of_each_other() {
    let folder = Folder::new();
    folder.put("both/a.txt", "end\n");
    for name in ["one", "two"] {
        std::os::unix::fs::symlink("both", folder.path(name)).unwrap();
    }
    processes(&folder);
    has_all_lines(&folder.text("both/a.txt"));
}

/// Such a file is written in place.
#[test]
fn processes_do_not_lose_edits_by_other_names_of_a_file() {
    let folder = Folder::new();
    folder.put("one/a.txt", "end\n");
    std::fs::create_dir(folder.path("two")).unwrap();
    std::fs::hard_link(folder.path("one/a.txt"), folder.path("two/a.txt")).unwrap();
    processes(&folder);
    has_all_lines(&folder.text("one/a.txt"));
}

#[test]
fn workspaces_of_one_process_do_not_lose_edits_of_each_other() {
    let folder = Folder::new();
    folder.put("a.txt", "end\n");
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let path = folder.path("");
            scope.spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(add_lines(&path, "a.txt", name));
            });
        }
    });
    has_all_lines(&folder.text("a.txt"));
}
