//! Files that earlier versions wrote, in `fixtures`, each by `fixtures/write`.

use crate::support::Folder;
use std::path::Path;

#[test]
fn the_files_of_earlier_versions_are_read_and_continued() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway/fixtures");
    let versions = std::fs::read_dir(fixtures)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    let versions: Vec<_> = versions.filter(|path| path.is_dir()).collect();
    assert!(!versions.is_empty());
    for version in versions {
        let folder = Folder::empty();
        copy(&version, &folder.path(""));
        folder.ok(&["check", "--strict"]);
        let head = folder.ok(&["log", "verify", "--head", "head/calls.head"]);
        assert!(head.contains("are as they were written"), "{version:?}: {head}");
        assert!(folder.ok(&["log", "show"]).contains("Read {\"file_path\":\"note\"}"));
        folder.ok(&["log", "verify", "calls.jsonl"]);
        let questions = folder.ok(&["approvals", "list"]);
        assert!(questions.contains("May it be written?"), "{version:?}: {questions}");
        assert!(folder.ok(&["call", "TaskList"]).contains("Write the report"));
        assert!(folder.ok(&["call", "CronList"]).contains("nightly"));
        // They are continued by this version.
        folder.ok(&["call", "TaskCreate", "subject=Another", "description=one"]);
        let id = questions.split_whitespace().next().expect("an id");
        folder.ok(&["approvals", "deny", id, "--reason", "not now"]);
        folder.ok(&["call", "Read", "file_path=note", "--log", "calls.jsonl"]);
        for log in ["calls.db", "calls.jsonl"] {
            folder.ok(&["log", "verify", log]);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}
