//! `Read`.

use crate::support::{Folder, Tools, tools};
use serde_json::json;
use tool_runtime::ContentBlock;

#[tokio::test]
async fn lines_have_numbers_and_the_value_says_what_is_shown() {
    let (_folder, tools) = tools(&[("a.txt", "one\ntwo\nthree\n")]);
    let value = tools.value("Read", json!({"file_path": "a.txt", "offset": 2, "limit": 1})).await;
    let expected = json!({
        "path": "a.txt",
        "text": "     2\ttwo\n[lines 2 to 2 of 3; continue with offset 3]\n",
        "first_line": 2,
        "lines": 1,
        "total": 3,
        "truncated": true,
        "encoding": "UTF-8",
        "eol": "lf",
        "sha256": "b6285c57e8797db5d4c51c80d6f11938afda9b11c6a003549709189e9b4b92a2",
    });
    assert_eq!(value, expected);
    assert_eq!(tools.read("a.txt").await, "     1\tone\n     2\ttwo\n     3\tthree\n");
}

#[tokio::test]
async fn every_kind_of_path_has_an_answer() {
    let (folder, tools) = tools(&[
        ("src/main.rs", "fn main() {}\n"),
        ("empty", ""),
        ("data.bin", "a\0b"),
        ("archive.zip", "PK\u{3}\u{4}\u{14}\0\0\0"),
    ]);
    let read = |path: String| {
        let tools = &tools;
        async move { tools.error("Read", json!({ "file_path": path })).await }
    };
    let cases = [
        ("src", "`src` is a directory; list it instead"),
        ("src/man.rs", "`src/man.rs` does not exist; there is `src/main.rs`"),
        ("src/main.ts", "`src/main.ts` does not exist; there is `src/main.rs`"),
        ("no/such", "`no/such` does not exist, nor does its directory `no`"),
        ("data.bin", "`data.bin` is not text, 3 bytes; run a command that reads this format"),
        (
            "archive.zip",
            "`archive.zip` is not text (application/zip), 8 bytes; run a command that reads this format",
        ),
    ];
    for (path, expected) in cases {
        assert_eq!(read(path.to_owned()).await, expected);
    }
    let absolute = folder.path("src/main.rs").display().to_string();
    assert_eq!(tools.read(&absolute).await, "     1\tfn main() {}\n");
    assert_eq!(tools.read("empty").await, "[`empty` is empty]\n");
    let past = tools.error("Read", json!({"file_path": "src/main.rs", "offset": 7})).await;
    assert_eq!(past, "`src/main.rs` has 1 lines, and line 7 is past its end");
}

#[tokio::test]
async fn ten_megabytes_are_read_in_parts() {
    let content = "0123456789 abcdefghi\n".repeat(500_000);
    let (_folder, tools) = tools(&[("a.log", &content)]);
    let arguments = json!({"file_path": "a.log", "offset": -1});
    let value = tools.value("Read", arguments).await;
    assert_eq!(value["text"], "500000\t0123456789 abcdefghi\n");
    let value = tools.value("Read", json!({"file_path": "a.log"})).await;
    assert_eq!([&value["lines"], &value["total"]], [1000, 500_000]);
    let text = value["text"].as_str().unwrap();
    assert!(text.ends_with("[lines 1 to 1000 of 500000; continue with offset 1001]\n"));
}

#[tokio::test]
async fn a_part_is_within_the_default_limits_on_results() {
    let (folder, tools) = tools(&[("a.txt", &format!("{}\n", "x\t".repeat(20)).repeat(3_000))]);
    let value = Tools::limited(folder.path("")).value("Read", json!({"file_path": "a.txt"})).await;
    assert_eq!(value, tools.value("Read", json!({"file_path": "a.txt"})).await);
    let text = Tools::limited(folder.path("")).read("a.txt").await;
    assert_eq!(text, tools.read("a.txt").await);
    assert!(text.contains("of 3000; continue with offset "), "{}", &text[text.len() - 100..]);
}

#[tokio::test]
async fn encodings_are_named() {
    let folder = Folder::new();
    let tools = Tools::over(folder.path(""));
    let cases: [(&[u8], &str, &str, &str); 4] = [
        (b"caf\xE9, d\xE9j\xE0 vu\r\n", "windows-1252", "crlf", "café, déjà vu"),
        (b"\xEF\xBB\xBFbom\n", "UTF-8", "lf", "bom"),
        (b"\xFF\xFEh\0i\0\r\0\n\0", "UTF-16LE", "crlf", "hi"),
        (b"a\rb\r", "UTF-8", "cr", "a"),
    ];
    for (bytes, encoding, eol, first) in cases {
        folder.put("a.txt", bytes);
        let value = tools.value("Read", json!({"file_path": "a.txt"})).await;
        assert_eq!([&value["encoding"], &value["eol"]], [encoding, eol]);
        assert!(value["text"].as_str().unwrap().starts_with(&format!("     1\t{first}\n")));
    }
}

#[tokio::test]
async fn images_are_images() {
    const PNG: &[u8] = &[
        0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, b'I', b'H', b'D', b'R', 0,
        0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, b'I', b'D',
        b'A', b'T', 0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0xF0, 0x1F, 0, 5, 0, 1, 0xFF, 0x89, 0x99,
        0x3D, 0x1D, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82,
    ];
    let folder = Folder::new();
    folder.put("dot.png", PNG);
    let tools = Tools::over(folder.path(""));
    let result = tools.call("Read", json!({"file_path": "dot.png"})).await;
    let blocks = result.observation().content();
    assert_eq!(blocks[0].as_text(), Some("image/png, 1 x 1 pixels"));
    assert!(
        matches!(&blocks[1], ContentBlock::Image(image) if image.mime_type == "image/png"),
        "{blocks:?}"
    );
}

#[tokio::test]
async fn notebooks_are_cells() {
    let notebook = json!({"cells": [{"cell_type": "code", "source": ["a = 1\n", "a"]}]});
    let (_folder, tools) = tools(&[("n.ipynb", &notebook.to_string()), ("bad.ipynb", "{}")]);
    assert_eq!(tools.read("n.ipynb").await, "     1\t[cell 0, code]\n     2\ta = 1\n     3\ta\n");
    assert_eq!(tools.read("bad.ipynb").await, "     1\t{}\n");
    let error = tools.error("Edit", crate::support::edit("n.ipynb", "a = 1\na", "b")).await;
    assert!(error.contains("the file is a notebook: its JSON is edited"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_is_an_error_and_does_not_block() {
    let folder = Folder::new();
    let status = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status();
    if !status.is_ok_and(|status| status.success()) {
        return;
    }
    let tools = Tools::over(folder.path(""));
    let error = tools.error("Read", json!({"file_path": "pipe"})).await;
    assert_eq!(error, "`pipe` is neither a file nor a directory; use another tool");
}
