//! One server in the dialects of all supported programs.

use super::support::{args, http, load, pairs, problems_of, server, stdio, warnings};
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
        assert_eq!(args(&stdio)[0], "-y", "{entry}");
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
    assert_eq!(args(&stdio), ["-y", "8fQm2x"]);
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

#[test]
fn continue_is_read() {
    let config = load(
        r#"{
            "name": "local", "version": "1", "schema": "v1",
            "mcpServers": [
                {
                    "name": "My files", "command": "npx", "args": ["-y", "files", "${{ secrets.TOKEN }}"],
                    "env": { "KEY": "Bearer ${{secrets.TOKEN}}" }, "connectionTimeout": 2500
                },
                {
                    "name": "web", "type": "streamable-http", "url": "https://example.com/mcp",
                    "requestOptions": { "headers": { "X-Team": "core" } }, "faviconUrl": "x"
                },
                { "uses": "anthropic/memory-mcp" }
            ]
        }"#,
    )
    .unwrap();
    let files = &config.servers["My files"];
    let McpTransportConfig::Stdio(stdio) = &files.transport else { panic!("{files:?}") };
    assert_eq!(args(stdio), ["-y", "files", "8fQm2x"]);
    assert_eq!(pairs(&stdio.env), [("KEY", "Bearer 8fQm2x")]);
    assert_eq!(files.connect_timeout, Some(std::time::Duration::from_millis(2500)));
    let McpTransportConfig::Http(web) = &config.servers["web"].transport else { panic!("HTTP") };
    assert_eq!(pairs(&web.headers), [("X-Team", "core")]);
    let warnings: Vec<_> = config.warnings().iter().map(ToString::to_string).collect();
    assert!(warnings[1].contains("a block of Continue's hub (`uses`) is not read"), "{warnings:?}");
    let error =
        load(r#"{ "mcpServers": [{ "command": "x" }, 5, { "name": "a", "comand": "x" }] }"#);
    let problems: Vec<_> = error.unwrap_err().problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("`mcpServers[0]`: the server has no name"), "{problems:?}");
    assert!(problems[1].contains("`mcpServers[1]`: is not an entry"), "{problems:?}");
    assert!(problems[2].contains("did you mean `command`?"), "{problems:?}");
}

#[test]
fn goose_is_read() {
    let config = load(
        r#"{
            "GOOSE_MODE": "auto",
            "extensions": {
                "developer": { "bundled": true, "enabled": true, "name": "developer", "timeout": 300, "type": "builtin" },
                "memory": { "enabled": false, "name": "memory", "type": "builtin" },
                "files": {
                    "type": "stdio", "name": "files", "enabled": true, "cmd": "npx", "args": ["-y", "files"],
                    "envs": { "A": "b" }, "env_keys": ["TOKEN"], "timeout": 3600, "available_tools": []
                },
                "web": {
                    "enabled": true,
                    "config": {
                        "type": "streamable_http", "name": "web", "uri": "https://example.com/mcp",
                        "headers": { "X-Team": "core" }, "envs": {}, "env_keys": ["TOKEN"], "available_tools": ["get"]
                    }
                },
                "old": { "type": "sse", "uri": "https://example.com/sse", "enabled": false }
            }
        }"#,
    )
    .unwrap();
    assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["files", "old", "web"]);
    let files = &config.servers["files"];
    let McpTransportConfig::Stdio(stdio) = &files.transport else { panic!("{files:?}") };
    assert_eq!((stdio.command.as_str(), args(stdio)), ("npx", vec!["-y", "files"]));
    assert_eq!(pairs(&stdio.env), [("A", "b"), ("TOKEN", "8fQm2x")]);
    assert_eq!(files.call_timeout, Some(std::time::Duration::from_secs(3600)));
    assert!(files.includes("anything"));
    let web = &config.servers["web"];
    let McpTransportConfig::Http(http) = &web.transport else { panic!("{web:?}") };
    assert_eq!(pairs(&http.headers), [("X-Team", "core")]);
    assert!(web.includes("get") && !web.includes("set"));
    assert!(!config.servers["old"].enabled);
    let warnings: Vec<_> = config.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("`extensions.developer`: an extension of type `builtin`"));
}

#[cfg(feature = "yaml")]
#[test]
fn files_of_continue_and_goose_are_read_as_yaml() {
    let servers = "name: x\nmcpServers:\n  - name: files\n    command: npx\n    args:\n      - ${{ secrets.TOKEN }}\n";
    let config = super::support::loader().yaml(servers).load().unwrap();
    assert_eq!(config.to_string(), "files: starts `npx` with 1 argument");
    let extensions = "extensions:\n  files:\n    type: stdio\n    cmd: npx\n    envs: {}\n";
    let config = super::support::loader().yaml(extensions).load().unwrap();
    assert_eq!(config.to_string(), "files: starts `npx`");
}

