//! Folders with a file for each caller and one for all.

use super::{fate, tools};
use crate::{LivePolicy, PolicyFolder};
use std::fs;
use tempfile::TempDir;
use tool_runtime_core::vocabulary::Principal;

/// A folder whose files are rewritten.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn mistakes(&self) -> String {
        PolicyFolder::from_folder(self.0.path()).unwrap_err().to_string()
    }

    /// Checks what becomes of a call that reads, of each caller.
    async fn check(&self, callers: &[(&str, &str)]) {
        let policy = PolicyFolder::from_folder(self.0.path()).unwrap();
        let pool = tools().policy(policy).build().unwrap();
        for (caller, expected) in callers {
            let pool = pool.for_principal(Principal::new(*caller));
            assert_eq!(fate(&pool, "fs.read").await, *expected, "{caller}");
        }
    }
}

#[tokio::test]
async fn a_folder_has_a_file_for_each_caller_and_one_for_all() {
    let folder = Folder::new();
    let error = folder.mistakes();
    assert!(error.contains("the folder has no policies"), "{error}");
    let own = |tool: &str| {
        format!("rules: [{{id: own, priority: 10, when: {{tools: [{tool}]}}, then: allow}}]")
    };
    folder.write("ada.yaml", &own("fs.read"));
    folder.write("bob.yml", &own("fs.write"));
    folder.write("notes.txt", "not a policy");
    folder.write(".hidden.yaml", "not a policy");
    fs::create_dir(folder.0.path().join("sub.yaml")).unwrap();
    let callers = [("ada", "ran"), ("bob", "denied"), ("eve", "denied"), ("", "denied")];
    folder.check(&callers).await;

    let all = "rules: [{id: reads, priority: 20, when: {tools: [fs.read]}, then: allow}]";
    folder.write("_global.yaml", all);
    let callers = [("ada", "ran"), ("bob", "ran"), ("eve", "ran"), ("", "ran"), ("../ada", "ran")];
    folder.check(&callers).await;

    folder.write("_global.yaml", "rules: [{id: stop, priority: 1, then: deny}]");
    folder.check(&[("ada", "denied"), ("bob", "denied"), ("eve", "denied")]).await;
}

#[test]
fn mistakes_of_all_files_are_reported_together() {
    let folder = Folder::new();
    for file in ["ada.yaml", "bob.yml"] {
        folder.write(file, "rules: [{id: own, priority: 10, then: allow}]");
    }
    for repeated in ["{id: x, priority: 10, then: deny}", "{id: own, then: deny}"] {
        folder.write("_global.yaml", &format!("rules: [{repeated}]"));
        let error = folder.mistakes();
        assert!(error.contains("ada.yaml:1") && error.contains("bob.yml:1"), "{error}");
    }
    folder.write("_global.yaml", "rules: [");
    folder.write("bob.yml", "rules: {}");
    let error = folder.mistakes();
    assert!(error.contains("_global.yaml:2") && error.contains("bob.yml:1"), "{error}");
    folder.write("_global.yml", "rules: []");
    assert!(folder.mistakes().contains("is of the same caller"));
}

#[test]
fn rules_without_priorities_are_not_repeated() {
    let folder = Folder::new();
    folder.write("_global.yaml", "rules: [{id: a, then: deny}]");
    folder.write("ada.yaml", "rules: [{id: b, then: allow}]");
    PolicyFolder::from_folder(folder.0.path()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_left_out() {
    let folder = Folder::new();
    folder.write("ada.yaml", "rules: [{id: all, then: allow}]");
    for target in ["gone.yaml", "/dev/null"] {
        let link = folder.0.path().join("_global.yaml");
        std::os::unix::fs::symlink(target, &link).unwrap();
        assert!(folder.mistakes().contains("_global.yaml"));
        fs::remove_file(link).unwrap();
    }
    PolicyFolder::from_folder(folder.0.path()).unwrap();
}

/// A limit of `_global` without shares is one for all callers, also for those with a file.
#[tokio::test]
async fn a_limit_for_all_callers_is_one() {
    let folder = Folder::new();
    folder.write(
        "_global.yaml",
        "rules:
  - {id: reads, priority: 20, when: {tools: [fs.read]}, then: allow, budget: {calls: 2}}",
    );
    for file in ["ada.yaml", "bob.yaml"] {
        folder.write(file, "rules: [{id: own, when: {tools: [fs.write]}, then: allow}]");
    }
    let pool = tools().install(LivePolicy::open(folder.0.path())).build().unwrap();
    for (caller, expected) in
        [("ada", "ran"), ("bob", "ran"), ("ada", "limited"), ("eve", "limited")]
    {
        let pool = pool.for_principal(Principal::new(caller));
        assert_eq!(fate(&pool, "fs.read").await, expected, "{caller}");
    }
}
