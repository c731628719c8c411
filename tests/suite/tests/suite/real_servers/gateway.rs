//! The gateway with real servers, used by an operator and a client.

use super::fixture::{ALL, Fixture};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use suite::built::built;
use suite::peers::{Program, peer};
use suite::process::{Ended, run};

const LIMIT: Duration = Duration::from_secs(300);
const INSPECTOR: &str =
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// A configuration file with all six servers, and more.
fn file(fixture: &Fixture, more: Value) -> String {
    let mut config = fixture.all();
    let servers = config["mcpServers"].as_object_mut().expect("an object");
    servers.extend(more.as_object().cloned().unwrap_or_default());
    let path = fixture.path("servers.json");
    std::fs::write(&path, config.to_string()).expect("room for a file");
    path
}

fn gateway(words: &[&str]) -> Ended {
    run(Command::new(built("gateway")).args(words), LIMIT).expect("the gateway starts")
}

#[test]
fn the_status_of_all_servers_is_shown() {
    let fixture = Fixture::new("operator");
    let more = json!({ "missing": { "command": "no-such-program" }, "off": { "command": "sh", "disabled": true } });
    let file = file(&fixture, more);
    let status = gateway(&["--mcp-config", &file, "status"]);
    let line = |name: &str| {
        let mut lines = status.output.lines();
        let line = lines.find(|line| line.split_whitespace().next() == Some(name));
        line.unwrap_or_else(|| panic!("{name} {}", status.described())).to_owned()
    };
    for (name, _, count) in ALL {
        let words: Vec<String> = line(name).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words[1..3], ["ready".to_owned(), count.to_string()], "{words:?}");
    }
    assert!(line("missing").contains("failed"), "{}", status.described());
    assert!(status.output.contains("no program `no-such-program`"), "{}", status.described());
    assert!(line("off").contains("disabled"), "{}", line("off"));

    let doctor = gateway(&["--mcp-config", &file, "doctor"]);
    assert_eq!(doctor.status.and_then(|status| status.code()), Some(1), "{}", doctor.described());
    assert!(doctor.output.contains("lists 14 tools"), "{}", doctor.described());
    assert!(doctor.output.contains("no-such-program"), "{}", doctor.described());
}

#[test]
fn a_list_is_filtered() {
    let fixture = Fixture::new("listed");
    let file = file(&fixture, json!({}));
    let list = gateway(&[
        "--mcp-config",
        &file,
        "--allow",
        "git.*",
        "--allow",
        "time.*",
        "--deny",
        "*.git_reset",
        "list",
    ]);
    let lines: Vec<&str> = list.output.lines().skip(1).collect();
    assert_eq!(lines.len(), 13, "{}", list.described());
    assert!(lines.iter().all(|line| line.starts_with("git.git_") || line.starts_with("time.")));
    assert!(!list.output.contains("git_reset"), "{}", list.described());
}

/// The tools of the servers, without the denied ones, and with the gateway's own.
const ALLOWED_TOOLS: usize = 13 + 12 + 6 + 6 + 2 + 1;

/// Seconds that a list waits for servers, which all are slow on an overloaded machine. The Inspector waits for a minute.
const WAIT: &str = "50";

/// A third-party client starts the gateway, in either protocol version.
#[test]
fn a_client_lists_the_tools_of_all_allowed_servers() {
    let fixture = Fixture::new("served");
    let file = file(&fixture, json!({}));
    let gateway = built("gateway");
    let gateway = gateway.to_str().expect("a path in UTF-8");
    let served = [
        "--",
        gateway,
        "--mcp-config",
        &file,
        "--deny",
        "files.*",
        "--deny",
        "*.*delete*",
        "--mcp-wait",
        WAIT,
        "serve",
    ];
    // `era` is the Inspector's name of a protocol version.
    let ask = |era: &str, words: &[&str]| {
        let mut arguments = vec!["--cli", "--protocol-era", era, "--format", "json"];
        arguments.extend(words);
        arguments.extend(served);
        let ended = peer(Program::Node(INSPECTOR), &arguments);
        let json = ended.output.find('{').map(|start| &ended.output[start..]).unwrap_or_default();
        let answer = serde_json::Deserializer::from_str(json).into_iter::<Value>().next();
        let answer = answer.and_then(Result::ok);
        answer.unwrap_or_else(|| panic!("the Inspector {}", ended.described()))["result"].clone()
    };
    for era in ["legacy", "modern"] {
        let tools = ask(era, &["--method", "tools/list"])["tools"].clone();
        let names = tools.as_array().expect("a list").iter().map(|tool| tool["name"].clone());
        let names: Vec<_> = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        assert_eq!(names.len(), ALLOWED_TOOLS, "{era}: {names:?}");
        assert!(
            ["origin", "memory.read_graph"].iter().all(|one| names.iter().any(|name| name == one))
        );
        assert!(!names.iter().any(|name| name.contains("delete") || name.starts_with("files.")));
    }
    let words = [
        "--method",
        "tools/call",
        "--tool-name",
        "everything.get-sum",
        "--tool-args-json",
        r#"{"a":2,"b":3}"#,
    ];
    let sum = ask("legacy", &words);
    assert_eq!(sum["content"][0]["text"], "The sum of 2 and 3 is 5.", "{sum}");
    let words = [
        "--method",
        "tools/call",
        "--tool-name",
        "origin",
        "--tool-args-json",
        r#"{"tool":"sqlite.read_query"}"#,
    ];
    let origin = ask("modern", &words);
    assert!(
        origin["content"][0]["text"].as_str().expect("a string").contains("sqlite"),
        "{origin}"
    );
}
