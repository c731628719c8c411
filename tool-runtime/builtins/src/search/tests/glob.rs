use super::Fixture;
use crate::Profile;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const TREE: &[(&str, &str)] = &[
    ("a.rs", ""),
    ("b.toml", ""),
    ("[x].rs", ""),
    ("foox", ""),
    ("src/x", ""),
    ("src/main.rs", ""),
    ("src/deep/lib.rs", ""),
    (".hidden/secret.rs", ""),
    (".env", ""),
    ("node_modules/p/index.js", ""),
];

#[tokio::test]
async fn patterns() {
    let fixture = Fixture::new(TREE);
    let cases: &[(Value, &[&str])] = &[
        (json!({ "pattern": "*.rs" }), &["[x].rs", "a.rs"]),
        (json!({ "pattern": "**/*.rs" }), &["[x].rs", "a.rs", "src/deep/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "**/x" }), &["src/x"]),
        (json!({ "pattern": "?.rs" }), &["a.rs"]),
        (json!({ "pattern": "*.{rs,toml}" }), &["[x].rs", "a.rs", "b.toml"]),
        (json!({ "pattern": "[ab].*" }), &["a.rs", "b.toml"]),
        (json!({ "pattern": "[!a].toml" }), &["b.toml"]),
        (json!({ "pattern": "[[]x].rs" }), &["[x].rs"]),
        (json!({ "pattern": "!**/*.{rs,js}" }), &["b.toml", "foox", "src/x"]),
        (
            json!({ "pattern": "!src/**" }),
            &["[x].rs", "a.rs", "b.toml", "foox", "node_modules/p/index.js"],
        ),
        (
            json!({ "pattern": "!./src/**", "path": "src" }),
            &["src/deep/lib.rs", "src/main.rs", "src/x"],
        ),
        (json!({ "pattern": "src/**/*.rs" }), &["src/deep/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "src/main.rs" }), &["src/main.rs"]),
        (json!({ "pattern": "**/*.rs", "path": "src" }), &["src/deep/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "*", "path": "src/deep" }), &["src/deep/lib.rs"]),
        (json!({ "pattern": "**/*.js" }), &["node_modules/p/index.js"]),
        (json!({ "pattern": "**/secret.rs" }), &[]),
        (json!({ "pattern": "**/secret.rs", "hidden": true }), &[".hidden/secret.rs"]),
        (json!({ "pattern": "*", "path": ".hidden" }), &[".hidden/secret.rs"]),
        (json!({ "pattern": ".env", "hidden": true }), &[".env"]),
        (json!({ "pattern": "*.none" }), &[]),
    ];
    for (arguments, expected) in cases {
        let mut found = fixture.sorted("Glob", arguments.clone()).await;
        // The helper takes notices out, which begin with a bracket, as one name does.
        let listed = fixture.call("Glob", arguments.clone()).await;
        let listed = listed.structured().unwrap()["files"].as_array().unwrap().clone();
        if listed.contains(&json!("[x].rs")) {
            found.insert(0, "[x].rs".into());
        }
        assert_eq!(found, *expected, "{arguments}");
    }
}

#[tokio::test]
async fn an_absolute_pattern_must_be_inside_of_the_roots() {
    let fixture = Fixture::new(TREE);
    let inside = format!("{}/src/*.rs", fixture.root().display());
    assert_eq!(fixture.text("Glob", json!({ "pattern": inside })).await, "src/main.rs");
    for pattern in ["/etc/*", "../*", "src/../../*"] {
        let result = fixture.call("Glob", json!({ "pattern": pattern })).await;
        assert!(result.is_error(), "{pattern}");
        assert!(result.to_text().contains("outside the workspace"), "{}", result.to_text());
    }
}

#[tokio::test]
async fn the_newest_come_first_and_a_cut_is_stated() {
    let names: Vec<String> = (0..600).map(|number| format!("f{number:03}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let fixture = Fixture::new(&files);
    let result = fixture.call("Glob", json!({ "pattern": "*.txt" })).await;
    let value = result.structured().unwrap();
    let listed = value["files"].as_array().unwrap();
    assert_eq!(
        (listed.len(), &listed[0], &listed[499]),
        (500, &json!("f599.txt"), &json!("f100.txt"))
    );
    assert_eq!((&value["total"], &value["truncated"]), (&json!(600), &json!(true)));
    let text = result.to_text();
    let notice = "[the newest 500 of 600 files; narrow `pattern` or `path`]";
    assert!(text.starts_with("f599.txt\n") && text.ends_with(notice), "{text}");

    let few = fixture.call("Glob", json!({ "pattern": "*.txt", "limit": 2 })).await;
    assert_eq!(few.structured().unwrap()["files"], json!(["f599.txt", "f598.txt"]));
}

#[tokio::test]
async fn links_keep_their_paths_and_lead_nowhere_outside() {
    let fixture = Fixture::new(&[("real/a.rs", ""), ("b.rs", "")]);
    let root = fixture.root();
    let outside = fixture.directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.rs"), "").unwrap();
    symlink("real", root.join("link")).unwrap();
    symlink("real/a.rs", root.join("file.rs")).unwrap();
    symlink(&outside, root.join("out")).unwrap();
    symlink(outside.join("secret.rs"), root.join("out.rs")).unwrap();

    let inside = fixture.text("Glob", json!({ "pattern": "*.rs", "path": "link" })).await;
    assert_eq!(inside, "link/a.rs");
    let all = fixture.sorted("Glob", json!({ "pattern": "**/*.rs" })).await;
    assert_eq!(all, ["b.rs", "file.rs", "real/a.rs"]);
    let out = fixture.call("Glob", json!({ "pattern": "*", "path": "out" })).await;
    let expected = "`out` leads out of the workspace by a symbolic link; give a path inside it";
    assert_eq!((out.is_error(), out.to_text().as_str()), (true, expected));
}

#[tokio::test]
async fn ignored_files_are_skipped_and_the_notice_says_so() {
    let files = [(".gitignore", "node_modules\n"), ("node_modules/x.js", ""), (".git/HEAD", "")];
    let fixture = Fixture::new(&files);
    let result = fixture.call("Glob", json!({ "pattern": "**/*.js" })).await;
    assert_eq!(
        result.to_text(),
        "[no file matches; `hidden` adds hidden files; `no_ignore` adds those that `.gitignore` excludes]"
    );
    let all = json!({ "pattern": "**/*.js", "no_ignore": true });
    assert_eq!(fixture.text("Glob", all).await, "node_modules/x.js");
}

#[tokio::test]
async fn mistakes_are_errors_with_a_remedy() {
    let fixture = Fixture::new(TREE);
    let cases = [
        (json!({ "pattern": "a[" }), "`pattern` is not a valid glob"),
        (json!({ "pattern": "*", "path": "none" }), "`none` does not exist; leave it out"),
        (json!({ "pattern": "none/*.rs" }), "`none` does not exist; leave it out"),
        (json!({ "pattern": "*", "path": "a.rs" }), "`a.rs` is a file; give a directory"),
    ];
    for (arguments, expected) in cases {
        let result = fixture.call("Glob", arguments.clone()).await;
        assert!(result.is_error() && result.to_text().contains(expected), "{}", result.to_text());
    }
}

#[tokio::test]
async fn the_face_of_open_hands_lists_a_hundred() {
    let names: Vec<String> = (0..120).map(|number| format!("f{number:03}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let fixture = Fixture::in_profile(Profile::OpenHands, &files);
    let tools = fixture.pool.tools();
    assert_eq!(tools.iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["glob", "grep"]);
    let result = fixture.call("glob", json!({ "pattern": "*" })).await;
    assert_eq!(result.structured().unwrap()["files"].as_array().unwrap().len(), 100);
}

/// `Grep` and `Glob` on a tree of a web framework.
#[tokio::test]
async fn names_with_brackets_are_found_as_they_are_written() {
    let page = "app/(shop)/[slug]/[...rest]/page.tsx";
    let fixture = Fixture::new(&[(page, "needle"), ("app/(shop)/s/page.tsx", "needle")]);
    for pattern in ["app/(shop)/[slug]/**/*.tsx", "app/(shop)/[slug]/[...rest]/page.tsx"] {
        assert_eq!(fixture.text("Glob", json!({ "pattern": pattern })).await, page);
        let absolute = fixture.root().join(pattern);
        assert_eq!(fixture.text("Glob", json!({ "pattern": absolute })).await, page);
        let grep = json!({ "pattern": "needle", "glob": pattern });
        assert_eq!(fixture.text("Grep", grep).await, page);
    }
    let grep = json!({ "pattern": "needle", "glob": "*.tsx,!app/(shop)/[slug]/**" });
    assert_eq!(fixture.text("Grep", grep).await, "app/(shop)/s/page.tsx");
    let advice = "brackets mean one of the characters in them: write a literal `[` as `[[]`";
    for (tool, arguments) in [
        ("Glob", json!({ "pattern": "**/[id]/*.tsx" })),
        ("Grep", json!({ "pattern": "needle", "glob": "**/[id]/*.tsx" })),
    ] {
        let text = fixture.call(tool, arguments).await.to_text();
        assert!(text.contains(advice), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_of_macos_match_patterns_as_they_are_typed() {
    let names = ["cafe\u{301}.txt", "at 9.41.00\u{202f}AM.png", "John\u{2019}s notes.md"];
    let fixture = Fixture::new(&names.map(|name| (name, "")));
    for (pattern, name) in ["caf\u{e9}*", "at 9.41.00 AM*", "John's*"].into_iter().zip(names) {
        assert_eq!(fixture.text("Glob", json!({ "pattern": pattern })).await, name);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_would_forge_lines_are_rendered_with_escapes() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new(&[("a\n/etc/passwd", "needle\n"), ("b\u{202e}", "needle\n")]);
    let bytes = fixture.root().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::write(bytes, "needle\n").unwrap();
    let rendered = ["a\\n/etc/passwd", "b\\u{202e}", "caf\\xe9"];
    assert_eq!(fixture.sorted("Glob", json!({ "pattern": "**" })).await, rendered);
    assert_eq!(fixture.sorted("Grep", json!({ "pattern": "needle" })).await, rendered);
    for path in rendered {
        let grep = json!({ "pattern": "needle", "path": path });
        assert_eq!(fixture.text("Grep", grep).await, path, "a tool takes the rendered name");
    }
}
