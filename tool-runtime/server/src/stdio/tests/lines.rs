//! Splits bytes into lines, for chunks of any size.

use tool_runtime_mcp::lines::{Line, LineBuffer};

/// The lines for these chunks; `None` is a line over the limit.
fn cut(limit: usize, chunks: &[&[u8]]) -> Vec<Option<String>> {
    let mut buffer = LineBuffer::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        buffer.room().extend_from_slice(chunk);
        collect(&mut buffer, &mut found);
    }
    buffer.end();
    collect(&mut buffer, &mut found);
    found
}

/// Takes every line there is.
fn collect(buffer: &mut LineBuffer, found: &mut Vec<Option<String>>) {
    while let Some(line) = buffer.next_line() {
        found.push(match line {
            Line::Whole(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Line::TooLong { .. } => None,
        });
    }
}

/// The expectation for lines within the limit.
fn restore_result(lines: &[&str]) -> Vec<Option<String>> {
    lines.iter().map(|line| Some((*line).to_owned())).collect()
}

#[test]
fn lines_are_the_same_for_every_chunk_size() {
    let text = b"one\ntwo\r\n\n  \r\nthree";
    for size in 1..=text.len() {
        let chunks: Vec<_> = text.chunks(size).collect();
        assert_eq!(cut(100, &chunks), restore_result(&["one", "two", "three"]), "{size}");
    }
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_beginning_only() {
    let text = "\u{feff}one\n\u{feff}two\n".as_bytes();
    assert_eq!(cut(100, &[text]), restore_result(&["one", "\u{feff}two"]));
}

#[test]
fn a_line_over_the_limit_is_reported_once_and_skipped() {
    let text = b"1234\n12345\n123456789\nend\n";
    let expected = [Some("1234"), None, None, Some("end")].map(|line| line.map(str::to_owned));
    for size in 1..=text.len() {
        let chunks: Vec<_> = text.chunks(size).collect();
        assert_eq!(cut(4, &chunks), expected, "{size}");
    }
}

#[test]
fn a_line_over_the_limit_is_not_kept() {
    let mut buffer = LineBuffer::new(10);
    for _ in 0..1000 {
        buffer.room().extend_from_slice(&[b'x'; 1000]);
        let _ = buffer.next_line();
    }
    assert!(buffer.room().len() < 2000);
}

#[test]
fn the_end_of_a_skipped_line_is_skipped() {
    assert_eq!(cut(4, &[b"12345", b"6789"]), [None]);
}

#[test]
fn a_chunk_is_joined_to_the_incomplete_line() {
    let mut buffer = LineBuffer::new(100);
    buffer.append(b"first\nsec".to_vec());
    assert_eq!(buffer.next_line(), Some(Line::Whole(b"first")));
    assert_eq!(buffer.next_line(), None);
    buffer.append(b"ond\n".to_vec());
    assert_eq!(buffer.next_line(), Some(Line::Whole(b"second")));
}
