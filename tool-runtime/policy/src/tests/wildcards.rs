//! What `*` means: any characters, except in paths, where it stays within one name.

use super::yaml;
use crate::SampleCall;
use serde_json::json;
use tool_runtime_core::govern::Effect;
use tool_runtime_core::vocabulary::Principal;

/// Whether a rule with this condition allows the call.
fn allows(when: &str, call: SampleCall) -> bool {
    let policy = yaml(&format!("rules: [{{id: a, when: {{{when}}}, then: allow}}]"));
    policy.try_call(&call).effect() == Effect::Allow
}

fn by(id: &str) -> SampleCall {
    SampleCall::new("t").principal(Principal::new(id))
}

#[test]
fn a_star_spans_dots_slashes_and_colons_of_names() {
    for (when, call, expected) in [
        ("tools: 'fs.*'", SampleCall::new("fs.a.b"), true),
        ("resources: 'file:///work/*'", SampleCall::resource("file:///work/a/b"), true),
        ("resources: 'file:///work/*'", SampleCall::resource("file:///workshop"), false),
        ("prompts: 'ops.*'", SampleCall::prompt("ops.a.b"), true),
        ("principals: 'auth0|*'", by("auth0|a/b"), true),
        ("principals: '*@ops'", by("ada@ops.evil"), false),
    ] {
        assert_eq!(allows(when, call.clone()), expected, "{when} {call:?}");
    }
}

/// Callers choose their names, and URIs have queries.
#[test]
fn other_characters_of_uris_and_callers_mean_themselves() {
    for (when, call, expected) in [
        ("resources: 'notes://a?q=1'", SampleCall::resource("notes://a?q=1"), true),
        ("resources: 'notes://a?q=1'", SampleCall::resource("notes://aXq=1"), false),
        ("resources: 'notes://[::1]/*'", SampleCall::resource("notes://[::1]/a"), true),
        ("resources: 'notes://[::1]/*'", SampleCall::resource("notes://1/a"), false),
        ("principals: '!ada'", by("eve"), false),
        ("principals: '{ada,eve}'", by("eve"), false),
        ("principals: 'ada[1]'", by("ada1"), false),
    ] {
        assert_eq!(allows(when, call.clone()), expected, "{when} {call:?}");
    }
}

#[test]
fn a_star_of_a_path_stays_within_one_name() {
    let read = |path: &str| SampleCall::new("t").reads([path]);
    let argument = |path: &str| SampleCall::new("t").arguments(json!({ "path": path }));
    for (pattern, path, expected) in [
        ("/work/*.rs", "/work/a.rs", true),
        ("/work/*.rs", "/work/a/b.rs", false),
        ("/work/**/*.rs", "/work/a/b.rs", true),
    ] {
        let inside = format!("arguments: {{path: {{inside: '{pattern}'}}}}");
        assert_eq!(allows(&inside, argument(path)), expected, "{pattern} {path}");
        let touches = format!("touches: '{pattern}'");
        assert_eq!(allows(&touches, read(path)), expected, "{pattern} {path}");
    }
}
