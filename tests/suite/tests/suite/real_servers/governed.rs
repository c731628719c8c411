//! The example `governed`, driven by a real client, then examined by the commands of its README.

#[cfg(unix)]
mod terminal;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use suite::built::built;
use suite::peers::{Program, Server, peer_in};
use suite::process::{Ended, run};

const LIMIT: Duration = Duration::from_secs(300);
const TOKEN: &str = "s3cret-of-the-demo";

/// The content of a file that the client reads.
fn note() -> String {
    format!("The token is {TOKEN}.\n")
}

/// A copy of the example, in which `npx` runs the servers that are installed.
struct Example {
    folder: PathBuf,
    program: PathBuf,
}

impl Example {
    fn new(name: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/governed");
        let folder = format!("governed-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        drop(fs::remove_dir_all(&folder));
        for part in ["files", "bin"] {
            fs::create_dir_all(folder.join(part)).expect("a folder");
        }
        for file in ["servers.json", "policy.yaml", "files/server.key"] {
            fs::copy(source.join(file), folder.join(file)).expect("a file of the example");
        }
        fs::write(folder.join("files/note.txt"), note()).expect("room for a line");
        write_npx(&folder.join("bin/npx"));
        Self { folder, program: built("governed") }
    }

    fn program(&self) -> &str {
        self.program.to_str().expect("a path in UTF-8")
    }

    fn environment(&self) -> [(&'static str, String); 2] {
        let path = std::env::var("PATH").expect("a path");
        let own = self.folder.join("bin").display().to_string();
        [("PATH", format!("{own}:{path}")), ("DEMO_TOKEN", TOKEN.to_owned())]
    }

    fn run(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder).envs(self.environment());
        run(&mut command, LIMIT).expect("the example starts")
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect("a file")
    }

    /// The calls of the client, and the version of the protocol.
    fn drive(&self, lifecycle: &str) -> Value {
        let folder = self.folder.to_str().expect("a path in UTF-8");
        let words = [lifecycle, folder, self.program()];
        let ended = peer_in(Program::Node("governed_client.mjs"), &words, &self.environment());
        let line = ended.output.lines().find(|line| line.starts_with('{'));
        let line = line.unwrap_or_else(|| panic!("the client {}", ended.described()));
        serde_json::from_str(line).expect("JSON")
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// A program in place of npm's: it runs `npx -y @modelcontextprotocol/NAME@VERSION ..` without network.
#[cfg(unix)]
fn write_npx(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let arms = [
        ("server-filesystem", Server::Filesystem),
        ("server-memory", Server::Memory),
        ("server-everything", Server::Everything),
    ];
    let arms = arms.map(|(name, server)| {
        let command = server.command();
        format!("*/{name}@*) exec '{}' '{}' \"$@\" ;;\n", command[0], command[1])
    });
    let script =
        format!("#!/bin/sh\nshift\nname=$1\nshift\ncase $name in\n{}esac\n", arms.concat());
    fs::write(path, script).expect("room for a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a script");
}

/// A call has this result, and failed or not.
fn expect(driven: &Value, label: &str, fails: bool, text: &str) {
    let result = &driven["results"][label];
    assert_eq!(result["isError"], fails, "{label}: {result}");
    assert!(result["text"].as_str().expect("a string").contains(text), "{label}: {result}");
}

fn check_calls(example: &Example, driven: &Value) {
    expect(driven, "read", false, "The token is ${DEMO_TOKEN}.");
    expect(driven, "key", true, "keys are private; read another file (rule `no-keys`)");
    expect(driven, "unlisted", true, "the policy does not list this tool");
    expect(driven, "approved", false, "Successfully wrote");
    expect(driven, "rejected", true, "keep the old one");
    for label in ["first", "second", "third"] {
        expect(driven, label, false, "");
    }
    expect(driven, "fourth", true, "the limit of 3 calls in 60s");
    expect(driven, "forgotten", false, "deleted");
    expect(driven, "environment", false, "${DEMO_TOKEN}");
    assert!(!driven.to_string().contains(TOKEN), "{driven}");
    assert_eq!(example.file("files/new.txt"), "hello");
    assert_eq!(example.file("files/note.txt"), note());
    assert!(!example.file("memory.jsonl").contains("map"));
    let questions = driven["questions"].as_array().expect("a list");
    assert_eq!(questions.len(), 2, "{questions:?}");
    let question = questions[0].as_str().expect("a string");
    assert!(question.contains("May the file be written?") && question.contains("new.txt"));
}

/// The log has every call, and none of the secret.
fn check_log(example: &Example) {
    let verified = example.run(&["log", "verify", "calls.db"]);
    assert!(verified.is_success(), "{}", verified.described());
    assert!(verified.output.contains("are as they were written"), "{}", verified.output);
    let shown = example.run(&["log", "show", "calls.db", "--records"]);
    for part in [
        "denied",
        "asked",
        "approved",
        "keep the old one",
        "the limit of 3 calls",
        "no-keys",
        "forget",
    ] {
        assert!(shown.output.contains(part), "{part} is not in {}", shown.output);
    }
    let exported = example.run(&["log", "export", "calls.db"]).output;
    assert!(!exported.contains(TOKEN), "{exported}");
}

fn check_policy(example: &Example) {
    let checked = example.run(&["policy", "check", "policy.yaml"]);
    assert_eq!(checked.output.trim(), "policy.yaml: ok", "{}", checked.described());
    let tested = example.run(&["policy", "test", "policy.yaml"]);
    assert!(tested.is_success() && tested.output.contains("0 failed"), "{}", tested.described());
    let arguments = r#"{"path": "a.pem", "content": ""}"#;
    let words =
        ["policy", "explain", "policy.yaml", "--tool", "files.write_file", "--args", arguments];
    let explained = example.run(&words);
    assert!(explained.output.starts_with("deny by rule `no-keys`"), "{}", explained.described());
}

#[test]
fn a_client_of_2025_11_25_is_governed() {
    let example = Example::new("stateful");
    let driven = example.drive("stateful");
    assert_eq!(driven["version"], "2025-11-25");
    check_calls(&example, &driven);
    check_log(&example);
}

#[test]
fn a_client_of_2026_07_28_is_governed() {
    let example = Example::new("stateless");
    let driven = example.drive("stateless");
    assert_eq!(driven["version"], "2026-07-28");
    check_calls(&example, &driven);
    check_log(&example);
    check_policy(&example);
}

#[test]
fn a_broken_policy_stops_the_gateway_and_is_checked() {
    let example = Example::new("broken");
    let broken = example.file("policy.yaml").replace("tools: [files.write_file]", "tool: [x]");
    fs::write(example.folder.join("policy.yaml"), broken).expect("room for a file");
    let listed = example.run(&["list"]);
    let code = listed.status.and_then(|status| status.code());
    assert!(code == Some(3) && listed.output.contains("did you mean"), "{}", listed.described());
    let checked = example.run(&["policy", "check", "policy.yaml"]);
    let code = checked.status.and_then(|status| status.code());
    assert!(
        code == Some(1) && checked.output.starts_with("policy.yaml:"),
        "{}",
        checked.described()
    );
}
