//! The lines that show calls to people before they run: changes as lines with `-` and `+`.

use super::commit::Freshness;
use super::diff::{CONTEXT, changed_part};
use super::text::{LfView, Text};
use super::{
    EditOperation, EditorCommand, Files, FilesApplyPatchAction, FilesEditAction,
    FilesFileEditorAction, FilesMultiEditAction, FilesWriteAction,
};
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;
use std::time::Duration;
use tool_runtime::tool::Arguments;
use tool_runtime::{Action as _, ToolContext};

/// Time after which a difference becomes coarser.
const TIMEOUT: Duration = Duration::from_millis(100);

/// Limit on the bytes of a file and its new content whose difference is shown.
const MAX_COMPARED: usize = 4_000_000;

/// The difference to the file that a call of `Write` replaces. `None` if there is no such text, and for a caller who has not
/// read the file as it is now: the question may be the first that shows its content to the caller.
pub(super) fn replacement(files: &Files, arguments: &str, caller: &ToolContext) -> Option<String> {
    let FilesWriteAction { file_path, content } =
        FilesWriteAction::decode(Arguments::new(arguments)).ok()?;
    let before = files.read_to_change(&file_path, Freshness::Read, caller).ok()?;
    let bytes = &before.snapshot()?.bytes;
    if bytes.len() + content.len() > MAX_COMPARED {
        return None;
    }
    let old = Text::decode(bytes).ok()?.content;
    let lines = LfView::from_raw(&old);
    // The file keeps its line endings unless the content has its own.
    let old = if content.contains('\r') { &old } else { &*lines.text };
    Some(match difference(old, &content).as_str() {
        "" => format!("Write {file_path:?}, which changes nothing"),
        change => format!("Write {file_path:?}, over its content:{change}"),
    })
}

pub(super) fn write(call: &FilesWriteAction) -> String {
    format!("Write {:?}, all of it:{}", call.file_path, difference("", &call.content))
}

pub(super) fn edit(call: &FilesEditAction) -> String {
    let all = if call.replace_all { ", all matches" } else { "" };
    let change = difference(&call.old_string, &call.new_string);
    format!("Edit {:?}{all}:{change}", call.file_path)
}

pub(super) fn multi_edit(call: &FilesMultiEditAction) -> String {
    let mut text = format!("MultiEdit {:?}:", call.file_path);
    for EditOperation { old_string, new_string, replace_all } in &call.edits {
        let count = if *replace_all { "all matches" } else { "one match" };
        let _ = write!(text, "\n@@ {count}{}", difference(old_string, new_string));
    }
    text
}

pub(super) fn patch(call: &FilesApplyPatchAction) -> String {
    format!("apply_patch:\n{}", call.patch)
}

pub(super) fn editor(call: &FilesFileEditorAction) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let change = match call.command {
        EditorCommand::Create => difference("", &text(&call.file_text)),
        EditorCommand::StrReplace => difference(&text(&call.old_str), &text(&call.new_str)),
        EditorCommand::Insert => difference("", &text(&call.new_str)),
        EditorCommand::View | EditorCommand::UndoEdit => String::new(),
    };
    let line = call.insert_line.map(|line| format!(" after line {line}")).unwrap_or_default();
    let end = if change.is_empty() { "" } else { ":" };
    format!("file_editor {} {:?}{line}{end}{change}", name(call.command), call.path)
}

fn name(command: EditorCommand) -> &'static str {
    match command {
        EditorCommand::View => "view",
        EditorCommand::Create => "create",
        EditorCommand::StrReplace => "str_replace",
        EditorCommand::Insert => "insert",
        EditorCommand::UndoEdit => "undo_edit",
    }
}

