use super::*;
use std::fs;
use tool_runtime::CancellationToken;

/// A workspace in a directory of its own.
fn files(name: &str) -> (std::path::PathBuf, Files) {
    let name = format!("builtins-unit-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    let workspace = Workspace::builder().root(&folder).build().unwrap();
    (folder, Files::over(workspace))
}

#[test]
fn a_cancelled_call_changes_nothing() {
    let (folder, files) = files("cancelled");
    let token = CancellationToken::new();
    token.cancel();
    let context = ToolContext::default().with_cancellation(token);
    let error = files.write("a/b.txt".into(), "x".into(), &context).unwrap_err();
    assert_eq!(error.message(), "the call was cancelled; nothing was changed");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir_all(folder).unwrap();
}

/// Between the check of an edit and its write.
#[test]
fn a_file_that_changes_during_an_edit_is_not_overwritten() {
    let (folder, files) = files("race");
    let path = folder.join("a.txt");
    for text in [Some("others"), None] {
        fs::write(&path, "old").unwrap();
        let before = files
            .read_to_change("a.txt", Freshness::UnchangedIfRead, &ToolContext::default())
            .unwrap();
        match text {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let change = commit::Change::new(before, Some(b"new".to_vec()));
        files.commit(vec![change], &ToolContext::default()).unwrap_err();
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), text);
    }
    let before = files.read_to_change("new.txt", Freshness::Read, &ToolContext::default()).unwrap();
    fs::write(folder.join("new.txt"), "others").unwrap();
    let change = commit::Change::new(before, Some(b"new".to_vec()));
    let error = files.commit(vec![change], &ToolContext::default()).unwrap_err();
    assert!(error.message().contains("was changed meanwhile"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("new.txt")).unwrap(), "others");
    fs::remove_dir_all(folder).unwrap();
}
