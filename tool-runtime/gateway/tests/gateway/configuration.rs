//! What keys and options do.

use crate::support::{Folder, ended};

/// Tools of every family.
const FAMILIES: &str = "files,search,shell,code,web,browser,servers,people,tasks,schedule,skills";

#[test]
fn options_replace_keys() {
    let folder = Folder::new("[tools]\nfamilies = ['files']\n[log]\nfile = 'calls.db'");
    assert!(folder.ok(&["list"]).contains("Read "));
    let text = folder.ok(&["--families", "search", "list"]);
    assert!(text.contains("Grep ") && !text.contains("Read "), "{text}");
    std::fs::create_dir(folder.path("inner")).expect("a directory");
    folder.write("inner/note", "in the inner directory");
    let text =
        folder.ok(&["call", "Read", "file_path=note", "--root", "inner", "--log", "other.db"]);
    assert!(text.contains("in the inner directory"), "{text}");
    assert!(folder.ok(&["log", "show", "--log", "other.db"]).contains("Read "));
    let (code, text) = folder.run(&["--families", "serch", "list"]);
    assert_eq!(code, 3);
    assert!(text.contains("`--families`: `serch` is not a family of tools"), "{text}");
}

#[test]
fn every_family_has_its_tools() {
    // Any program that exists is the browser: no page is opened.
    let browser = env!("CARGO_BIN_EXE_tool-gateway");
    let folder = Folder::new(&format!("[tools.browser]\nprogram = '{browser}'"));
    std::fs::create_dir(folder.path("skills")).expect("a directory");
    std::fs::create_dir(folder.path("root")).expect("a directory");
    let words = ["--families", FAMILIES, "--data", "data", "--root", "root", "--skills", "skills"];
    let tools = folder.ok(&[&words[..], &["list", "--json"]].concat());
    let tools: Vec<serde_json::Value> = serde_json::from_str(&tools).expect("JSON");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in [
        "Read",
        "Grep",
        "Bash",
        "LSP",
        "WebFetch",
        "browser_navigate",
        "ListMcpResources",
        "AskUser",
        "TaskCreate",
        "CronCreate",
        "Skill",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
}

#[test]
fn variables_have_values_and_secrets_are_masked() {
    let folder = Folder::new(
        "title = '${GATEWAY_TITLE}'\ninstructions = '${GATEWAY_API_TOKEN}'\n[tools]\nfamilies = ['files']\nroots = ['${GATEWAY_ROOT:-files}']",
    );
    std::fs::create_dir(folder.path("files")).expect("a directory");
    folder.write("files/note", "the token is 8fQm2x1vXk9pTz");
    let words = ["call", "Read", "file_path=note", "--var", "GATEWAY_TITLE=Tools"];
    let (code, text) = ended(folder.command(&words).env("GATEWAY_API_TOKEN", "8fQm2x1vXk9pTz"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("the token is ${GATEWAY_API_TOKEN}"), "{text}");
    let (code, text) = folder.run(&words);
    assert_eq!(code, 3);
    assert!(text.contains("`${GATEWAY_API_TOKEN}` has no value"), "{text}");
}

#[test]
fn tools_do_not_touch_the_files_of_the_gateway() {
    let folder = Folder::new(
        "[http]\nlisten = '8080'\ntokens_file = 'tokens'\n[policy]\nfile = 'policy.yaml'\n[log]\nfile = 'calls.db'\n[approvals]\ninbox = 'inbox'\n[tools]\nfamilies = ['files', 'search']",
    );
    folder.write("tokens", "ada:8fQm2x1vXk9pTz");
    folder.write("policy.yaml", "default: allow\nrules: []");
    folder.write("note", "mine");
    for file in ["tokens", "policy.yaml", "tool-gateway.toml", "calls.db"] {
        let (_, text) = folder.run(&["call", "Read", &format!("file_path={file}")]);
        assert!(text.contains("is protected"), "{file}: {text}");
    }
    let (code, text) =
        folder.run(&["call", "Write", "file_path=policy.yaml", "content=default: allow", "--yes"]);
    assert_eq!(code, 1, "{text}");
    let found = folder.ok(&["call", "Glob", "pattern=*"]);
    assert!(found.starts_with("note\n[files left out that may not be read: "), "{found}");
}

#[test]
fn a_policy_asks_and_the_inbox_has_the_question() {
    let folder = Folder::new(
        "[policy]\nfile = 'policy.yaml'\n[approvals]\ncaller = false\nterminal = false\ninbox = 'inbox'\n[log]\nfile = 'calls.db'\n[tools]\nfamilies = ['files']",
    );
    folder.write("policy.yaml", "default: allow\nrules:\n- id: writes\n  when: {tools: [Write]}\n  then: {decision: ask, reason: 'May it be written?', approval: {timeout: 1s}}");
    let (code, text) = folder.run(&["call", "Write", "file_path=a", "content=b"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("not approved"), "{text}");
    let log = folder.ok(&["log", "show", "--tool", "Write"]);
    assert!(log.contains("writes"), "{log}");
}

#[test]
fn a_mistake_quotes_no_secret() {
    let folder = Folder::new(
        "secrets = ['X_VALUE']\n[http]\nlisten = '${MY_TOKEN}'\n[tools]\nfamilies = ['${X_VALUE}']\n",
    );
    let mut command = folder.command(&["check"]);
    let (code, text) = ended(command.env("MY_TOKEN", "s3cret-one").env("X_VALUE", "s3cret-two"));
    assert_eq!(code, 1);
    assert!(text.contains("${X_VALUE}") && !text.contains("s3cret"), "{text}");
    folder.write("tool-gateway.toml", "[http]\nlisten = '${MY_TOKEN}'\n");
    let (_, text) = ended(folder.command(&["check"]).env("MY_TOKEN", "s3cret-one"));
    assert!(text.contains("${MY_TOKEN}") && !text.contains("s3cret"), "{text}");
}

#[test]
fn a_script_for_completions_starts_no_server() {
    let folder = Folder::new("[mcpServers.x]\ncommand = 'sh'\nargs = ['-c', 'touch started']\n");
    assert!(folder.ok(&["completions", "bash"]).contains("tool-gateway"));
    assert!(!folder.path("started").exists());
}

#[cfg(unix)]
#[test]
fn a_call_does_without_the_inbox_of_the_service() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let folder = Folder::new(
        "[policy]\nfile = 'policy.yaml'\n[approvals]\ncaller = false\nterminal = false\ninbox = 'inbox'\n[tools]\nfamilies = ['files']",
    );
    folder.write(
        "policy.yaml",
        "default: allow\nrules:\n- {id: writes, when: {tools: [Write]}, then: ask}",
    );
    folder.write("note", "hello");
    let inbox = folder.path("inbox");
    std::fs::create_dir(&inbox).expect("a directory");
    std::fs::set_permissions(&inbox, std::fs::Permissions::from_mode(0o500)).expect("rights");
    // Root may write to a directory without the right.
    if rustix::process::geteuid().is_root() {
        chown(&inbox, Some(12_345), None).expect("root may");
    }
    let text = folder.ok(&["call", "Read", "file_path=note"]);
    assert!(text.contains("hello"), "{text}");
    let (code, text) = folder.run(&["call", "Write", "file_path=a", "content=b"]);
    assert!(code == 1 && text.contains("this user cannot write the inbox"), "{text}");
    let (code, text) = folder.run(&["serve", "--stdio"]);
    assert!(code == 3 && text.contains("`approvals.inbox`: this user cannot write"), "{text}");
    let text = folder.ok(&["check", "--connect"]);
    assert!(text.contains("warning: `approvals.inbox`: this user cannot write"), "{text}");
}
