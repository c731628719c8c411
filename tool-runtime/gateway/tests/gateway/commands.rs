//! `init`, `check`, and that commands do not depend on the configuration.

use crate::support::Folder;
use serde_json::Value;

#[test]
fn the_first_configuration_is_valid_and_is_not_overwritten() {
    let folder = Folder::empty();
    let text = folder.ok(&["init"]);
    assert!(text.contains("wrote ./tool-gateway.toml"), "{text}");
    let text = folder.ok(&["check", "--strict"]);
    assert!(text.contains("tool-gateway.toml: ok") && text.contains("/policy.yaml"), "{text}");
    folder.ok(&["policy", "check", "--strict", "policy.yaml"]);
    let tools = folder.ok(&["list"]);
    assert!(tools.contains("Read ") && tools.contains("Grep "), "{tools}");
    let (code, text) = folder.run(&["init"]);
    assert_eq!(code, 1);
    assert!(text.contains("it exists already; nothing was written"), "{text}");
    // A look creates nothing.
    assert!(!folder.path("inbox").exists() && !folder.path("data").exists());
}

#[test]
fn all_mistakes_are_reported_with_their_lines() {
    let folder = Folder::new(
        r#"titel = "x"
[http]
listen = "0.0.0.0:80"
sesions = true
tokens = "${GATEWAY_NOPE}"
[tools]
families = ["serch"]
[tools.shell.limits]
memory = "4g"
[policy]
file = "none.yaml"
"#,
    );
    let (code, text) = folder.run(&["check"]);
    assert_eq!(code, 1);
    for line in [
        "tool-gateway.toml: 6 mistakes",
        ":1: unknown key `titel`; did you mean `title`?",
        ":4: unknown field `sesions` of `http`; did you mean `sessions`?",
        ":5: `http.tokens`: `${GATEWAY_NOPE}` has no value",
        ":7: `tools.families[0]` must be one of",
        ":9: `tools.shell.limits.memory` must be an integer",
        // Of a section without mistakes.
        "none.yaml: the file cannot be read",
        "what `http` names is checked once its own mistakes are mended",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    folder.write(
        "tool-gateway.yaml",
        r#"
http: { listen: "0.0.0.0:80" }
policy: { file: none.yaml }
log: { file: nowhere/calls.db, keep_days: 0 }
secrets: [GATEWAY_NOPE]
tools:
  families: [tasks, skills]
  allow: ["hint:foo"]
  skills: [nothing]
  sandbox: { network: false, writable: [nothing] }
mcpServers:
  a: { comand: x }
"#,
    );
    let (code, text) = folder.run(&["check", "tool-gateway.yaml"]);
    assert_eq!(code, 1);
    for line in [
        ":2: `http.listen`: other machines can reach this address without authentication",
        "none.yaml: the file cannot be read",
        ":4: `log.file`: the folder `nowhere` does not exist; create it",
        ":4: `log.keep_days`: records would be removed at once",
        ":5: `secrets`: the variable `GATEWAY_NOPE` is not set",
        ":7: `tools.families`: the families `tasks` and `schedule` need `tools.data`",
        ":8: `tools.allow[0]`: unknown hint `foo`",
        ":9: `tools.skills[0]`: `nothing` is not a folder",
        ":10: `tools.sandbox.network`: without a network needs a sandbox",
        ":10: `tools.sandbox.writable[0]`: `nothing` does not exist",
        ":12: `mcpServers.a.comand`: no such key is known; did you mean `command`?",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let (code, text) = folder.run(&["--config", "tool-gateway.yaml", "list"]);
    assert_eq!(code, 3);
    assert!(text.contains("the configuration cannot be used:\n- tool-gateway.yaml:2:"), "{text}");
    let (_, json) = folder.run(&["check", "--json", "tool-gateway.yaml"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["problems"].as_array().map(Vec::len), Some(12), "{json}");
}

#[test]
fn rules_about_tools_that_do_not_exist_are_found() {
    let folder = Folder::new(
        "[policy]\nfile = 'policy.yaml'\n[log]\nfile = 'calls.db'\n[tools]\nfamilies = ['files']\ndeny = ['Wriite']\n[mcpServers.gone]\ncommand = 'no-such-program-here'",
    );
    folder.write(
        "policy.yaml",
        "default: allow\nrules:\n- {id: no-edits, when: {tools: [Edits]}, then: deny}",
    );
    let text = folder.ok(&["check", "--strict"]);
    assert!(!text.contains("Edits"), "nothing is connected: {text}");
    let text = folder.ok(&["check", "--connect"]);
    let expected = [
        "warning: the pattern `Wriite` picks no tool",
        "warning: rule `no-edits`: `Edits` selects no tool; did you mean `Edit`?",
        "warning: the MCP server `gone` is not connected: ",
    ];
    for line in expected {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let (code, json) = folder.run(&["check", "--connect", "--strict", "--json"]);
    assert_eq!(code, 1);
    let json: Value = serde_json::from_str(&json).expect("nothing but JSON");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(3), "{json}");
    assert!(!folder.path("calls.db").exists());
}

#[test]
fn what_the_server_does_not_take_is_a_mistake() {
    let (code, text) = Folder::new("[http]\nlisten = 'abc'").run(&["check"]);
    assert!(code == 1 && text.contains(":2: `http.listen`: "), "{text}");
    let jwt = "[http]\nlisten = '8080'\n[http.jwt]\nissuer = 'https://login.example.com'\naudience = 'my-api'";
    let (code, text) = Folder::new(jwt).run(&["check"]);
    assert!(
        code == 1
            && text.contains(":5: `http.jwt.audience`: the protected resource is not a valid URL"),
        "{text}"
    );
    let target = "[tools]\nfamilies = ['schedule']\ndata = 'data'\nroots = ['root']\n[tools.schedule.targets.a]\nurl = 'ftp://x'\nkey = 'x'";
    let folder = Folder::new(target);
    std::fs::create_dir(folder.path("root")).expect("a directory");
    let (code, text) = folder.run(&["check"]);
    assert!(code == 1 && text.contains("the target `a` has a URL of the scheme `ftp`"), "{text}");
}

#[test]
fn what_the_server_refuses_is_a_mistake() {
    let folder = Folder::new(
        "[policy]\nfile = 'policy.yaml'\n[approvals]\ncaller = false\nterminal = false\n[log]\nfile = 'logs'",
    );
    folder.write(
        "policy.yaml",
        "default: allow\nrules:\n- {id: ask-ada, when: {tools: [Read]}, then: ask}",
    );
    std::fs::create_dir(folder.path("logs")).expect("a directory");
    let (code, text) = folder.run(&["check", "--families", "files,serch", "--data", "x"]);
    assert_eq!(code, 1);
    for line in [
        "3 mistakes",
        ":3: `approvals`: the question of `ask-ada` may be answered by everyone, whom the gateway never asks",
        ":7: `log.file`: `logs` is a folder; name a file in it",
        "`--families`: `serch` is not a family of tools",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[cfg(unix)]
#[test]
fn an_inbox_that_others_may_write_to_is_a_mistake() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("[approvals]\ninbox = 'inbox'");
    std::fs::create_dir(folder.path("inbox")).expect("a directory");
    let rights = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path("inbox"), rights).expect("rights");
    let (code, text) = folder.run(&["check"]);
    assert!(
        code == 1 && text.contains(":2: `approvals.inbox`: other users may write to"),
        "{text}"
    );
}

#[test]
fn the_address_and_the_program_of_notifications_are_looked_for() {
    // No machine has this address.
    let folder = Folder::new(
        "[http]\nlisten = '192.0.2.1:80'\ninsecure_no_auth = true\n[approvals]\ninbox = 'inbox'\n[approvals.notify]\ncommand = ['no-such-program-here']",
    );
    let text = folder.ok(&["check", "--connect"]);
    assert!(text.contains("warning: `http.listen`: cannot listen on 192.0.2.1:80"), "{text}");
    assert!(
        text.contains("warning: `approvals.notify.command`: there is no program `no-such"),
        "{text}"
    );
}

#[test]
fn commands_find_the_files_of_a_configuration_without_its_variables() {
    let folder = Folder::new(
        "title = '${GATEWAY_NOPE}'\n[log]\nfile = 'calls.db'\n[approvals]\ninbox = 'questions'",
    );
    let (code, text) = folder.run(&["log", "show"]);
    assert!(code == 1 && text.contains("`calls.db` does not exist"), "{text}");
    let text = folder.ok(&["approvals", "list"]);
    assert!(text.contains("questions"), "{text}");
    let text = folder.ok(&["approvals", "list", "--inbox", "others"]);
    assert!(text.contains("others"), "{text}");
}

#[test]
fn the_commands_are_the_same_for_every_configuration() {
    let commands = |folder: &Folder| {
        let help = folder.ok(&["--help"]);
        let (commands, _) = help.split_once("\nOptions:").expect("options");
        commands.to_owned()
    };
    let none = commands(&Folder::empty());
    for command in ["log show", "approvals list", "policy explain", "status", "remote status"] {
        assert!(none.contains(command), "{command} is not in {none}");
    }
    let full = "[log]\nfile = 'calls.db'\n[approvals]\ninbox = 'inbox'\n[tools]\nfamilies = ['schedule']\ndata = 'data'\n[runners]\nhub = 'http://127.0.0.1:1'";
    assert_eq!(commands(&Folder::new(full)), none);
    let broken = Folder::new("[log]\nfile = 1");
    assert_eq!(commands(&broken), none);
    let (code, text) = broken.run(&["log", "show"]);
    assert_eq!(code, 2);
    assert!(text.contains("this program has no log of its own; name the file of one"), "{text}");
}

#[test]
fn the_schema_of_the_configuration_describes_each_key() {
    let schema: Value =
        serde_json::from_str(&Folder::empty().ok(&["check", "--schema"])).expect("JSON");
    let listen = &schema["properties"]["http"]["properties"]["listen"];
    assert!(
        listen["description"].as_str().is_some_and(|text| text.contains("127.0.0.1:8080")),
        "{listen}"
    );
    assert!(!schema.to_string().contains("```"), "it has examples in Rust");
}

#[test]
fn a_required_server_that_does_not_connect_is_a_mistake() {
    let folder =
        Folder::new("[mcpServers.gone]\ncommand = 'no-such-program-here'\nrequired = true");
    let (code, json) = folder.run(&["check", "--connect", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("nothing but JSON");
    assert_eq!((code, json["problems"].as_array().map(Vec::len)), (1, Some(1)), "{json}");
}

#[test]
fn a_log_that_is_none_and_a_family_that_is_there_twice_are_mistakes() {
    let folder = Folder::new("[log]\nfile = 'calls.db'\n[tools]\nfamilies = ['files', 'files']");
    folder.write("calls.db", "something else");
    let (code, text) = folder.run(&["check"]);
    assert_eq!(code, 1);
    assert!(text.contains("2: `log.file`: `") && text.contains("not a database"), "{text}");
    assert!(text.contains("4: `tools.families[1]`: the family is there twice"), "{text}");
}
