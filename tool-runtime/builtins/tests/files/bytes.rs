//! Bytes that a model did not touch stay, by every tool, in every encoding and with every line ending.

use crate::support::{Folder, Tools, edit, tools};
use encoding_rs::{Encoding, SHIFT_JIS, WINDOWS_1252};
use serde_json::{Value, json};

/// How the text of a file becomes bytes.
#[derive(Clone, Copy, Debug)]
enum Form {
    Utf8,
    Utf8WithMark,
    Utf16(fn(u16) -> [u8; 2]),
    Legacy(&'static Encoding),
}

impl Form {
    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf8WithMark => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            Self::Utf16(unit) => {
                [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(unit).collect()
            }
            Self::Legacy(encoding) => {
                let (bytes, _, is_lossy) = encoding.encode(text);
                assert!(!is_lossy);
                bytes.into_owned()
            }
        }
    }
}

/// Calls that replace the line `old` by the lines `n` and `new`, or insert them after it.
fn calls() -> [(&'static str, Value, &'static str); 5] {
    let edits = json!([
        { "old_string": "old", "new_string": "older" },
        { "old_string": "older", "new_string": "n\nnew" },
    ]);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+n\n+new\n*** End Patch\n";
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,2 @@\n-old\n+n\n+new\n";
    let insert =
        json!({ "command": "insert", "path": "a.txt", "insert_line": 5, "new_str": "n\nnew" });
    [
        ("Edit", edit("a.txt", "old", "n\nnew"), "n|new|"),
        ("MultiEdit", json!({ "file_path": "a.txt", "edits": edits }), "n|new|"),
        ("apply_patch", json!({ "patch": patch }), "n|new|"),
        ("apply_patch", json!({ "patch": diff }), "n|new|"),
        ("file_editor", insert, "old|n|new|"),
    ]
}

#[tokio::test]
async fn untouched_bytes_stay_and_new_lines_end_as_their_neighbours() {
    let (latin, japanese) = ("déjà vu, café", "これは日本語の文章です。");
    let forms = [
        (Form::Utf8, japanese),
        (Form::Utf8WithMark, latin),
        (Form::Utf16(u16::to_le_bytes), japanese),
        (Form::Utf16(u16::to_be_bytes), latin),
        (Form::Legacy(WINDOWS_1252), latin),
        (Form::Legacy(SHIFT_JIS), japanese),
    ];
    // The endings of lines, in turn; the fifth is that of the old line.
    let endings: [&[&str]; 5] =
        [&["\n"], &["\r\n"], &["\r"], &["\n", "\r\n"], &["\r\n", "\r\n", "\n"]];
    let folder = Folder::new();
    let tools = Tools::over(folder.path(""));
    for (form, words) in forms {
        for endings in endings {
            for (tool, arguments, changed) in calls() {
                let content = |middle: &str| -> String {
                    let line = |number: usize| {
                        let ending = endings[number % endings.len()];
                        match number {
                            4 => middle.replace('|', ending),
                            _ => format!("{number} \t{words}  {ending}"),
                        }
                    };
                    (0..9).map(line).collect()
                };
                folder.put("a.txt", form.bytes(&content("old|")));
                tools.read("a.txt").await;
                tools.ok(tool, arguments).await;
                let expected = form.bytes(&content(changed));
                assert_eq!(folder.get("a.txt"), expected, "{tool} {form:?} {endings:?}");
                tools.ok("UndoEdit", json!({ "file_path": "a.txt" })).await;
                assert_eq!(folder.get("a.txt"), form.bytes(&content("old|")));
            }
        }
    }
}

#[tokio::test]
async fn an_assumed_encoding_is_named() {
    let (folder, tools) = tools(&[("utf8.txt", "grün\n")]);
    assert!(!tools.edit("utf8.txt", "grün", "blau").await.contains("assumed"));
    folder.put("latin.txt", b"caf\xE9 na\xEFve, d\xE9j\xE0 vu\n");
    let notice = "[the encoding is assumed to be windows-1252;";
    let text = tools.read("latin.txt").await;
    assert!(text.contains(notice), "{text}");
    let text = tools.ok("Edit", edit("latin.txt", "vu", "lu")).await;
    assert!(text.contains(notice), "{text}");
    let patch = "--- a/latin.txt\n+++ b/latin.txt\n@@ -1 +1 @@\n-café naïve, déjà lu\n+déjà\n";
    let value = tools.value("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(value["files"][0]["assumed_encoding"], "windows-1252");
    assert_eq!(folder.get("latin.txt"), b"d\xE9j\xE0\n");
}

/// Shift_JIS has two codes for some characters, and only one of them is written.
#[tokio::test]
async fn files_whose_bytes_would_change_are_refused() {
    let (folder, tools) = tools(&[]);
    let text = "これは日本語の文章です。".repeat(4);
    let mut bytes = encoding_rs::SHIFT_JIS.encode(&text).0.into_owned();
    bytes.extend(b"\xED\x40\n");
    folder.put("a.txt", &bytes);
    let error = tools.error("Read", json!({"file_path": "a.txt"})).await;
    assert!(error.contains("as Shift_JIS it has bytes that would not be kept"), "{error}");
    let arguments =
        json!({"command": "str_replace", "path": "a.txt", "old_str": "日", "new_str": "x"});
    let error = tools.error("file_editor", arguments).await;
    assert!(error.contains("as Shift_JIS it has bytes that would not be kept"), "{error}");
    assert_eq!(folder.get("a.txt"), bytes);
}

#[tokio::test]
async fn a_file_that_became_binary_is_named_so() {
    let (folder, tools) = tools(&[("a.txt", "text\n")]);
    tools.read("a.txt").await;
    folder.put("a.txt", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR");
    let error = tools.error("Edit", edit("a.txt", "text", "x")).await;
    assert_eq!(
        error,
        "`a.txt` was changed since it was read, and now is not text (image/png); it cannot be changed as text"
    );
}

#[tokio::test]
async fn a_whole_file_is_written_with_the_endings_of_its_lines() {
    let (folder, tools) = tools(&[("a.txt", "1\r\n2\r\nstray\n3\r\nlast")]);
    for (content, expected) in [
        ("1\ntwo\nand\nstray\n3\nlast", "1\r\ntwo\r\nand\r\nstray\n3\r\nlast"),
        ("1\nstray\nlast\n", "1\r\nstray\nlast\r\n"),
        ("a\r\nb\n", "a\r\nb\n"),
    ] {
        tools.read("a.txt").await;
        tools.ok("Write", json!({ "file_path": "a.txt", "content": content })).await;
        assert_eq!(folder.text("a.txt"), expected);
    }
}
