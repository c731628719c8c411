//! Files that no rename can replace.

use crate::needs::Need;
use libtest_mimic::Trial;
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Workspace};

pub(crate) fn tests() -> Vec<Trial> {
    vec![Need::Mount.test(
        "in_place::files_that_cannot_be_renamed_over_are_written_and_their_old_content_is_saved",
        files_that_cannot_be_renamed_over_are_written_and_their_old_content_is_saved,
    )]
}

/// A mount, as Docker makes them of single files and of read-only directories. Unmounted on drop.
struct Bind(PathBuf);

impl Bind {
    fn new(source: &Path, target: &Path) -> Self {
        mount([OsStr::new("--bind"), source.as_os_str(), target.as_os_str()]);
        Self(target.to_owned())
    }

    fn read_only(self) -> Self {
        mount([OsStr::new("-o"), OsStr::new("remount,bind,ro"), self.0.as_os_str()]);
        self
    }
}

impl Drop for Bind {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

fn mount(arguments: [&OsStr; 3]) {
    assert!(Command::new("mount").args(arguments).status().unwrap().success());
}

async fn call(pool: &ToolPool, tool: &str, arguments: serde_json::Value) -> String {
    let result = pool.call(ToolCall::json(tool, arguments)).await;
    let text = result.observation().to_text();
    assert!(!result.is_error(), "{text}");
    text
}

async fn files_that_cannot_be_renamed_over_are_written_and_their_old_content_is_saved() {
    for (is_read_only, reason) in
        [(false, "it is a mount point"), (true, "its directory takes no new files")]
    {
        let (root, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (source, directory) = (elsewhere.path().join("config"), root.path().join("dir"));
        let file = directory.join("config");
        fs::create_dir(&directory).unwrap();
        fs::write(&file, "").unwrap();
        fs::write(&source, "old\n").unwrap();
        let _directory = is_read_only.then(|| Bind::new(&directory, &directory).read_only());
        let _file = Bind::new(&source, &file);

        let workspace = Workspace::builder().root(root.path()).build().unwrap();
        let pool = ToolPool::builder().install(Builtins::new(workspace).files()).build().unwrap();
        call(&pool, "Read", json!({ "file_path": "dir/config" })).await;
        let edit = json!({ "file_path": "dir/config", "old_string": "old", "new_string": "new" });
        let text = call(&pool, "Edit", edit).await;
        let notice = format!(
            "[`dir/config` was written in place, which is not atomic, since {reason}; its old content is in `"
        );
        let (_, saved) = text.split_once(&notice).expect(&text);
        let saved = saved.strip_suffix("`]").unwrap();
        assert_eq!(fs::read_to_string(saved).unwrap(), "old\n");
        fs::remove_file(saved).unwrap();
        assert_eq!(fs::read_to_string(&source).unwrap(), "new\n");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }
}
