//! Bytes that an edit does not concern.

use crate::case::{Arena, Case, Outcome};
use futures_util::FutureExt as _;
use std::fs;

/// A file before and after an edit.
struct Edit {
    before: Vec<u8>,
    old: &'static str,
    new: &'static str,
    after: Vec<u8>,
}

pub(super) fn cases() -> Vec<Case> {
    let bytes = |before: &[u8], old, new, after: &[u8]| Edit {
        before: before.to_vec(),
        old,
        new,
        after: after.to_vec(),
    };
    let wide = |text: &str| {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    // こんにちは、これは日本語のテキストです。
    const JAPANESE: &[u8] = b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x81A\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83L\x83X\x83g\x82\xc5\x82\xb7\x81B\n";
    let japanese = |word: &str| [JAPANESE, format!("one {word}\n").as_bytes()].concat();
    vec![
        edit("CRLF is kept", bytes(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n")),
        edit(
            "mixed line endings are kept",
            bytes(b"a\r\nb\nc\r\nd\n", "c", "x", b"a\r\nb\nx\r\nd\n"),
        ),
        edit("a missing last line ending stays missing", bytes(b"a\nb", "a", "x", b"x\nb")),
        edit(
            "a byte order mark is kept",
            bytes(b"\xef\xbb\xbfa\nb\n", "a\nb", "x\nb", b"\xef\xbb\xbfx\nb\n"),
        ),
        edit(
            "UTF-16 is kept",
            Edit {
                before: wide("one two\n"),
                old: "two",
                new: "drei ü",
                after: wide("one drei ü\n"),
            },
        ),
        edit(
            "Latin-1 is kept",
            bytes(
                b"caf\xe9, d\xe9j\xe0 vu\none\n",
                "one",
                "t\u{fc}",
                b"caf\xe9, d\xe9j\xe0 vu\nt\xfc\n",
            ),
        ),
        edit(
            "Shift JIS is kept",
            Edit { before: japanese("two"), old: "two", new: "drei", after: japanese("drei") },
        ),
        edit(
            "lines around the edit are kept, tabs and trailing blanks, too",
            bytes(b"\tif x:  \n\t  y \n\tz\n", "z", "w", b"\tif x:  \n\t  y \n\tw\n"),
        ),
        refused("an ambiguous edit is refused", b"x = 1\ny\nx = 1\n", "x = 1", "x = 2"),
        refused("an edit that does not fit is refused", b"a\nb\n", "a\nc", "d"),
        Case::new("a change since the file was read is not overwritten", |arena| {
            stale(arena).boxed()
        }),
    ]
}

fn edit(name: &'static str, edit: Edit) -> Case {
    let edit = std::sync::Arc::new(edit);
    Case::new(name, move |arena| {
        let edit = std::sync::Arc::clone(&edit);
        async move {
            let path = arena.put("root/a.txt", &edit.before);
            let answer = arena.edit(&path, edit.old, edit.new).await;
            let found = fs::read(&path).expect("the file is there");
            match answer {
                Ok(_) if found == edit.after => Outcome::Kept,
                Err(_) if found == edit.before => Outcome::Refused,
                Ok(_) if found == edit.before => {
                    Outcome::Broken("reported as done, nothing is changed")
                }
                _ => Outcome::Broken("other bytes are changed"),
            }
        }
        .boxed()
    })
}

fn refused(
    name: &'static str,
    before: &'static [u8],
    old: &'static str,
    new: &'static str,
) -> Case {
    Case::new(name, move |arena| {
        async move {
            let path = arena.put("root/a.txt", before);
            let answer = arena.edit(&path, old, new).await;
            match (answer, fs::read(&path).expect("the file is there") == before) {
                (Err(_), true) => Outcome::Kept,
                (Ok(_), true) => Outcome::Broken("reported as done, nothing is changed"),
                (_, false) => Outcome::Broken("the file is changed"),
            }
        }
        .boxed()
    })
}

async fn stale(arena: &Arena) -> Outcome {
    let path = arena.put("root/a.txt", "one\n");
    let connection = arena.connect().await;
    drop(connection.read(&path).await);
    arena.put("root/a.txt", "one\ntwo, by somebody else\n");
    drop(connection.write(&path, "one, changed\n").await);
    connection.close().await;
    match fs::read_to_string(&path).is_ok_and(|text| text.contains("two")) {
        true => Outcome::Kept,
        false => Outcome::Broken("the other change is lost"),
    }
}
