//! Rules about the files that calls touch.

use super::yaml;
use crate::SampleCall;
use serde_json::json;
use tool_runtime::prelude::*;
use tool_runtime_core::govern::Effect::{self, Allow, Ask, Deny};
use tool_runtime_core::tool::Access;

/// Write a file.
#[tool(register = false, writes("file:{file_path}"))]
async fn save(
    /// The file.
    file_path: String,
) -> usize {
    file_path.len()
}

/// Read a file, and write another.
#[tool(register = false, reads("file:{from}"), writes("file:{to}"))]
async fn copy(
    /// The source.
    from: String,
    /// The target.
    to: String,
) -> usize {
    from.len() + to.len()
}

/// Change the files of a patch.
#[tool(register = false, access = patched)]
async fn patch(
    /// The paths, one a line.
    lines: String,
) -> usize {
    lines.len()
}

fn patched(call: &PatchAction) -> Access {
    call.lines.lines().fold(Access::none(), |access, path| access.write(format!("file:{path}")))
}

/// Run anything.
#[tool(register = false)]
async fn run() -> usize {
    0
}

/// Search files.
#[tool(register = false, read_only)]
async fn find() -> usize {
    0
}

/// Search files, and leave out those that may not be read.
#[tool(register = false, read_only)]
async fn seek() -> usize {
    0
}

/// Change files, and leave out those that may not be read.
#[tool(register = false)]
async fn tidy() -> usize {
    0
}

fn pool() -> ToolPool {
    ToolPool::builder()
        .tool::<SaveAction>()
        .tool::<CopyAction>()
        .tool::<PatchAction>()
        .tool::<RunAction>()
        .tool::<FindAction>()
        .add(Tool::from_action::<SeekAction>().checks_files())
        .add(Tool::from_action::<TidyAction>().checks_files())
        .build()
        .unwrap()
}

/// Decides as a rule with the condition does, where others are allowed.
#[track_caller]
fn check(effect: &str, condition: &str, cases: &[(&str, serde_json::Value, Effect)]) {
    let default = if effect == "allow" { "deny" } else { "allow" };
    let rules = format!(
        "default: {default}\nrules:\n  - {{id: keys, when: {{touches: {condition}}}, then: {effect}}}"
    );
    let (policy, pool) = (yaml(&rules), pool());
    for (tool, arguments, expected) in cases {
        let call = SampleCall::new(*tool).arguments(arguments.clone()).in_pool(&pool);
        let decision = policy.try_call(&call);
        assert_eq!(decision.effect(), *expected, "{tool} {arguments}: {}", decision.reason());
    }
}

#[test]
fn a_file_is_found_whatever_argument_names_it() {
    check(
        "deny",
        "{path: '*.key', for: write}",
        &[
            ("save", json!({"file_path": "a.key"}), Deny),
            ("save", json!({"file_path": "./sub/../a.key/."}), Deny),
            ("save", json!({"file_path": "a.txt"}), Allow),
            ("copy", json!({"from": "a.key", "to": "a.txt"}), Allow),
            ("copy", json!({"from": "a.txt", "to": "a.key"}), Deny),
            ("patch", json!({"lines": "a.txt\nb.key"}), Deny),
            ("patch", json!({"lines": "a.txt\nb.txt"}), Allow),
            ("patch", json!({"lines": ""}), Allow),
            // Whether these touch keys is not declared.
            ("run", json!({}), Deny),
            ("find", json!({}), Allow),
        ],
    );
    check(
        "deny",
        "{path: '*.key', if_undeclared: no_match}",
        &[
            ("copy", json!({"from": "a.key", "to": "a.txt"}), Deny),
            ("run", json!({}), Allow),
            ("find", json!({}), Allow),
        ],
    );
    check("ask", "'*.key'", &[("run", json!({}), Ask), ("find", json!({}), Ask)]);
}

#[test]
fn a_search_that_leaves_out_files_is_not_about_them() {
    check("deny", "'*.key'", &[("seek", json!({}), Allow), ("tidy", json!({}), Deny)]);
    check("allow", "'*.key'", &[("seek", json!({}), Deny)]);
    let undeclared = "{path: '*.key', if_undeclared: match}";
    check("allow", undeclared, &[("seek", json!({}), Allow)]);
}

#[test]
fn a_rule_that_allows_needs_all_files_in_its_directories() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name).display().to_string();
    check(
        "allow",
        &format!("{{path: {}, for: write}}", folder.path().display()),
        &[
            ("save", json!({"file_path": inside("a")}), Allow),
            ("save", json!({"file_path": inside("../a")}), Deny),
            ("copy", json!({"from": "/etc/hosts", "to": inside("a")}), Allow),
            ("patch", json!({"lines": format!("{}\n{}", inside("a"), inside("b/c"))}), Allow),
            ("patch", json!({"lines": format!("{}\n/etc/x", inside("a"))}), Deny),
            ("run", json!({}), Deny),
        ],
    );
}

#[cfg(unix)]
#[test]
fn links_and_directories_do_not_hide_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(inside("a.key"), "").unwrap();
    std::os::unix::fs::symlink(inside("a.key"), inside("notes.txt")).unwrap();
    std::fs::create_dir(inside("folder")).unwrap();
    check(
        "deny",
        "{path: [.ssh, '*.key']}",
        &[
            ("save", json!({"file_path": inside("notes.txt")}), Deny),
            ("save", json!({"file_path": inside("folder")}), Deny),
            ("save", json!({"file_path": inside("folder/.ssh/config")}), Deny),
            ("save", json!({"file_path": inside("folder/a.txt")}), Allow),
        ],
    );
    // Below another directory it cannot match.
    check("deny", "{path: /etc/keys}", &[("save", json!({"file_path": inside("folder")}), Allow)]);
}

