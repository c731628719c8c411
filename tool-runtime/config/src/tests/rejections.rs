//! Entries that are rejected.

use super::support::{config, problems_of};
use serde_json::{Value, json};

/// Checks that there is one problem, and that it contains these strings.
fn rejected(entry: Value, words: &[&str]) {
    let problems = problems_of(entry.clone());
    assert_eq!(problems.len(), 1, "{entry}: {problems:?}");
    for word in words {
        assert!(problems[0].contains(word), "{entry}: `{}` lacks `{word}`", problems[0]);
    }
}

#[test]
fn an_unknown_key_is_reported_with_the_nearest() {
    rejected(
        json!({ "comand": "x", "command": "x" }),
        &["`mcpServers.s.comand`", "did you mean `command`?"],
    );
    rejected(json!({ "command": "x", "includTools": [] }), &["did you mean `includeTools`?"]);
    rejected(json!({ "command": "x", "disable": true }), &["did you mean `disabled`?"]);
    rejected(
        json!({ "command": "x", "zzz": 1 }),
        &["`mcpServers.s.zzz`: no such key is known; remove it"],
    );
}

#[test]
fn rejects_contradicting_transports() {
    rejected(json!({}), &["`mcpServers.s`: it has neither a command", "add `command`"]);
    rejected(json!({ "type": "http" }), &["has neither a command", r#"add `"url""#]);
    rejected(
        json!({ "command": "x", "url": "https://example.com" }),
        &["both a `command` and an address"],
    );
    rejected(
        json!({ "type": "http", "command": "x" }),
        &["`mcpServers.s.type`: it contradicts `command`"],
    );
    rejected(
        json!({ "transport": "stdio", "url": "https://example.com" }),
        &["`mcpServers.s.transport`: it contradicts the address"],
    );
    rejected(
        json!({ "type": "sse", "httpUrl": "https://example.com" }),
        &["contradicts `httpUrl`"],
    );
    rejected(
        json!({ "type": "http", "transport": "sse", "url": "https://example.com" }),
        &["`mcpServers.s.transport`: it contradicts `type`"],
    );
    rejected(
        json!({ "type": "ws", "url": "https://example.com" }),
        &["no such transport", "WebSockets"],
    );
    rejected(
        json!({ "type": "studio", "command": "x" }),
        &["no such transport", "did you mean `stdio`?"],
    );
    rejected(
        json!({ "url": "https://example.com", "httpUrl": "https://example.com" }),
        &["it duplicates `url`"],
    );
}

#[test]
fn rejects_keys_of_the_other_transport() {
    rejected(
        json!({ "url": "https://example.com", "env": { "A": "1" } }),
        &["`mcpServers.s.env`: it does nothing for a server with an address"],
    );
    rejected(
        json!({ "command": "x", "headers": { "A": "1" } }),
        &["`mcpServers.s.headers`: it does nothing for a server with a `command`"],
    );
    rejected(json!({ "command": "x", "bearer_token_env_var": "TOKEN" }), &["it does nothing"]);
}

#[test]
fn keys_with_unsupported_effects_are_rejected() {
    for key in ["headersHelper", "sandbox", "experimental_environment", "include_tags", "tcp"] {
        rejected(json!({ "command": "x", key: "y" }), &["it is not supported"]);
    }
    rejected(
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
        rejected(json!({ "url": url }), &["`mcpServers.s.url`", words]);
    }
    rejected(json!({ "httpUrl": "ftp://example.com" }), &["`mcpServers.s.httpUrl`"]);
}

#[test]
fn headers_are_checked() {
    let with = |headers: Value| json!({ "url": "https://example.com", "headers": headers });
    rejected(
        with(json!({ "X Y": "1" })),
        &["`mcpServers.s.headers.\"X Y\"`", "no header has such a name"],
    );
    rejected(with(json!({ "": "1" })), &["no header has such a name"]);
    rejected(with(json!({ "X": "a\nb" })), &["a line break"]);
    rejected(with(json!({ "X": "ü" })), &["visible ASCII"]);
    rejected(
        with(json!({ "X-A": "1", "x-a": "2" })),
        &["differs from another header only in case"],
    );
    for name in [
        "Mcp-Session-Id",
        "accept",
        "Content-Type",
        "MCP-Protocol-Version",
        "Host",
        "content-length",
    ] {
        rejected(with(json!({ name: "1" })), &["set by the transport itself"]);
    }
    rejected(
        json!({ "url": "https://example.com", "headers": { "X": "1" }, "env_http_headers": { "X": "TOKEN" } }),
        &["`mcpServers.s.env_http_headers.X`: it is given twice"],
    );
}

#[test]
fn commands_are_checked() {
    rejected(json!({ "command": "" }), &["`mcpServers.s.command`: the command is empty"]);
    rejected(json!({ "command": [] }), &["the command is empty"]);
    rejected(json!({ "command": 1.5, "args": ["\u{0}"] }), &["a NUL character"]);
    rejected(
        json!({ "command": "npx -y hunter2" }),
        &["it is not a program but a command line, of 3 words", r#""args""#],
    );
    rejected(json!({ "command": ["x", "y"], "args": ["z"] }), &["in one of the two"]);
    rejected(json!({ "command": "x", "args": "y" }), &["`mcpServers.s.args`: must be a list"]);
    rejected(
        json!({ "command": "x", "args": [["y"]] }),
        &["`mcpServers.s.args[0]`: must be a string"],
    );
    rejected(json!({ "command": "x", "env": { "A=B": "1" } }), &["must not contain `=`"]);
    rejected(json!({ "command": "x", "env": { "": "1" } }), &["the name of the variable is empty"]);
    rejected(json!({ "command": "x", "env": { "A\u{0}": "1" } }), &["a NUL character"]);
    rejected(json!({ "command": "x", "env": ["A=1"] }), &["`mcpServers.s.env`: must be an object"]);
    rejected(json!({ "command": "x", "cwd": "" }), &["the directory is empty"]);
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
fn flags_must_be_booleans_and_agree() {
    rejected(
        json!({ "command": "x", "enabled": "yes" }),
        &["`mcpServers.s.enabled`: must be a boolean"],
    );
    rejected(
        json!({ "command": "x", "enabled": true, "disabled": true }),
        &["`mcpServers.s.disabled`: it contradicts `enabled`"],
    );
    rejected(json!({ "command": "x", "required": 1 }), &["must be a boolean"]);
    assert!(config(json!({ "command": "x", "enabled": false, "disabled": true })).is_ok());
}

#[test]
fn rejects_duplicate_members() {
    rejected(
        json!({ "command": "x", "includeTools": [], "include_tools": [] }),
        &["it duplicates `includeTools`"],
    );
    rejected(
        json!({ "command": "x", "include": [], "enabled_tools": [] }),
        &["it duplicates `include`"],
    );
    rejected(
        json!({ "command": "x", "timeout": "1s", "tool_timeout_sec": 2 }),
        &["it duplicates `timeout`"],
    );
    rejected(
        json!({ "command": "x", "env": { "A": "1" }, "env_vars": ["TOKEN", "TOKEN"] }),
        &["it is given twice"],
    );
}

#[test]
fn rejects_invalid_patterns() {
    rejected(
        json!({ "command": "x", "include": [""] }),
        &["`mcpServers.s.include[0]`", "an empty pattern"],
    );
    rejected(
        json!({ "command": "x", "include": ["a[b"] }),
        &["is not a valid pattern", "never closed"],
    );
    rejected(
        json!({ "command": "x", "exclude": "a" }),
        &["`mcpServers.s.exclude`: must be a list"],
    );
}

#[test]
fn all_problems_are_reported_together() {
    let problems = problems_of(json!({
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
    let problems = problems_of(json!({
        "url": "${NOWHERE}",
        "headers": { "Authorization": "x", "Host": "y" },
        "auth": "${ELSEWHERE}",
    }));
    let about = ["auth`: `${E", "url`: `${N", "Host`: this header", "auth`: the header `Auth"];
    assert_eq!(problems.len(), about.len(), "{problems:#?}");
    assert!(about.iter().all(|words| problems.iter().any(|problem| problem.contains(words))));
    let problems =
        problems_of(json!({ "comand": "x", "env": { "A": "${NOWHERE}" }, "timeout": 0 }));
    assert_eq!(problems.len(), 4, "{problems:#?}");
}

#[test]
fn a_value_given_as_a_name_is_not_shown() {
    for entry in [
        json!({ "url": "https://example.com", "bearer_token_env_var": "hunter2" }),
        json!({ "url": "https://example.com", "env_http_headers": { "X": "sk-hunter2" } }),
        json!({ "command": "x", "env_vars": ["hunter2"] }),
    ] {
        let problems = problems_of(entry);
        assert!(problems[0].contains("write the name of a variable, not its value"));
        assert!(!problems[0].contains("hunter2"), "{problems:?}");
    }
    let named = problems_of(json!({ "command": "x", "env_vars": ["TOKN"] }));
    assert!(
        named[0].contains("`${TOKN}` has no value") && named[0].contains("did you mean `TOKEN`?")
    );
}
