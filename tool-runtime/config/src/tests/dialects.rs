//! One server in the dialects of all supported programs.

use super::support::{http, load, pairs, problems_of, server, stdio, texts, warnings};
use crate::McpTransportConfig;
use serde_json::{Value, json};

#[test]
fn a_command_may_be_a_text_or_a_list() {
    for entry in [
        json!({ "command": "npx", "args": ["-y", "x"], "env": { "PORT": 8080, "OFF": null } }),
        json!({ "command": ["npx", "-y", "x"], "environment": { "PORT": "8080" }, "type": "local" }),
        json!({ "type": "stdio", "transport": "STDIO", "command": ["npx", "-y"], "args": [], "env": null }),
    ] {
        let stdio = stdio(entry.clone());
        assert_eq!(stdio.command.as_str(), "npx");
        assert_eq!(texts(&stdio)[0], "-y", "{entry}");
        assert!(pairs(&stdio.env).iter().all(|pair| *pair == ("PORT", "8080")), "{entry}");
    }
}

#[test]
fn the_url_has_four_key_names() {
    for key in ["url", "httpUrl", "http_url", "serverUrl", "baseUrl"] {
        let http = http(json!({ key: "https://example.com/mcp" }));
        assert_eq!(http.url.as_str(), "https://example.com/mcp");
        assert!(!http.legacy_sse);
    }
}

#[test]
fn all_names_of_transports_are_known() {
    for name in
        ["http", "streamable-http", "streamableHttp", "streamable_http", "shttp", "remote", "HTTP"]
    {
        for key in ["type", "transport"] {
            assert!(!http(json!({ key: name, "url": "https://example.com" })).legacy_sse, "{name}");
        }
    }
    assert!(http(json!({ "type": "sse", "url": "https://example.com/sse" })).legacy_sse);
}

#[test]
fn codex_is_read() {
    let entry = json!({
        "url": "https://example.com/mcp",
        "bearer_token_env_var": "TOKEN",
        "http_headers": { "X-Region": "eu" },
        "env_http_headers": { "X-Key": "TOKEN" },
        "startup_timeout_sec": 10.5,
        "tool_timeout_sec": 2000,
        "enabled_tools": ["a", "b c"],
        "disabled_tools": ["b c"],
        "required": true,
        "tools": { "a": { "approval_mode": "approve" } },
        "default_tools_approval_mode": "prompt",
        "supports_parallel_tool_calls": false,
    });
    let server = server(entry.clone());
    assert_eq!(server.connect_timeout, Some(std::time::Duration::from_millis(10_500)));
    assert_eq!(server.call_timeout, Some(std::time::Duration::from_secs(2000)));
    assert!(
        server.required && server.includes("a") && !server.includes("b c") && !server.includes("c")
    );
    let McpTransportConfig::Http(http) = &server.transport else { panic!("{server:?}") };
    assert_eq!(pairs(&http.headers), [("X-Key", "8fQm2x"), ("X-Region", "eu")]);
    assert_eq!(http.auth, Some(crate::McpAuth::Bearer("8fQm2x".into())));
    assert_eq!(warnings(entry).len(), 3);
    let stdio = stdio(json!({ "command": "x", "env_vars": ["HOME", { "name": "TOKEN" }] }));
    assert_eq!(pairs(&stdio.env), [("HOME", "/home/ada"), ("TOKEN", "8fQm2x")]);
}

#[test]
fn cherry_studio_is_read() {
    let web = json!({
        "name": "web", "type": "streamableHttp", "baseUrl": "https://example.com/mcp", "isActive": true,
        "provider": "x", "providerUrl": "x", "logoUrl": "x", "reference": "x", "tags": ["x"],
        "timeout": "30s", "longRunning": true, "disabledTools": ["b"], "disabledAutoApproveTools": ["a"],
    });
    assert_eq!(http(web.clone()).url.as_str(), "https://example.com/mcp");
    assert!(server(web.clone()).includes("a") && !server(web.clone()).includes("b"));
    assert_eq!(warnings(web).len(), 8);
    let local =
        json!({ "command": "npx", "registryUrl": "https://npm.example.com", "isActive": false });
    assert!(!server(local.clone()).enabled);
    assert!(warnings(local)[0].contains("set `NPM_CONFIG_REGISTRY`"));
    let bare = json!({ "web": { "baseUrl": "https://example.com/mcp" } }).to_string();
    assert_eq!(load(&bare).expect("a map of entries").servers.len(), 1);
}

