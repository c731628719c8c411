//! Several files at once.

use super::support::{args, loader, pairs};
use crate::{McpConfig, McpTransportConfig};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary directory.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tool-runtime-config-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn with(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_merged() {
    let folder = Folder::new();
    let one = folder.with("one.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    let two = folder.with("two", r#"{ "a": { "command": "x" }, "b": { "command": "y" } }"#);
    folder.with(".mcp.json", r#"{ "mcpServers": { "c": { "command": "z" } } }"#);
    let config = loader().file(one).file(two).project(&folder).load().expect("three servers");
    assert_eq!(config.to_string(), "a: starts `x`\nb: starts `y`\nc: starts `z`");
}

#[test]
fn duplicate_entries_are_reported_with_both_files() {
    let folder = Folder::new();
    let one = folder.with("one.json", r#"{ "a": { "command": "x" } }"#);
    let two = folder.with("two.json", r#"{ "a": { "command": "y" } }"#);
    let error = loader().file(&one).file(&two).load().unwrap_err();
    let problem = &error.problems[0];
    assert_eq!(problem.file.as_deref(), Some(two.as_path()));
    assert!(problem.text.contains(&one.display().to_string()), "{problem}");
}

#[test]
fn a_project_file_is_optional_and_a_named_file_is_not() {
    let folder = Folder::new();
    assert!(loader().project(&folder).load().expect("nothing").servers.is_empty());
    let missing = folder.0.join("missing.json");
    let error = loader().file(&missing).load().unwrap_err();
    assert_eq!(error.problems[0].file.as_deref(), Some(missing.as_path()));
    assert!(error.problems[0].text.starts_with("it cannot be read: "), "{error}");
}

#[test]
fn problems_name_their_server() {
    let folder = Folder::new();
    let one =
        folder.with("one", r#"{ "a": { "command": "x" }, "b": { "command": "${NOWHERE}" } }"#);
    let two = folder.with("two", r#"{ "a": { "command": "y" }, "c": { "command": "z" } }"#);
    let (config, problems) =
        loader().file(one).file(two).file(folder.0.join("missing")).load_with_all_problems();
    assert_eq!(config.to_string(), "c: starts `z`");
    let about: Vec<Option<&str>> = problems.iter().map(|p| p.server.as_deref()).collect();
    assert_eq!(about, [Some("a"), None, Some("b")]);
}

#[test]
fn an_unusable_server_is_left_out_unless_required() {
    let text = r#"{ "a": { "command": "x" }, "b": { "url": "ws://example.com" }, "c": 5 }"#;
    let config = loader().json(text).load_usable().expect("a server is left");
    assert_eq!(config.to_string(), "a: starts `x`");
    let about: Vec<_> = config.left_out().iter().map(|p| p.server.as_deref().unwrap()).collect();
    assert_eq!(about, ["b", "c"]);

    let text = r#"{ "a": { "command": "x" }, "b": { "url": "ws://h", "required": true } }"#;
    let error = loader().json(text).load_usable().unwrap_err();
    assert!(error.problems[0].is_about("b"), "{error}");
    assert!(loader().json("{").load_usable().is_err(), "a whole file");
}

#[test]
fn invalid_utf_8_differs_from_a_wrong_path() {
    let folder = Folder::new();
    let text = r#"{ "a": { "command": "x" } }"#;
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = [&[0xff, 0xfe][..], &little].concat();
    for (bytes, encoding) in
        [(&*little, "UTF-16"), (&big, "UTF-16"), (&marked, "UTF-16"), (b"{\xe4}", "not UTF-8")]
    {
        let file = folder.0.join("encoded.json");
        fs::write(&file, bytes).expect("a file");
        let error = loader().file(&file).load().unwrap_err();
        let expected = format!("it cannot be read: its text is {encoding}");
        assert_eq!(
            (&*error.problems[0].text, &*error.problems[0].help),
            (&*expected, "save it as UTF-8")
        );
    }
}

#[test]
fn yaml_is_read_or_rejected_by_name() {
    let folder = Folder::new();
    let text = "mcpServers:\n  a:\n    command: x\n    env: { TOKEN: \"${TOKEN}\" }\n";
    for name in ["mcp.yaml", "mcp.yml"] {
        let loaded = loader().file(folder.with(name, text)).load();
        if cfg!(feature = "yaml") {
            assert_eq!(loaded.expect("YAML").to_string(), "a: starts `x` with `TOKEN`");
        } else {
            let error = loaded.unwrap_err();
            assert_eq!(error.problems[0].text, "this program cannot read YAML");
        }
    }
    let error = loader().file(folder.with("mcp", text)).load().unwrap_err();
    assert!(error.problems[0].help.contains("name the file `.toml` or `.yaml`"), "{error}");
    if cfg!(feature = "yaml") {
        let twice = loader().yaml("a: { command: x }\na: { command: y }").load().unwrap_err();
        assert!(twice.to_string().contains("`a`: this key appears twice"), "{twice}");
        let broken = loader().yaml("a: { command: 8fQm2x").load().unwrap_err().to_string();
        assert!(broken.contains("this is not valid YAML, at line "), "{broken}");
        assert!(!broken.contains("8fQm2x"), "{broken}");
    }
}

#[cfg(feature = "toml")]
#[test]
fn the_file_extension_selects_the_format() {
    let folder = Folder::new();
    let file = folder.with("config.toml", "[mcp_servers.a]\ncommand = \"x\"\n");
    assert_eq!(loader().file(file).load().expect("TOML").to_string(), "a: starts `x`");
}

#[test]
fn variables_are_read_from_a_file_beside_the_configuration() {
    let folder = Folder::new();
    folder.with(".env", "A=file\nB=\"two words\"\n");
    let text = r#"{ "s": { "command": "x", "env": { "A": "entry" }, "envFile": ".env" } }"#;
    let file = folder.with("mcp.json", text);
    let config = loader().file(file).load().unwrap_or_else(|error| panic!("{error}"));
    let McpTransportConfig::Stdio(stdio) = &config.servers["s"].transport else { panic!() };
    assert_eq!(pairs(&stdio.env), [("A", "entry"), ("B", "two words")]);

    let text = r#"{ "s": { "command": "x", "envFile": "missing" } }"#;
    let error = loader().file(folder.with("mcp.json", text)).load().unwrap_err();
    assert!(error.to_string().contains("`s.envFile`: the file cannot be read: "), "{error}");
    #[cfg(unix)]
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    folder.with("bad", "A=1\nhunter2");
    let text = r#"{ "s": { "command": "x", "envFile": "bad" } }"#;
    let error = loader().file(folder.with("mcp.json", text)).load().unwrap_err().to_string();
    assert!(error.contains("line 2 of the file is not an assignment"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn every_constructor_expands_variables_and_leaves_out_what_cannot_be_used() {
    let value = json!({ "mcpServers": {
        "good": { "command": "x", "args": ["${PATH}", "${env:PATH}", "${workspaceFolder}", "${NO_SUCH:-d}"] },
        "unset": { "command": "x", "args": ["${NO_SUCH_VARIABLE_HERE}"] },
    } });
    let folder = Folder::new();
    let file = folder.with("mcp.json", &value.to_string());
    let configs = [
        McpConfig::from_json(&value.to_string()),
        McpConfig::from_value(value.clone()),
        McpConfig::from_file(file),
        McpConfig::loader().environment().value(value).load_usable(),
    ];
    let path = std::env::var("PATH").unwrap();
    let here = std::env::current_dir().unwrap();
    for config in configs {
        let config = config.expect("a server is left");
        let McpTransportConfig::Stdio(good) = &config.servers["good"].transport else { panic!() };
        assert_eq!(args(good), [&path, &path, here.to_str().unwrap(), "d"]);
        assert_eq!(config.left_out()[0].server.as_deref(), Some("unset"));
        assert_eq!(config.left_out()[0].key, "mcpServers.unset.args[0]");
    }
}