/// The lines of both versions that differ, after line feeds: removed ones with `-`, new ones with `+`, and equal ones around
/// them with a space. `..` stands for equal lines in between and before.
fn difference(old: &str, new: &str) -> String {
    let (skipped, [old, new]) = changed_part(old, new);
    let mut config = TextDiff::configure();
    let diff = config.timeout(TIMEOUT).diff_lines(old, new);
    let mut text = String::new();
    for (position, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if skipped > 0 || position > 0 {
            text.push_str("\n..");
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let _ = write!(text, "\n{sign} {}", change.value().trim_end_matches(['\n', '\r']));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::{Builtins, Profile, Workspace};
    use serde_json::{Value, json};
    use tempfile::TempDir;
    use tool_runtime::{ToolCall, ToolPool};

    fn render(tool: &str, arguments: &Value) -> String {
        let profile = if tool == "file_editor" { Profile::OpenHands } else { Profile::Standard };
        let pool = pool_in(&tempfile::tempdir().unwrap(), profile);
        pool.get(tool).unwrap().visualize(&arguments.to_string())
    }

    fn pool_in(directory: &TempDir, profile: Profile) -> ToolPool {
        let workspace = Workspace::builder().root(directory.path()).build().unwrap();
        let builtins = Builtins::new(workspace).profiles([profile]).files();
        ToolPool::builder().install(builtins).build().unwrap()
    }

    #[test]
    fn an_edit_shows_the_difference() {
        let edit = json!({ "old_string": "a\nb\nc", "new_string": "a\nB\nc" });
        let lines = "\n  a\n- b\n+ B\n  c";
        let mut call = edit.clone();
        call["file_path"] = json!("x\n.txt");
        assert_eq!(render("Edit", &call), format!("Edit \"x\\n.txt\":{lines}"));
        let call = json!({ "file_path": "x", "edits": [edit, { "old_string": "d", "new_string": "", "replace_all": true }] });
        let expected = format!("MultiEdit \"x\":\n@@ one match{lines}\n@@ all matches\n- d");
        assert_eq!(render("MultiEdit", &call), expected);
        let call = json!({ "command": "str_replace", "path": "x", "old_str": "a", "new_str": "b" });
        assert_eq!(render("file_editor", &call), "file_editor str_replace \"x\":\n- a\n+ b");
        let call = json!({ "command": "insert", "path": "x", "insert_line": 3, "new_str": "b" });
        assert_eq!(render("file_editor", &call), "file_editor insert \"x\" after line 3:\n+ b");
    }

    #[test]
    fn a_new_content_is_shown_up_to_a_limit() {
        let call = json!({ "file_path": "x", "content": "a\nb\n" });
        assert_eq!(render("Write", &call), "Write \"x\", all of it:\n+ a\n+ b");
        let call = json!({ "file_path": "x", "content": "a\n".repeat(100_000) });
        let text = render("Write", &call);
        assert!(text.len() < 25_000 && text.ends_with(" .. (400.0 kB in all)"), "{}", text.len());
    }

    #[tokio::test]
    async fn a_new_content_is_shown_as_the_difference_to_a_file_that_the_caller_has_read() {
        let directory = tempfile::tempdir().unwrap();
        let old: String = (1..=40).map(|line| format!("{line}\r\n")).collect();
        std::fs::write(directory.path().join("x"), &old).unwrap();
        std::fs::write(directory.path().join("picture"), [0, 159, 146, 150]).unwrap();
        let pool = pool_in(&directory, Profile::Standard);
        let show = |path: &str, content: &str| {
            let arguments = json!({ "file_path": path, "content": content });
            pool.get("Write").unwrap().visualize(&arguments.to_string())
        };
        let all = ", all of it:\n+ new";
        assert_eq!(show("x", "new"), format!("Write \"x\"{all}"), "it was not read");
        for path in ["x", "picture"] {
            pool.call(ToolCall::json("Read", json!({ "file_path": path }))).await;
        }
        let new = old.replace('\r', "").replace("20\n", "twenty\n").replace("40\n", "");
        assert_eq!(
            show("x", &new),
            "Write \"x\", over its content:\n..\n  17\n  18\n  19\n- 20\n+ twenty\n  21\n  22\n  23\n..\n  37\n  38\n  39\n- 40"
        );
        assert_eq!(show("x", &old), "Write \"x\", which changes nothing");
        for path in ["picture", "absent", ".", "../outside"] {
            assert_eq!(show(path, "new"), format!("Write {path:?}{all}"));
        }
    }
}