#[test]
fn the_old_format_of_zed_is_read() {
    let command = json!({ "path": "~/bin/x", "args": ["-y", "${TOKEN}"], "env": { "PORT": 8080 } });
    let stdio =
        stdio(json!({ "source": "custom", "command": command, "args": [], "settings": {} }));
    assert_eq!(stdio.command.as_str(), "/home/ada/bin/x");
    assert_eq!(texts(&stdio), ["-y", "8fQm2x"]);
    assert_eq!(pairs(&stdio.env), [("PORT", "8080")]);
    for (entry, words) in [
        (json!({ "command": { "args": ["x"] } }), "`mcpServers.s.command`: it names no program"),
        (json!({ "command": {} }), "`mcpServers.s.command`: it names no program"),
        (json!({ "command": { "path": "" } }), "`mcpServers.s.command.path`: the command is empty"),
        (json!({ "command": { "path": "x", "arg": [] } }), "did you mean `args`?"),
        (
            json!({ "command": { "path": "x", "args": ["y"] }, "args": ["z"] }),
            "`mcpServers.s.command.args`: it duplicates `args`",
        ),
    ] {
        let problems = problems_of(entry);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(words), "{problems:?}");
    }
}

#[test]
fn keys_for_tools_have_many_spellings() {
    for (include, exclude) in [
        ("include", "exclude"),
        ("includeTools", "excludeTools"),
        ("enabled_tools", "disabledTools"),
        ("tools", "disabled_tools"),
    ] {
        let server = server(json!({ "command": "x", include: ["read_*"], exclude: ["read_all"] }));
        assert!(server.includes("read_text"), "{include}");
        assert!(!server.includes("read_all") && !server.includes("write"), "{exclude}");
    }
    assert!(server(json!({ "command": "x", "tools": ["*"] })).includes("fs/odd name"));
    assert!(!server(json!({ "command": "x", "tools": [] })).includes("any"));
    let odd = server(json!({ "command": "x", "include": ["fs/odd name", "/^a.c$/"] }));
    assert!(odd.includes("fs/odd name") && odd.includes("abc") && !odd.includes("fs"));
}

#[test]
fn single_tools_have_settings() {
    let tools = json!({ "slow": { "timeout": "5m" }, "bad": { "enabled": false } });
    let server = server(json!({ "command": "x", "tools": tools, "include": ["*"] }));
    assert_eq!(server.tool_timeouts["slow"], std::time::Duration::from_secs(300));
    assert!(server.includes("slow") && !server.includes("bad"));
}

#[test]
fn patterns_that_match_no_tool_are_reported() {
    let tools = json!({ "get_curent_time": { "timeout": "5s" }, "bad": { "enabled": false } });
    let server = server(json!({
        "command": "x", "tools": tools,
        "include": ["get_curent_time", "get_*", "/^set/"], "exclude": ["nothing_*", "fs*"],
    }));
    assert_eq!(
        server.unmatched_patterns(&["get_current_time", "fs/read"]),
        [
            "`include`: `get_curent_time` is not any of the 2 tools that it lists; did you mean `get_current_time`?",
            "`include`: `/^set/` does not match any of the 2 tools that it lists",
            "`exclude`: `bad` is not any of the 2 tools that it lists",
            "`exclude`: `nothing_*` does not match any of the 2 tools that it lists",
            "`tools`: `get_curent_time` is not any of the 2 tools that it lists; did you mean `get_current_time`?",
        ]
    );
    assert!(server.unmatched_patterns(&[]).is_empty());
}

