//! B1, reading.

use crate::support::Desk;
use serde_json::{Value, json};
use tool_runtime::ContentBlock;

async fn part(desk: &Desk, offset: i64, limit: Option<u64>) -> String {
    desk.ok("Read", json!({ "file_path": "a.txt", "offset": offset, "limit": limit })).await
}

const LINES: &[(&str, &str)] = &[("a.txt", "one\ntwo\nthree\n")];

#[tokio::test]
async fn lines_have_numbers() {
    assert_eq!(Desk::new(LINES).read("a.txt").await, "     1\tone\n     2\ttwo\n     3\tthree\n");
}

#[tokio::test]
async fn offset_and_limit_select_lines() {
    let desk = Desk::new(LINES);
    let text = part(&desk, 2, Some(1)).await;
    assert!(text.starts_with("     2\ttwo\n[") && text.contains("offset 3"), "{text}");
    assert_eq!(part(&desk, 2, None).await, "     2\ttwo\n     3\tthree\n");
}

#[tokio::test]
async fn a_negative_offset_counts_from_the_end() {
    assert_eq!(part(&Desk::new(LINES), -1, None).await, "     3\tthree\n");
}

#[tokio::test]
async fn an_offset_past_the_end_is_an_error() {
    let arguments = json!({ "file_path": "a.txt", "offset": 4 });
    let error = Desk::new(LINES).error("Read", arguments).await;
    assert!(error.contains("has 3 lines"), "{error}");
}

#[tokio::test]
async fn a_directory_and_a_missing_file_are_errors() {
    let desk = Desk::new(&[("src/main.rs", "")]);
    let error = desk.error("Read", json!({ "file_path": "src" })).await;
    assert!(error.contains("is a directory"), "{error}");
    let error = desk.error("Read", json!({ "file_path": "src/man.rs" })).await;
    assert!(error.contains("does not exist; there is `src/main.rs`"), "{error}");
}

#[tokio::test]
async fn an_image_is_an_image_block() {
    let desk = Desk::new(&[]);
    // One transparent pixel.
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;";
    desk.put("dot.gif", gif);
    let result = desk.call("Read", json!({ "file_path": "dot.gif" })).await;
    let is_image = |block: &ContentBlock| matches!(block, ContentBlock::Image(image) if image.mime_type == "image/gif");
    assert!(result.content().iter().any(is_image), "{result:?}");
}

#[tokio::test]
async fn a_binary_file_is_not_text() {
    let error =
        Desk::new(&[("data", "a\0b\0")]).error("Read", json!({ "file_path": "data" })).await;
    assert!(error.contains("is not text"), "{error}");
}

#[tokio::test]
async fn other_encodings_are_read() {
    let desk = Desk::new(&[]);
    desk.put("a.txt", b"caf\xe9, d\xe9j\xe0 vu\n");
    let text = desk.read("a.txt").await;
    let notice = "[the encoding is assumed to be windows-1252; ";
    assert!(text.starts_with(&format!("     1\tcafé, déjà vu\n{notice}")), "{text}");
}

#[tokio::test]
async fn crlf_is_a_line_ending() {
    let desk = Desk::new(&[("a.txt", "one\r\ntwo\r\n")]);
    let value = desk.value("Read", json!({ "file_path": "a.txt" })).await;
    assert_eq!([&value["text"], &value["eol"]], ["     1\tone\n     2\ttwo\n", "crlf"]);
}

#[tokio::test]
async fn ten_megabytes_are_read_in_parts() {
    let desk = Desk::new(&[("a.log", &"0123456789 abcdefghi\n".repeat(500_000))]);
    let value = desk.value("Read", json!({ "file_path": "a.log" })).await;
    assert_eq!(
        [&value["lines"], &value["total"], &value["truncated"]],
        [&json!(1000), &json!(500_000), &Value::Bool(true)]
    );
}

#[tokio::test]
async fn long_lines_are_cut_with_a_notice() {
    let desk = Desk::new(&[("a.txt", &format!("{}\nshort\n", "x".repeat(1_000_000)))]);
    let text = desk.read("a.txt").await;
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.contains("\tshort\n") && text.contains('['), "{}", &text[text.len() - 300..]);
}
