//! `bundle`: the bundle is checked by the tool of its format, and runs after it was unpacked.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use suite::peers::Program::Node;
use suite::peers::peer;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_terminal_tools");

fn bundle(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("bundle").args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn file_name() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("suite-{}-{os}-{arch}.mcpb", env!("CARGO_PKG_VERSION"))
}

fn server_json(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("server.json")).unwrap()).unwrap()
}

const PUBLISHED: [&str; 6] =
    ["--author", "Me", "--namespace", "com.example", "--url", "https://example.com/suite.mcpb"];

#[test]
fn a_bundle_is_valid_and_runs_after_it_was_unpacked() {
    let folder = TempDir::new().unwrap();
    let variables = ["--env", "API_KEY=Your key", "--env", "LEVEL", "--", "--deny", "x"];
    let output = bundle(folder.path(), &[&PUBLISHED[..], &variables].concat());
    assert!(output.status.success(), "{}", text(&output));
    let (file, unpacked) = (folder.path().join(file_name()), folder.path().join("unpacked"));
    let script = "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js";
    let ended = peer(Node(script), &["unpack", file.to_str().unwrap(), unpacked.to_str().unwrap()]);
    assert!(ended.is_success(), "{}", ended.described());
    let manifest = unpacked.join("manifest.json");
    let ended = peer(Node(script), &["validate", manifest.to_str().unwrap()]);
    assert!(ended.is_success(), "{}", ended.described());

    let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
    let server = &manifest["server"]["mcp_config"];
    assert_eq!(server["args"], json!(["serve", "--deny", "x"]));
    let env = json!({ "API_KEY": "${user_config.api_key}", "LEVEL": "${user_config.level}" });
    assert_eq!(server["env"], env);
    assert_eq!(manifest["user_config"]["api_key"]["sensitive"], true);
    assert_eq!(manifest["user_config"]["level"]["sensitive"], false);
    let command =
        server["command"].as_str().unwrap().replace("${__dirname}", unpacked.to_str().unwrap());
    let listed = Command::new(command).args(["list", "--json"]).output().expect("the program runs");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let names = |tools: &Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&manifest["tools"]), names(&listed));
}

#[test]
fn a_server_json_fits_its_schema_and_keeps_other_platforms() {
    let folder = TempDir::new().unwrap();
    let output = bundle(folder.path(), &[&PUBLISHED[..], &["--env", "API_KEY"]].concat());
    assert!(output.status.success(), "{}", text(&output));
    let server = server_json(folder.path());
    let schema: Value =
        serde_json::from_str(include_str!("cli_bundle/server.schema.json")).unwrap();
    let check = jsonschema::validator_for(&schema).unwrap();
    if let Err(error) = check.validate(&server) {
        panic!("{error}: {server:#}");
    }
    assert_eq!(server["name"], "com.example/suite");
    let package = &server["packages"][0];
    assert_eq!(package["environmentVariables"][0]["isSecret"], true);
    let sum = Command::new("sha256sum").arg(folder.path().join(file_name())).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert!(sum.starts_with(package["fileSha256"].as_str().unwrap()), "{sum}");

    let mut other = server.clone();
    other["packages"][0]["identifier"] = json!("https://example.com/mac.mcpb");
    fs::write(folder.path().join("server.json"), other.to_string()).unwrap();
    assert!(bundle(folder.path(), &PUBLISHED).status.success());
    let server = server_json(folder.path());
    let urls: Vec<&Value> =
        server["packages"].as_array().unwrap().iter().map(|it| &it["identifier"]).collect();
    assert_eq!(urls, ["https://example.com/mac.mcpb", "https://example.com/suite.mcpb"]);
}

#[test]
fn what_is_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let output = bundle(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("give `--author NAME`"), "{}", text(&output));
    let output = bundle(folder.path(), &["--author", "Me"]);
    assert!(output.status.success());
    assert!(text(&output).contains("no server.json: set `repository`"), "{}", text(&output));
    assert!(!folder.path().join("server.json").exists());
    for (words, problem) in [
        (&["--env", "KEY", "--env", "key"][..], "`key` is named twice"),
        (&["--namespace", "com example"], "`com example` has other characters"),
        (&["--url", "ftp://example.com/a"], "does not begin with `https://`"),
    ] {
        let output = bundle(folder.path(), &[&["--author", "Me"], words].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.contains(problem), "{stderr}");
    }
    let output = bundle(folder.path(), &["--author", "Me", "--env", "1X"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn what_the_author_wrote_in_a_server_json_stays() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("server.json");
    for (text, problem) in [
        ("garbage{", "expected value"),
        ("[]", "it is not a JSON object"),
        (r#"{"name": "com.example/other"}"#, "it is that of another server"),
    ] {
        fs::write(&file, text).unwrap();
        let output = bundle(folder.path(), &PUBLISHED);
        assert_eq!(output.status.code(), Some(1), "{}", self::text(&output));
        assert!(self::text(&output).contains(problem), "{}", self::text(&output));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    fs::write(
        &file,
        r#"{"name": "com.example/suite", "description": "Mine", "websiteUrl": "https://e.com"}"#,
    )
    .unwrap();
    assert!(bundle(folder.path(), &PUBLISHED).status.success());
    let server = server_json(folder.path());
    assert_eq!(
        (&server["description"], &server["websiteUrl"]),
        (&json!("Mine"), &json!("https://e.com"))
    );
    assert_eq!(server["packages"].as_array().unwrap().len(), 1);
}