#[test]
fn unsupported_dialect_keys_are_warnings() {
    for key in ["autoApprove", "alwaysAllow", "trust", "keep_alive", "watchPaths", "alwaysLoad"] {
        let warned = warnings(json!({ "command": "x", key: true }));
        assert_eq!(warned.len(), 1, "{key}");
        assert!(warned[0].starts_with(&format!("`mcpServers.s.{key}`: it is not acted on; ")));
    }
}

#[test]
fn disabled_or_empty_keys_give_no_warning() {
    for entry in [
        json!({ "command": "x", "sandboxEnabled": false, "headers": {}, "url": null }),
        json!({ "url": "https://example.com", "args": [], "env": {}, "cwd": "", "oauth": false }),
    ] {
        assert!(warnings(entry).is_empty());
    }
}

#[test]
fn servers_may_be_under_several_keys() {
    let entry = r#"{ "a": { "command": "x" } }"#;
    for document in [
        format!(r#"{{ "mcpServers": {entry} }}"#),
        format!(r#"{{ "mcp_servers": {entry}, "$schema": "x" }}"#),
        format!(r#"{{ "servers": {entry} }}"#),
        format!(r#"{{ "context_servers": {entry} }}"#),
        format!(r#"{{ "mcp": {entry} }}"#),
        format!(r#"{{ "mcp": {{ "servers": {entry} }} }}"#),
        entry.to_owned(),
        format!("// one\n{{ \"servers\": {entry}, /* two */ }}"),
    ] {
        let config = load(&document).unwrap_or_else(|error| panic!("{document}: {error}"));
        assert_eq!(config.to_string(), "a: starts `x`", "{document}");
        assert!(config.warnings().is_empty(), "{document}");
    }
    assert!(load("{}").expect("an empty map").servers.is_empty());
}

#[test]
fn a_disabled_server_keeps_its_configuration() {
    for flag in
        [json!({ "disabled": true }), json!({ "enabled": false }), json!({ "isActive": false })]
    {
        let mut entry =
            json!({ "command": "${NOWHERE}", "env": { "A": "${NOWHERE}" }, "cwd": "~/x" });
        let Value::Object(flags) = flag else { panic!() };
        entry.as_object_mut().expect("an object").extend(flags);
        let server = server(entry);
        assert!(!server.enabled);
        let McpTransportConfig::Stdio(stdio) = server.transport else { panic!() };
        assert_eq!(stdio.command.as_str(), "${NOWHERE}");
        assert_eq!(pairs(&stdio.env), [("A", "${NOWHERE}")]);
    }
    let entry = json!({ "command": "x", "args": ["${NOWHERE}"], "env_vars": ["ALSO"], "envFile": "no/such/file", "disabled": true });
    let mut config = super::support::config(entry).expect("a disabled server");
    assert!(config.validate().is_ok());
    config.servers.get_mut("s").expect("a server").enabled = true;
    let error = config.validate().unwrap_err().to_string();
    for lack in ["`${NOWHERE}` has no value", "`${ALSO}` has no value", "the file cannot be read"] {
        assert!(error.contains(lack), "{error}");
    }
}

#[cfg(feature = "toml")]
#[test]
fn toml_and_json_have_the_same_keys() {
    let toml = r#"
        model = "x"
        [mcp_servers.fs]
        command = "npx"
        args = ["-y", "files"]
        startup_timeout_ms = 20_000
        [mcp_servers.fs.env]
        TOKEN = "${TOKEN}"
    "#;
    let json = r#"{ "model": "x", "mcp_servers": { "fs": { "command": "npx", "args": ["-y", "files"],
        "startup_timeout_ms": 20000, "env": { "TOKEN": "${TOKEN}" } } } }"#;
    let read = super::support::loader().toml(toml).load().expect("TOML");
    assert_eq!(read, load(json).expect("JSON"));
    assert_eq!(read.warnings()[0].text, "other keys beside the servers are ignored: `model`");
}