#[test]
fn a_rule_about_reading_allows_no_writing() {
    check(
        "allow",
        "{path: /w, for: read}",
        &[
            ("copy", json!({"from": "/w/a", "to": "/w/b"}), Deny),
            ("copy", json!({"from": "/w/a", "to": "/x/b"}), Deny),
            ("save", json!({"file_path": "/w/a"}), Deny),
        ],
    );
    check(
        "deny",
        "{path: '*.key', for: read}",
        &[
            ("copy", json!({"from": "a.key", "to": "b"}), Deny),
            ("save", json!({"file_path": "a.key"}), Deny),
            ("save", json!({"file_path": "a.txt"}), Allow),
        ],
    );
}

#[test]
fn a_glob_of_a_directory_is_everything_below() {
    for pattern in ["/w/*/.ssh", "'**/.ssh'", ".ssh", "/w/u/.ssh/"] {
        let condition = format!("{{path: {pattern}, for: write}}");
        check(
            "deny",
            &condition,
            &[
                ("save", json!({"file_path": "/w/u/.ssh/keys/a"}), Deny),
                ("save", json!({"file_path": "/w/u/.ssh"}), Deny),
                ("save", json!({"file_path": "/w/u/ssh"}), Allow),
            ],
        );
    }
}

#[cfg(unix)]
#[test]
fn a_move_of_a_directory_and_a_broken_link_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(inside("tmp")).unwrap();
    std::os::unix::fs::symlink("p.key", inside("notes.txt")).unwrap();
    std::os::unix::fs::symlink("notes.txt", inside("more.txt")).unwrap();
    check(
        "deny",
        "{path: '*.key'}",
        &[
            ("save", json!({"file_path": inside("notes.txt")}), Deny),
            ("save", json!({"file_path": inside("more.txt")}), Deny),
            ("save", json!({"file_path": inside("other.txt")}), Allow),
        ],
    );
    let keys = format!("{{path: '{}', for: write}}", inside("keys/*.key"));
    let lines = format!("{}\n{}", inside("tmp"), inside("keys"));
    check("deny", &keys, &[("patch", json!({ "lines": lines }), Deny)]);

    let policy = yaml(&format!("rules: [{{id: keys, when: {{touches: {keys}}}, then: deny}}]"));
    let reason = |lines: String| {
        let call = SampleCall::new("patch").arguments(json!({ "lines": lines })).in_pool(&pool());
        policy.try_call(&call).reason().to_owned()
    };
    let reason_of_move = reason(lines);
    let expected = "/keys`; name files";
    assert!(reason_of_move.ends_with(expected), "{reason_of_move}");
    let other_case = reason(inside("keys/A.KEY"));
    assert!(other_case.ends_with("may be such a file by another spelling"), "{other_case}");
}

#[test]
fn calls_of_tests_state_the_files_that_they_touch() {
    let policy = yaml(
        "default: allow
rules:
  - {id: keys, when: {touches: {path: '*.key', for: write}}, then: deny}
tests:
  - {call: {tool: any, writes: a.key}, expect: deny, rule: keys}
  - {call: {tool: any, reads: [a.key], writes: [b.txt]}, expect: allow}
  - {call: {tool: any}, expect: deny, rule: keys}
",
    );
    assert!(policy.test().is_passed(), "{}", policy.test());
}

#[test]
fn the_check_names_tools_that_do_not_declare_what_they_touch() {
    let policy =
        yaml("rules: [{id: keys, when: {touches: {path: '*.key', for: write}}, then: deny}]");
    let warnings = policy.unused_patterns(&pool());
    let expected = "rule `keys`: these tools do not declare which files they touch, `run`, `tidy`: the rule denies each of their calls; name the tools, or write `if_undeclared: no_match`";
    assert_eq!(warnings, [expected]);
}

#[test]
fn mistakes_in_conditions_about_files_are_told() {
    for (condition, expected) in [
        ("{for: write}", "the key `path` is missing"),
        ("{path: []}", "the list is empty"),
        ("src/a.key", "`src/a.key` is neither a name nor an absolute path"),
        ("{path: a, for: writing}", "unknown purpose `writing`"),
        ("{path: ~/keys}", "neither a name nor an absolute path"),
    ] {
        let text = format!("rules: [{{id: a, when: {{touches: {condition}}}, then: deny}}]");
        let error = crate::Policy::parse(&text, crate::Format::Yaml).unwrap_err().to_string();
        assert!(error.contains(expected), "{condition}: {error}");
    }
}

#[tokio::test]
async fn a_call_is_denied_by_the_file_that_it_would_write() {
    let policy = yaml(
        "default: allow\nrules: [{id: keys, when: {touches: {path: '*.key', for: write}}, then: deny}]",
    );
    let pool = ToolPool::builder().tool::<SaveAction>().policy(policy).build().unwrap();
    for (path, is_denied) in [("a.key", true), ("a.txt", false)] {
        let call = ToolCall::json("save", json!({ "file_path": path }));
        let result = pool.call(call).await;
        assert_eq!(result.is_error(), is_denied, "{path}: {result:?}");
    }
}
