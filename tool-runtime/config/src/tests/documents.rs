//! Documents without servers, or with malformed ones.

use super::support::{load, loader};
use serde_json::json;

fn problems(text: &str) -> Vec<String> {
    let error = load(text).map(|config| panic!("{config}")).unwrap_err();
    error.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn invalid_json_is_reported_by_position_without_its_text() {
    for text in [
        "{ \"a\": \"hunter2\" \"b\" }",
        "{ \"a\": hunter2 }",
        "{ \"hunter2",
        "hunter2",
        "{ \"a\": \"\\q hunter2\" }",
        "{} hunter2",
    ] {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("this is not JSON: "), "{problems:?}");
        assert!(problems[0].contains("at line 1 column "), "{problems:?}");
        assert!(!problems[0].contains("hunter2"), "{problems:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(problems(&deep)[0].contains("recursion limit"));
}

#[cfg(feature = "toml")]
#[test]
fn invalid_toml_is_reported_by_position_without_its_text() {
    for text in [
        "a = hunter2",
        "\n a = \"hunter2",
        "a = 1\na = \"hunter2\"",
        "[s]\nx.hunter2 = 1\nx = \"hunter2\"",
        "hunter2",
    ] {
        let error = loader().toml(text).load().unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("this is not valid TOML: ") && message.contains(" at line "),
            "{message}"
        );
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[cfg(not(feature = "toml"))]
#[test]
fn toml_without_the_feature_is_reported() {
    let error = loader().toml("").load().unwrap_err();
    assert!(error.to_string().contains("the feature `toml`"), "{error}");
}

#[test]
fn a_duplicate_key_is_reported() {
    let found = problems(
        r#"{ "mcpServers": { "a": { "command": "x", "command": "hunter2" }, "a": { "url": "y" } } }"#,
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("`mcpServers.a.command`: this key appears twice"), "{found:?}");
    assert!(found[1].starts_with("`mcpServers.a`: this key appears twice"), "{found:?}");
}

#[test]
fn a_document_without_servers_is_explained() {
    for (text, words) in [
        ("[]", "this is not an object"),
        (r#"{ "editor.fontSize": 14 }"#, "the file lists no servers"),
        (r#"{ "a": {} }"#, "the file lists no servers"),
        (r#"{ "command": "npx" }"#, "the entry of a server without its name"),
        (r#"{ "mcpServers": 5 }"#, "this is not a map of servers"),
        (r#"{ "mcpServer": { "a": { "command": "x" } } }"#, "did you mean `mcpServers`?"),
        (r#"{ "mcp_server": { "a": { "url": "x" } } }"#, "did you mean `mcp"),
        (r#"{ "mcpServers": { "": { "command": "x" } } }"#, "the name of the server is empty"),
        (r#"{ "a": { "command": "x" }, "b": 5 }"#, "`b`: is not an entry of a server"),
    ] {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert!(problems[0].contains(words), "{text}: {problems:?}");
    }
}

#[test]
fn other_keys_beside_the_servers_are_one_warning() {
    let config = load(r#"{ "inputs": [], "mcpServers": { "server": { "command": "x" } }, "theme": "x", "$schema": "y", "server": { "port": 1 } }"#)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config.warnings().len(), 1);
    assert_eq!(
        config.warnings()[0].text,
        "other keys beside the servers are ignored: `inputs`, `theme`, `server`"
    );
}

#[test]
fn a_misspelt_wrapper_beside_a_valid_one_is_reported() {
    let found = problems(r#"{ "mcpServers": {}, "mcpSevers": { "a": { "command": "x" } } }"#);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("did you mean `mcpServers`?"), "{found:?}");
}

#[test]
fn control_characters_are_not_shown() {
    let text = r#"{ "a\u001b[2J": { "command": "x\u001b[2J", "autoApprove": [] }, "b": { "url": "https://h/\u001b", "\u0007": 1 } }"#;
    let output = load(text).unwrap_err().to_string();
    assert!(!output.contains(|c: char| c.is_control() && c != '\n'), "{output:?}");
    let text = r#"{ "\u0007": 1, "mcpServers": { "a\u001b[2J": { "command": "x\u001b[2J", "trust": true } } }"#;
    let config = load(text).unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<String> = config.warnings().iter().map(ToString::to_string).collect();
    for output in [config.to_string(), format!("{config:?}"), warnings.concat()] {
        assert!(!output.contains(char::is_control), "{output:?}");
    }
}

#[test]
fn names_keep_their_spelling() {
    let config = load(r#"{ "mcpServers": { "Git Hub.v2": { "command": "x", "zzz": 1 } } }"#);
    let error = config.unwrap_err();
    assert_eq!(error.problems[0].server.as_deref(), Some("Git Hub.v2"));
    assert_eq!(error.problems[0].key, "mcpServers.\"Git Hub.v2\".zzz");
}

#[test]
fn a_configuration_without_enabled_servers_is_a_warning() {
    let config = loader().value(json!({ "a": { "command": "x", "disabled": true } })).load();
    assert_eq!(config.expect("a disabled one").warnings()[0].text, "every server is disabled");
}
