//! What cannot be meant.

use super::support::{config, wrong};
use serde_json::{Value, json};

/// The one thing that is wrong holds these words.
fn refused(entry: Value, words: &[&str]) {
    let problems = wrong(entry.clone());
    assert_eq!(problems.len(), 1, "{entry}: {problems:?}");
    for word in words {
        assert!(problems[0].contains(word), "{entry}: `{}` lacks `{word}`", problems[0]);
    }
}

#[test]
fn an_unknown_key_is_reported_with_the_nearest() {
    refused(
        json!({ "comand": "x", "command": "x" }),
        &["`mcpServers.s.comand`", "did you mean `command`?"],
    );
    refused(json!({ "command": "x", "includTools": [] }), &["did you mean `includeTools`?"]);
    refused(json!({ "command": "x", "disable": true }), &["did you mean `disabled`?"]);
    refused(
        json!({ "command": "x", "zzz": 1 }),
        &["`mcpServers.s.zzz`: no such key is known; remove it"],
    );
}

#[test]
fn rejects_contradicting_transports() {
    refused(json!({}), &["`mcpServers.s`: it does not say how", "add `command`"]);
    refused(json!({ "type": "http" }), &["does not say how", r#"add `"url""#]);
    refused(
        json!({ "command": "x", "url": "https://example.com" }),
        &["both a `command` and an address"],
    );
    refused(
        json!({ "type": "http", "command": "x" }),
        &["`mcpServers.s.type`: it contradicts `command`"],
    );
    refused(
        json!({ "transport": "stdio", "url": "https://example.com" }),
        &["`mcpServers.s.transport`: it contradicts the address"],
    );
    refused(json!({ "type": "sse", "httpUrl": "https://example.com" }), &["contradicts `httpUrl`"]);
    refused(
        json!({ "type": "http", "transport": "sse", "url": "https://example.com" }),
        &["`mcpServers.s.transport`: it contradicts `type`"],
    );
    refused(
        json!({ "type": "ws", "url": "https://example.com" }),
        &["no such transport", "WebSockets"],
    );
    refused(
        json!({ "type": "studio", "command": "x" }),
        &["no such transport", "did you mean `stdio`?"],
    );
    refused(
        json!({ "url": "https://example.com", "httpUrl": "https://example.com" }),
        &["it duplicates `url`"],
    );
}

#[test]
fn rejects_keys_of_the_other_transport() {
    refused(
        json!({ "url": "https://example.com", "env": { "A": "1" } }),
        &["`mcpServers.s.env`: it does nothing for a server with an address"],
    );
    refused(
        json!({ "command": "x", "headers": { "A": "1" } }),
        &["`mcpServers.s.headers`: it does nothing for a server with a `command`"],
    );
    refused(json!({ "command": "x", "bearer_token_env_var": "TOKEN" }), &["it does nothing"]);
}

#[test]
fn keys_with_unsupported_effects_are_rejected() {
    for key in ["headersHelper", "sandbox", "experimental_environment", "include_tags", "tcp"] {
        refused(json!({ "command": "x", key: "y" }), &["it cannot be done here"]);
    }
    refused(
        json!({ "command": "x", "tools": { "a": { "rename": "b" } } }),
        &["`mcpServers.s.tools.a.rename`", "no such key is known", "did you mean `name`?"],
    );
}

#[test]
fn addresses_are_checked() {
    for (url, words) in [
        ("", "the address is empty"),
        ("file:///etc/passwd", "the scheme of the address is not supported"),
        ("ftp://example.com", "the scheme of the address is not supported"),
        ("javascript:alert(1)", "the address has no scheme"),
        ("example.com/mcp", "begin it with `https://`"),
        ("https://", "the address has no host"),
        ("https://exa mple.com/", "malformed"),
    ] {
        refused(json!({ "url": url }), &["`mcpServers.s.url`", words]);
    }
    refused(json!({ "httpUrl": "ftp://example.com" }), &["`mcpServers.s.httpUrl`"]);
}

#[test]
fn headers_are_checked() {
    let with = |headers: Value| json!({ "url": "https://example.com", "headers": headers });
    refused(
        with(json!({ "X Y": "1" })),
        &["`mcpServers.s.headers.\"X Y\"`", "no header has such a name"],
    );
    refused(with(json!({ "": "1" })), &["no header has such a name"]);
    refused(with(json!({ "X": "a\nb" })), &["the end of a line"]);
    refused(with(json!({ "X": "ü" })), &["visible ASCII"]);
    refused(with(json!({ "X-A": "1", "x-a": "2" })), &["differs from another header only in case"]);
    for name in [
        "Mcp-Session-Id",
        "accept",
        "Content-Type",
        "MCP-Protocol-Version",
        "Host",
        "content-length",
    ] {
        refused(with(json!({ name: "1" })), &["set by the transport itself"]);
    }
    refused(
        json!({ "url": "https://example.com", "headers": { "X": "1" }, "env_http_headers": { "X": "TOKEN" } }),
        &["`mcpServers.s.env_http_headers.X`: it is given twice"],
    );
}

#[test]
fn commands_are_checked() {
    refused(json!({ "command": "" }), &["`mcpServers.s.command`: the command is empty"]);
    refused(json!({ "command": [] }), &["the command is empty"]);
    refused(json!({ "command": 1.5, "args": ["\u{0}"] }), &["a NUL character"]);
    refused(
        json!({ "command": "npx -y hunter2" }),
        &["it is not a program but a command line, of 3 words", r#""args""#],
    );
    refused(json!({ "command": ["x", "y"], "args": ["z"] }), &["in one of the two"]);
    refused(json!({ "command": "x", "args": "y" }), &["`mcpServers.s.args`: must be a list"]);
    refused(
        json!({ "command": "x", "args": [["y"]] }),
        &["`mcpServers.s.args[0]`: must be a string"],
    );
    refused(json!({ "command": "x", "env": { "A=B": "1" } }), &["holds no `=`"]);
    refused(json!({ "command": "x", "env": { "": "1" } }), &["the name of the variable is empty"]);
    refused(json!({ "command": "x", "env": { "A\u{0}": "1" } }), &["a NUL character"]);
    refused(json!({ "command": "x", "env": ["A=1"] }), &["`mcpServers.s.env`: must be an object"]);
    refused(json!({ "command": "x", "cwd": "" }), &["the directory is empty"]);
}

#[test]
fn a_command_with_a_space_may_be_a_file() {
    let folder = std::env::temp_dir().join(format!("tool runtime {}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("a server.exe");
    std::fs::write(&program, "").expect("a file");
    #[cfg(unix)]
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
    let read = config(json!({ "command": program }));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    assert!(read.is_ok(), "{read:?}");
}

#[test]
fn flags_are_flags_and_agree() {
    refused(
        json!({ "command": "x", "enabled": "yes" }),
        &["`mcpServers.s.enabled`: must be a boolean"],
    );
    refused(
        json!({ "command": "x", "enabled": true, "disabled": true }),
        &["`mcpServers.s.disabled`: it contradicts `enabled`"],
    );
    refused(json!({ "command": "x", "required": 1 }), &["must be a boolean"]);
    assert!(config(json!({ "command": "x", "enabled": false, "disabled": true })).is_ok());
}

#[test]
fn rejects_duplicate_members() {
    refused(
        json!({ "command": "x", "includeTools": [], "include_tools": [] }),
        &["it duplicates `includeTools`"],
    );
    refused(
        json!({ "command": "x", "include": [], "enabled_tools": [] }),
        &["it duplicates `include`"],
    );
    refused(
        json!({ "command": "x", "timeout": "1s", "tool_timeout_sec": 2 }),
        &["it duplicates `timeout`"],
    );
    refused(
        json!({ "command": "x", "env": { "A": "1" }, "env_vars": ["TOKEN", "TOKEN"] }),
        &["it is given twice"],
    );
}

#[test]
fn rejects_invalid_patterns() {
    refused(
        json!({ "command": "x", "include": [""] }),
        &["`mcpServers.s.include[0]`", "an empty pattern"],
    );
    refused(
        json!({ "command": "x", "include": ["a[b"] }),
        &["is not a valid pattern", "never closed"],
    );
    refused(json!({ "command": "x", "exclude": "a" }), &["`mcpServers.s.exclude`: must be a list"]);
}

#[test]
fn all_problems_are_reported_together() {
    let problems = wrong(json!({
        "comand": "x",
        "url": "ftp://example.com",
        "headers": { "Host": "${NOWHERE}", "X": "${ELSEWHERE}" },
        "timeout": 0,
        "enabled": 3,
    }));
    assert_eq!(problems.len(), 7, "{problems:#?}");
}

#[test]
fn an_unresolved_variable_hides_no_other_problem() {
    let problems = wrong(json!({
        "url": "${NOWHERE}",
        "headers": { "Authorization": "x", "Host": "y" },
        "auth": "${ELSEWHERE}",
    }));
    let about = ["auth`: `${E", "url`: `${N", "Host`: this header", "auth`: the header `Auth"];
    assert_eq!(problems.len(), about.len(), "{problems:#?}");
    assert!(about.iter().all(|words| problems.iter().any(|problem| problem.contains(words))));
    let problems = wrong(json!({ "comand": "x", "env": { "A": "${NOWHERE}" }, "timeout": 0 }));
    assert_eq!(problems.len(), 4, "{problems:#?}");
}

#[test]
fn a_value_in_place_of_a_name_is_not_shown() {
    for entry in [
        json!({ "url": "https://example.com", "bearer_token_env_var": "hunter2" }),
        json!({ "url": "https://example.com", "env_http_headers": { "X": "sk-hunter2" } }),
        json!({ "command": "x", "env_vars": ["hunter2"] }),
    ] {
        let problems = wrong(entry);
        assert!(problems[0].contains("write the name of a variable, not its value"));
        assert!(!problems[0].contains("hunter2"), "{problems:?}");
    }
    let named = wrong(json!({ "command": "x", "env_vars": ["TOKN"] }));
    assert!(
        named[0].contains("`${TOKN}` has no value") && named[0].contains("did you mean `TOKEN`?")
    );
}
