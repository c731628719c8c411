//! `schema --format` and `list --tokens`.

use serde_json::Value;
use std::process::Command;

/// Standard output and standard error of a program with the feature.
fn run(arguments: &[&str]) -> (String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_misbehaving_tools")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_schema_is_printed_in_the_format_of_an_api() {
    let schemas: Vec<Value> = serde_json::from_str(&run(&["schema"]).0).unwrap();
    let name = schemas[0]["name"].as_str().unwrap();
    for (format, at) in [
        ("mcp", "/inputSchema/type"),
        ("anthropic", "/input_schema/type"),
        ("openai", "/function/parameters/type"),
        ("openai-responses", "/parameters/type"),
        ("gemini", "/parametersJsonSchema/type"),
    ] {
        let one: Value =
            serde_json::from_str(&run(&["schema", name, "--format", format]).0).unwrap();
        assert_eq!(one.pointer(at), Some(&Value::from("object")), "{one}");
        let exported: Value =
            serde_json::from_str(&run(&["schema", "--format", format]).0).unwrap();
        let exported = exported.pointer("/0/functionDeclarations").unwrap_or(&exported);
        assert_eq!(exported.as_array().unwrap().len(), schemas.len());
    }
    let strict = run(&["schema", name, "--format", "openai", "--strict"]).0;
    let strict: Value = serde_json::from_str(&strict).unwrap();
    assert_eq!(strict["function"]["strict"], true, "{strict}");
}

#[test]
fn sizes_are_listed_largest_first() {
    let (table, _) = run(&["list", "--tokens"]);
    let mut sizes: Vec<usize> =
        table.lines().skip(1).map(|row| row.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let total = sizes.pop().unwrap();
    assert!(sizes.is_sorted_by(|one, next| one >= next), "{table}");
    assert_eq!(sizes.iter().sum::<usize>(), total);
    let json: Value = serde_json::from_str(&run(&["list", "--tokens", "--json"]).0).unwrap();
    assert_eq!(json["tokens"], total);
}