/// A manifest with settings of all kinds.
fn manifest() -> Value {
    json!({
        "manifest_version": "0.3", "name": "files", "version": "1.0.0", "description": "Files.",
        "repository": { "type": "git", "url": "https://example.com/x" },
        "server": { "type": "node", "entry_point": "server/index.js", "mcp_config": {
            "command": "node",
            "args": ["${__dirname}/server${/}index.js", "${user_config.folders}", "--limit=${user_config.limit}"],
            "env": { "API": "${user_config.api}", "DOCS": "${DOCUMENTS}", "NOTE": "${user_config.note}" },
            "platform_overrides": { "linux": { "command": "nodejs" }, "darwin": { "command": "nodejs" }, "win32": { "command": "nodejs" } },
        } },
        "user_config": {
            "folders": { "type": "directory", "multiple": true, "required": true, "default": ["${HOME}/a", "/b"] },
            "limit": { "type": "number", "default": 5 },
            "api": { "type": "string", "sensitive": true, "required": true },
            "note": { "type": "string", "required": false },
        },
    })
}

#[test]
fn the_manifest_of_a_bundle_is_read() {
    let folder = std::env::temp_dir().join(format!("tool-runtime-bundle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("manifest.json");
    std::fs::write(&file, manifest().to_string()).unwrap();
    let loader = || super::support::loader().file(&file);
    let config = loader().variables([("user_config.api", "zq-5fQ9zL")]).load();
    let unset = loader().option("--var").load().unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();

    let config = config.unwrap();
    let server = &config.servers["files"];
    let McpTransportConfig::Stdio(stdio) = &server.transport else { panic!("{server:?}") };
    assert_eq!(stdio.command.as_str(), "nodejs");
    let index = folder.join("server").join("index.js").display().to_string();
    assert_eq!(args(stdio), [&*index, "/home/ada/a", "/b", "--limit=5"]);
    let env = [("API", "zq-5fQ9zL"), ("DOCS", "/home/ada/Documents"), ("NOTE", "")];
    assert_eq!(pairs(&stdio.env), env);
    assert_eq!(server.secrets, ["user_config.api"]);
    assert!(config.warnings().is_empty(), "{:?}", config.warnings());
    assert!(unset.contains("`server.mcp_config.env.API`"), "{unset}");
    assert!(unset.contains("give it by `--var user_config.api=..`"), "{unset}");
}

#[test]
fn a_bundle_that_is_packed_or_does_not_say_how_it_starts_is_rejected() {
    let error = super::support::loader().file("files.mcpb").load().unwrap_err().to_string();
    assert!(error.contains("unpack it, and name its `manifest.json`"), "{error}");
    let mut manifest = manifest();
    manifest["server"] = json!({ "type": "uv", "entry_point": "main.py" });
    let error = load(&manifest.to_string()).unwrap_err().to_string();
    assert!(error.contains("does not say how its server is started"), "{error}");
}

#[test]
fn other_forms_are_rejected_with_what_to_write() {
    for (document, help) in [
        (
            json!({ "experimental": { "modelContextProtocolServers": [{ "transport": {} }] } }),
            "Continue's list",
        ),
        (json!({ "openctx.providers": { "x": {} } }), "`{ \"mcpServers\""),
        (
            json!({ "mcp": { "stdio_servers": [{ "name": "a", "command": "x" }] } }),
            "`[mcpServers.NAME]` with `command`",
        ),
        (json!({ "mcp": { "sse_servers": ["https://example.com"] } }), "`type = \"sse\"`"),
        (json!({ "startCommand": { "type": "stdio", "configSchema": {} } }), "Smithery"),
        (
            json!({ "name": "io.x/y", "repository": { "url": "https://example.com" }, "packages": [{}] }),
            "npx -y NAME",
        ),
        (
            json!({ "name": "io.x/y", "remotes": [{ "type": "sse", "url": "https://example.com" }] }),
            "MCP registry",
        ),
        (json!({ "registry": { "fetch": { "image": "mcp/fetch" } } }), "`docker`"),
        (json!({ "projects": { "/x": { "mcpServers": {} } } }), "`.mcp.json`"),
    ] {
        let error = load(&document.to_string()).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{document}: {error}");
        assert!(error.problems[0].text.contains("not read"), "{document}: {error}");
        assert!(error.problems[0].help.contains(help), "{document}: {error}");
    }
    // Servers may have these names.
    let names =
        json!({ "packages": { "command": "x" }, "registry": { "url": "https://example.com" } });
    assert_eq!(load(&names.to_string()).unwrap().servers.len(), 2);
    let amp = json!({ "amp.mcpServers": { "a": { "command": "x" } }, "amp.theme": {} });
    assert!(load(&amp.to_string()).unwrap().servers.contains_key("a"));
}
