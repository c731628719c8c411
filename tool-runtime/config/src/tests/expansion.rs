//! `${VAR}` and the sources of its value.

use super::support::{args, http, loader, pairs, problems_of, stdio, warnings};
use crate::{McpConfig, McpTransportConfig};
use serde_json::json;

fn argument(text: &str) -> String {
    args(&stdio(json!({ "command": "x", "args": [text] })))[0].to_owned()
}

fn problem(text: &str) -> String {
    problems_of(json!({ "command": "x", "args": [text] })).remove(0)
}

#[test]
fn references_are_replaced_by_values() {
    for (written, value) in [
        ("${TOKEN}", "8fQm2x"),
        ("a${TOKEN}b${TOKEN}", "a8fQm2xb8fQm2x"),
        ("${env:TOKEN}", "8fQm2x"),
        ("${TOKEN:-other}", "8fQm2x"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("${NOWHERE:-}", ""),
        ("${NOWHERE:-a:-b $c}", "a:-b $c"),
        ("${env:NOWHERE:-other}", "other"),
        ("{env:TOKEN}", "8fQm2x"),
        ("Bearer {env:TOKEN}!", "Bearer 8fQm2x!"),
        ("$${env:TOKEN}{env:TOKEN", "${env:TOKEN}{env:TOKEN"),
        ("$${TOKEN}", "${TOKEN}"),
        ("$$${TOKEN}", "$${TOKEN}"),
        ("$TOKEN", "$TOKEN"),
        ("$", "$"),
        ("$$", "$$"),
        ("a$b}", "a$b}"),
    ] {
        assert_eq!(argument(written), value, "{written}");
    }
}

#[test]
fn a_failed_expansion_is_reported_by_name_without_value() {
    for (written, words) in [
        (
            "${NOWHERE}",
            "`${NOWHERE}` has no value (asked: the environment); set `NOWHERE`, or write `${NOWHERE:-default}`",
        ),
        ("${TOKN}", "did you mean `TOKEN`?"),
        ("${env:TOKN}", "`${env:TOKN}` has no value"),
        ("{env:TOKN}", "`${env:TOKN}` has no value"),
        (
            "${input:api-key}",
            "only editors prompt for this value; the host must provide the variable `input:api-key`",
        ),
        (
            "${workspaceFolder}",
            "only editors define this variable; the host must provide the variable `workspaceFolder`",
        ),
        ("${A:-${TOKEN}}", "there is a `${` within `${A..}`"),
        ("${NESTED}", "the value of `NESTED` contains a `${`"),
        ("${PARTLY}", "the value of `PARTLY` contains a `${`"),
        ("${TOKEN", "a `${` is never closed"),
        ("${}", "names no variable"),
        ("${env:}", "names no variable"),
        ("${TOKEN:?hunter2}", "`${TOKEN..}` is of a form that is not known"),
        ("${TOKEN-hunter2}", "`${TOKEN..}` is of a form that is not known"),
        ("${TOKEN:+hunter2}", "is of a form that is not known"),
    ] {
        let problem = problem(written);
        assert!(problem.starts_with("`mcpServers.s.args[0]`: "), "{problem}");
        assert!(problem.contains(words), "{written}: {problem}");
        assert!(!problem.contains("hunter2") && !problem.contains("8fQm2x"), "{problem}");
    }
    let problems = problems_of(json!({ "command": "x", "args": ["${A1}${B1}", "${C1}"] }));
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn every_text_of_an_entry_is_expanded() {
    let stdio = stdio(json!({
        "command": "~/bin/${TOKEN}",
        "env": { "A_${TOKEN}": "${TOKEN}" },
        "cwd": "~",
    }));
    assert_eq!(stdio.command.as_str(), "/home/ada/bin/8fQm2x");
    assert_eq!(stdio.cwd.as_ref().map(|cwd| cwd.as_str()), Some("/home/ada/"));
    assert_eq!(pairs(&stdio.env), [("A_8fQm2x", "8fQm2x")]);
    let http = http(json!({
        "url": "https://example.com/${TOKEN}?k=${TOKEN}",
        "headers": { "X-${TOKEN}": "${TOKEN}" },
        "auth": { "header": "Y-${TOKEN}", "key": "${TOKEN}" },
    }));
    assert_eq!(http.url.as_str(), "https://example.com/8fQm2x?k=8fQm2x");
    assert_eq!(pairs(&http.headers), [("X-8fQm2x", "8fQm2x")]);
    for output in [format!("{stdio:?}"), format!("{http:?}")] {
        assert!(!output.contains("8fQm2x"), "{output}");
    }
}

#[test]
fn sources_are_searched_in_order() {
    let text = r#"{ "s": { "command": "x", "args": ["${TOKEN}", "${input:key}", "${OTHER}"] } }"#;
    let config = McpConfig::loader()
        .variables([("TOKEN", "first"), ("input:key", "given")])
        .source(|name| (name == "OTHER").then(|| "asked".to_owned()))
        .environment()
        .json(text)
        .load()
        .unwrap_or_else(|error| panic!("{error}"));
    let McpTransportConfig::Stdio(stdio) = &config.servers["s"].transport else { panic!() };
    assert_eq!(args(stdio), ["first", "given", "asked"]);

    let text = r#"{ "s": { "command": "x", "args": ["${env:TOKEN}", "${PATH}"] } }"#;
    let error = McpConfig::loader().variables([("TOKEN", "x")]).json(text).load().unwrap_err();
    assert_eq!(error.problems[0].text, "`${env:TOKEN}` has no value (asked: nothing)");
    assert_eq!(error.problems[0].help, "have the loader ask the environment");
    assert_eq!(error.problems[1].text, "`${PATH}` has no value (asked: the given variables)");

    let two_sources = loader()
        .variables([("TOKEN", "second")])
        .json(r#"{ "s": { "command": "x", "args": ["${TOKEN}", "${NOWHERE}"] } }"#);
    let text = two_sources.load().unwrap_err().problems.remove(0).text;
    assert!(text.contains("the environment, then the given variables"), "{text}");
}

#[test]
fn the_error_of_a_missing_variable_names_the_option() {
    let text = r#"{ "s": { "command": "x", "args": ["${input:key}", "${workspaceFolder}"] } }"#;
    let error = loader().option("--var").json(text).load().unwrap_err();
    let helps: Vec<&str> = error.problems.iter().map(|problem| problem.help.as_str()).collect();
    assert_eq!(
        helps,
        [
            "only editors prompt for this value; give it by `--var input:key=..`",
            "only editors define this variable; give it by `--var workspaceFolder=..`",
        ]
    );
}

#[test]
fn variable_syntax_of_other_programs_is_a_warning_without_its_value() {
    for text in ["$HUNTER2", "{file:HUNTER2}", "Bearer $HUNTER2"] {
        let warned = warnings(json!({ "url": "https://example.com", "headers": { "X": text } }));
        assert_eq!(warned.len(), 1, "{text}");
        assert!(warned[0].contains("write `${NAME}`") && !warned[0].contains("HUNTER2"));
    }
    for text in ["$HUNTER2", "$HUNTER2/bin/x", "--root=$HUNTER2/x", "%HUNTER2%\\x", "%HUNTER(2)%"] {
        for entry in [
            json!({ "command": text }),
            json!({ "command": "x", "args": [text] }),
            json!({ "command": "x", "cwd": text }),
            json!({ "command": "x", "env": { "A": text } }),
        ] {
            let warned = warnings(entry.clone());
            assert_eq!(warned.len(), 1, "{entry}");
            assert!(warned[0].contains("write `${NAME}`") && !warned[0].contains("HUNTER2"));
        }
    }
    for text in
        ["pa$$word", "$1.50", "${TOKEN}", "a$b", "a$b/c", "$/x", "--x=", "50%", "%20a%20", "%%"]
    {
        assert!(warnings(json!({ "command": "x", "args": [text] })).is_empty(), "{text}");
    }
}

#[test]
fn an_unknown_home_directory_is_reported() {
    let text = r#"{ "s": { "command": "~/x" } }"#;
    let error = McpConfig::loader().json(text).load().unwrap_err();
    assert!(error.to_string().contains("set `HOME`"), "{error}");
}
