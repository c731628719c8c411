use super::{Fixture, write};
use crate::Profile;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const TREE: &[(&str, &str)] = &[
    ("old.rs", "fn one() {}\nfn Two() {}\n"),
    ("a/code.rs", "// one\nlet x = one;\n\n\n\n\nlet y = one;\nlast\n"),
    ("notes.md", "one\r\n--flag\ninterface{}\nstart\nend\n"),
    (".hidden.rs", "one hidden\n"),
    (".git/HEAD", "one"),
    (".gitignore", "build\n"),
    ("build/gen.rs", "one generated\n"),
];

/// Arguments with `output_mode: content`.
fn content(mut arguments: Value) -> Value {
    arguments["output_mode"] = json!("content");
    arguments
}

#[tokio::test]
async fn files_lines_and_counts() {
    let fixture = Fixture::new(TREE);
    let cases = [
        (json!({ "pattern": "one" }), "notes.md\na/code.rs\nold.rs"),
        (json!({ "pattern": "two" }), ""),
        (json!({ "pattern": "two", "-i": true }), "old.rs"),
        // As in ripgrep: what a glob or a type includes is searched even if it is hidden.
        (json!({ "pattern": "one", "glob": "*.rs" }), ".hidden.rs\na/code.rs\nold.rs"),
        (json!({ "pattern": "one", "glob": "!*.rs" }), "notes.md"),
        (json!({ "pattern": "one", "glob": "*.{md,txt}, old.*" }), "notes.md\nold.rs"),
        (json!({ "pattern": "one", "glob": "a/**" }), "a/code.rs"),
        (json!({ "pattern": "one", "type": "rust" }), ".hidden.rs\na/code.rs\nold.rs"),
        (json!({ "pattern": "one", "path": "a" }), "a/code.rs"),
        (json!({ "pattern": "one", "path": "notes.md" }), "notes.md"),
        (json!({ "pattern": "one", "path": "build" }), "build/gen.rs"),
        (json!({ "pattern": "one h", "hidden": true }), ".hidden.rs"),
        (json!({ "pattern": "one g", "no_ignore": true }), "build/gen.rs"),
        (json!({ "pattern": "one", "output_mode": "count" }), "notes.md:1\na/code.rs:3\nold.rs:1"),
        (json!({ "pattern": "o|n|e", "output_mode": "count", "path": "old.rs" }), "old.rs:2"),
        (content(json!({ "pattern": "--flag" })), "notes.md:2:--flag"),
        (content(json!({ "pattern": "-e one" })), ""),
        (content(json!({ "pattern": "^one$" })), ""),
        (content(json!({ "pattern": "interface\\{\\}" })), "notes.md:3:interface{}"),
        (
            content(json!({ "pattern": "fn (one|Two)" })),
            "old.rs:1:fn one() {}\nold.rs:2:fn Two() {}",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(fixture.text("Grep", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn context_is_listed_once_and_groups_are_separated() {
    let fixture = Fixture::new(TREE);
    let arguments = content(json!({ "pattern": "one", "glob": "code.rs", "-C": 1 }));
    let expected = "a/code.rs:1:// one\na/code.rs:2:let x = one;\na/code.rs-3-\n--\na/code.rs-6-\na/code.rs:7:let y = one;\na/code.rs-8-last";
    assert_eq!(fixture.text("Grep", arguments).await, expected);
    let after = content(json!({ "pattern": "// one", "-A": 1, "-B": 0 }));
    assert_eq!(fixture.text("Grep", after).await, "a/code.rs:1:// one\na/code.rs-2-let x = one;");
    let overlapping = content(json!({ "pattern": "let", "path": "a/code.rs", "-C": 4 }));
    let lines: Vec<u64> = {
        let result = fixture.call("Grep", overlapping).await;
        let lines = result.structured().unwrap()["files"][0]["lines"].as_array().unwrap().clone();
        lines.iter().map(|line| line["number"].as_u64().unwrap()).collect()
    };
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[tokio::test]
async fn matches_may_span_lines_only_if_asked() {
    let fixture = Fixture::new(TREE);
    let pattern = "start.end|start\\nend";
    let result = fixture.call("Grep", content(json!({ "pattern": pattern }))).await;
    assert!(
        result.is_error() && result.to_text().contains("set `multiline`"),
        "{}",
        result.to_text()
    );
    let arguments = content(json!({ "pattern": pattern, "multiline": true }));
    assert_eq!(fixture.text("Grep", arguments).await, "notes.md:4:start\nnotes.md:5:end");
    let count = json!({ "pattern": "one;.", "multiline": true, "output_mode": "count" });
    assert_eq!(fixture.text("Grep", count).await, "a/code.rs:2");
}

#[tokio::test]
async fn a_cut_is_stated_and_the_rest_can_be_seen() {
    let text: String = (1..=600).map(|number| format!("line {number}\n")).collect();
    let fixture = Fixture::new(&[("other.txt", "line\n"), ("long.txt", &text)]);
    let result = fixture.call("Grep", content(json!({ "pattern": "line" }))).await;
    let value = result.structured().unwrap();
    assert_eq!(value["files"][0]["lines"].as_array().unwrap().len(), 250);
    assert_eq!((&value["total_matches"], &value["total_files"]), (&json!(601), &json!(2)));
    let text = result.to_text();
    let notice = "[250 lines are shown of 601 matches in 2 files; `offset: 250` shows more, or narrow the search by `path`, `glob` or `type`]";
    assert!(text.ends_with(notice), "{text}");

    let rest = fixture.call("Grep", content(json!({ "pattern": "line", "offset": 500 }))).await;
    let text = rest.to_text();
    assert!(text.starts_with("long.txt:501:line 501\n"), "{text}");
    assert!(text.ends_with("long.txt:600:line 600\nother.txt:1:line"), "{text}");
    let all = fixture.call("Grep", content(json!({ "pattern": "line", "head_limit": 0 }))).await;
    assert_eq!(all.structured().unwrap()["truncated"], false);
    let files = json!({ "pattern": "line", "head_limit": 1 });
    let text = fixture.call("Grep", files).await.to_text();
    assert!(text.starts_with("long.txt\n[1 files are shown of 2 files; `offset: 1`"), "{text}");
}

#[tokio::test]
async fn long_results_are_cut_by_their_size() {
    let line = format!("needle {}\n", "x".repeat(2000));
    let fixture = Fixture::new(&[("big.txt", &line.repeat(300))]);
    let result = fixture.call("Grep", content(json!({ "pattern": "needle" }))).await;
    let text = result.to_text();
    assert!(text.len() < 30_000 && text.contains("`offset: "), "{}", text.len());
    assert!(text.lines().next().unwrap().ends_with(" [1507 bytes]"), "{text}");
}

#[tokio::test]
async fn binary_files_are_skipped_unless_named() {
    let fixture = Fixture::new(&[("text.txt", "needle\n")]);
    let mut binary = vec![0; 10];
    binary.extend(b"needle\nneedle\n");
    write(&fixture.root().join("data.bin"), &binary, 5);
    let wide: Vec<u8> = "\u{feff}needle wide\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(&fixture.root().join("wide.txt"), &wide, 6);
    write(&fixture.root().join("latin.txt"), b"needle \xfc\n", 7);
    let found = fixture.text("Grep", content(json!({ "pattern": "needle" }))).await;
    assert_eq!(found, "latin.txt:1:needle \u{fffd}\nwide.txt:1:needle wide\ntext.txt:1:needle");
    let named = json!({ "pattern": "needle", "path": "data.bin", "output_mode": "count" });
    assert_eq!(fixture.text("Grep", named).await, "data.bin:2");
    let named =
        fixture.call("Grep", content(json!({ "pattern": "needle", "path": "data.bin" }))).await;
    assert!(named.to_text().contains("binary"), "{}", named.to_text());
}

/// ripgrep reports no count of a file that turns out to be binary after a match.
#[tokio::test]
async fn a_binary_file_with_a_match_at_its_beginning_is_not_counted() {
    let fixture = Fixture::new(&[("text.txt", "needle\n")]);
    // Longer than what is read at once.
    let mut binary = b"needle\n".to_vec();
    binary.extend(b"word\n".repeat(100_000));
    binary.extend(b"\0\nneedle\n");
    write(&fixture.root().join("data.bin"), &binary, 5);
    let count = json!({ "pattern": "needle", "output_mode": "count" });
    assert_eq!(fixture.text("Grep", count).await, "text.txt:1");
    let lines = fixture.text("Grep", content(json!({ "pattern": "needle" }))).await;
    assert_eq!(lines, "text.txt:1:needle");
    let named = json!({ "pattern": "needle", "path": "data.bin", "output_mode": "count" });
    assert_eq!(fixture.text("Grep", named).await, "data.bin:2");
}

#[tokio::test]
async fn links_are_not_followed_out_of_the_root() {
    let fixture = Fixture::new(&[("a.txt", "needle\n")]);
    let outside = fixture.directory.path().join("outside");
    write(&outside.join("secret.txt"), b"needle\n", 9);
    symlink(&outside, fixture.root().join("out")).unwrap();
    symlink(outside.join("secret.txt"), fixture.root().join("out.txt")).unwrap();
    assert_eq!(fixture.text("Grep", json!({ "pattern": "needle" })).await, "a.txt");
    for path in ["out", "out.txt", "out/secret.txt"] {
        let result =
            fixture.call("Grep", content(json!({ "pattern": "needle", "path": path }))).await;
        assert!(result.is_error(), "{path}: {}", result.to_text());
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn directories_with_rules_that_cannot_be_read_are_left_out() {
    for name in [".gitignore", ".ignore", ".rgignore"] {
        let fixture = Fixture::new(&[
            ("a.txt", "needle\n"),
            ("sub/b.txt", "needle\n"),
            ("outside.txt", "b.txt"),
        ]);
        let file = fixture.root().join("sub").join(name);
        let outside = fixture.directory.path().join("outside");
        write(&outside, b"b.txt", 9);
        let links = ["/dev/zero".into(), outside].map(Some);
        for target in [None].into_iter().chain(links) {
            match &target {
                Some(target) => symlink(target, &file).unwrap(),
                None => rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into()).unwrap(),
            }
            for tool in ["Grep", "Glob"] {
                let pattern = if tool == "Grep" { "needle" } else { "**/[ab].txt" };
                let found = fixture.call(tool, json!({ "pattern": pattern })).await.to_text();
                let expected =
                    format!("directories that were left out: 1, as the rules of `sub/{name}` are");
                assert!(found.starts_with("a.txt\n["), "{target:?}: {found}");
                assert!(found.contains(&expected), "{target:?}: {found}");
                let all = json!({ "pattern": pattern, "no_ignore": true });
                assert_eq!(fixture.sorted(tool, all).await, ["a.txt", "sub/b.txt"]);
                let below = fixture.call(tool, json!({ "pattern": pattern, "path": "sub" })).await;
                assert!(below.to_text().contains(&expected), "{target:?}: {}", below.to_text());
            }
            fs::remove_file(&file).unwrap();
        }
        // A link to a file inside is read, as ripgrep does.
        symlink("../outside.txt", &file).unwrap();
        std::fs::create_dir(fixture.root().join(".git")).unwrap();
        assert_eq!(fixture.text("Grep", json!({ "pattern": "needle" })).await, "a.txt");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn repositories_with_rules_that_cannot_be_read_are_left_out() {
    let fixture = Fixture::new(&[
        ("a.txt", "needle\n"),
        ("sub/b.txt", "needle\n"),
        ("sub/c.txt", "needle\n"),
        ("git/common/info/exclude", "b.txt\n"),
        ("git/linked/commondir", "../common\n"),
    ]);
    let git = fixture.root().join("git");
    write(
        &fixture.root().join("sub/.git"),
        format!("gitdir: {}\n", git.join("linked").display()).as_bytes(),
        9,
    );
    let search = json!({ "pattern": "needle" });
    assert_eq!(fixture.sorted("Grep", search.clone()).await, ["a.txt", "sub/c.txt"]);
    let replace = |name: &str| {
        fs::remove_file(fixture.root().join(name)).unwrap();
        let path = fixture.root().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
    };
    let left_out = |name| {
        format!("a.txt\n[directories that were left out: 1, as the rules of `sub/{name}` are")
    };
    for name in ["git/common/info/exclude", "git/linked/commondir"] {
        replace(name);
        let found = fixture.call("Grep", search.clone()).await.to_text();
        assert!(found.starts_with(&left_out(".git")), "{name}: {found}");
    }
    fs::remove_file(fixture.root().join("sub/.git")).unwrap();
    write(&fixture.root().join("sub/.git/info/exclude"), b"", 9);
    replace("sub/.git/info/exclude");
    let found = fixture.call("Grep", search.clone()).await.to_text();
    assert!(found.starts_with(&left_out(".git/info/exclude")), "{found}");
}

/// A directory and a link out of the root are swapped all the time.
#[cfg(target_os = "linux")]
#[test]
fn names_outside_are_not_shown_while_links_change() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};
    let names: Vec<String> = (0..50).map(|number| format!("current/{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "needle\n")).collect();
    let (fixture, is_done) = (Fixture::new(&files), AtomicBool::new(false));
    let (outside, root) = (fixture.directory.path().join("outside"), fixture.root());
    for number in 0..50 {
        write(&outside.join(format!("secret-{number}")), b"needle\n", 9);
    }
    symlink(&outside, root.join("link")).unwrap();
    let [current, link] = ["current", "link"].map(|name| root.join(name));
    let swap = || {
        while !is_done.load(Ordering::Relaxed) {
            renameat_with(CWD, &current, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    };
    let mut outputs = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(swap);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for tool in ["Grep", "Glob"].repeat(150) {
                let pattern = if tool == "Grep" { "needle" } else { "**" };
                let result = fixture.call(tool, json!({ "pattern": pattern })).await;
                outputs.push(result.to_text());
            }
        });
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(outputs.iter().any(|text| text.contains("current/1")));
    let leaked = outputs.iter().find(|text| text.contains("secret"));
    assert_eq!(leaked, None);
}

#[tokio::test]
async fn named_pipes_do_not_block() {
    let fixture = Fixture::new(&[("a.txt", "needle\n")]);
    let pipe = fixture.root().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success() && fs::exists(&pipe).unwrap());
    assert_eq!(fixture.text("Grep", json!({ "pattern": "needle" })).await, "a.txt");
    let named = fixture.call("Grep", json!({ "pattern": "needle", "path": "pipe" })).await;
    assert!(named.to_text().contains("neither a file nor a directory"), "{}", named.to_text());
}

#[tokio::test]
async fn mistakes_are_errors_with_a_remedy() {
    let fixture = Fixture::new(TREE);
    let cases = [
        (json!({ "pattern": "a(b" }), "unclosed group"),
        (json!({ "pattern": "x", "path": "/etc" }), "outside the workspace"),
        (json!({ "pattern": "x", "path": "none" }), "`none` does not exist"),
        (json!({ "pattern": "x", "glob": "a[" }), "`glob` is not valid"),
        (json!({ "pattern": "x", "type": "rs" }), "`rs` is not a known type of files (`rust`"),
    ];
    for (arguments, expected) in cases {
        let result = fixture.call("Grep", arguments.clone()).await;
        assert!(result.is_error() && result.to_text().contains(expected), "{}", result.to_text());
    }
}

#[tokio::test]
async fn the_face_of_open_hands_ignores_case() {
    let fixture = Fixture::in_profile(Profile::OpenHands, TREE);
    let found = fixture.text("grep", json!({ "pattern": "TWO", "include": "*.rs" })).await;
    assert_eq!(found, "old.rs");
}

#[tokio::test]
async fn a_line_without_end_is_named_as_the_reason() {
    let fixture = Fixture::new(&[("text.txt", "needle\n")]);
    let line = vec![b'x'; (64 << 20) + 1];
    write(&fixture.root().join("line.txt"), &line, 5);
    let text =
        fixture.call("Grep", json!({ "pattern": "needle", "path": "line.txt" })).await.to_text();
    assert_eq!(
        text,
        "[`line.txt` could not be searched: it has a line of more than 64 MiB; run a command such as `grep -o`]"
    );
    let text = fixture.call("Grep", json!({ "pattern": "needle" })).await.to_text();
    assert!(text.starts_with("text.txt\n[`line.txt` could not be searched"), "{text}");
}

#[tokio::test]
async fn lines_are_rendered_with_escapes() {
    let fixture = Fixture::new(&[("a.log", "needle \u{1b}[31mred\u{202e}\ttab\n")]);
    let text = fixture.text("Grep", content(json!({ "pattern": "needle" }))).await;
    assert_eq!(text, "a.log:1:needle \\u{1b}[31mred\\u{202e}\ttab");
}

#[tokio::test]
async fn line_numbers_are_shown_unless_they_are_switched_off() {
    let fixture = Fixture::new(TREE);
    for (name, shown, expected) in [
        ("-n", true, "notes.md:1:one"),
        ("-n", false, "notes.md:one"),
        ("line_numbers", false, "notes.md:one"),
    ] {
        let arguments = json!({ "pattern": "one", "path": "notes.md", name: shown });
        assert_eq!(fixture.text("Grep", content(arguments)).await, expected, "{name} {shown}");
    }
    let mut arguments = content(json!({ "pattern": "start", "path": "notes.md", "-C": 1 }));
    arguments["-n"] = json!(true);
    let expected = "notes.md-3-interface{}\nnotes.md:4:start\nnotes.md-5-end";
    assert_eq!(fixture.text("Grep", arguments).await, expected);
}
