//! Rules about the tools of a pool, and about where tools come from.

use super::{mistakes, yaml};
use crate::{Format, SampleCall};
use tool_runtime_core::govern::Effect;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Source, Tool};

#[test]
fn arguments_that_tools_lack_are_named_with_them() {
    let tool = |name: &str, argument: &str| {
        let schema = serde_json::json!({ "type": "object", "properties": { argument: { "type": "string" } } });
        Tool::builder(name, "Answer at once.").input_schema(schema).handler(|| async { "pong" })
    };
    let pool = ToolPool::builder()
        .add(tool("fs.read", "path"))
        .add(tool("fs.list", "path"))
        .add(tool("fs.info", "file"))
        .build()
        .unwrap();
    let policy = yaml(
        "
rules:
  - {id: none, when: {tools: [fs.read], arguments: {pth: a}}, then: allow}
  - {id: some, when: {tools: ['fs.*'], arguments: {path: a}}, then: deny}
  - {id: certain, when: {tools: ['fs.*'], arguments: {path: {equals: a, if_absent: no_match}}}, then: deny}
  - {id: all, when: {tools: [fs.read, fs.list], arguments: {path: a}}, then: deny}
",
    );
    assert_eq!(
        policy.unused_patterns(&pool),
        [
            "rule `none`: the argument `pth` is not one of `fs.read`: the rule allows none of their calls; did you mean \
             `path`?",
            "rule `some`: the argument `path` is not one of `fs.info`: the rule denies each of their calls; name the \
             tools, or write `if_absent: no_match`",
        ]
    );
}

#[test]
fn patterns_that_select_no_tool_are_named_with_the_nearest_tool() {
    let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(tool("fs.read")).add(tool("web.get")).build().unwrap();
    let policy = yaml(
        "
rules:
  - {id: used, when: {tools: ['fs.*', web.get]}, then: allow}
  - {id: near, when: {tools: [fs.raed]}, then: allow}
  - {id: wire, when: {tools: [web_get]}, then: allow}
  - {id: far, when: {tools: ['database.*']}, then: allow}
",
    );
    assert_eq!(
        policy.unused_patterns(&pool),
        [
            "rule `near`: `fs.raed` selects no tool; did you mean `fs.read`?",
            "rule `wire`: `web_get` selects no tool; did you mean `web.get`?",
            "rule `far`: `database.*` selects no tool",
        ]
    );
}

#[test]
fn a_sample_call_of_a_pool_knows_the_source_of_its_tool() {
    let tool = Tool::builder("t", "Answer at once.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(tool).build().unwrap();
    for (source, expected) in
        [("custom", Effect::Allow), ("linked", Effect::Deny), ("'owner:*'", Effect::Deny)]
    {
        let rules = format!("rules: [{{id: r, when: {{sources: [{source}]}}, then: allow}}]");
        let effect = yaml(&rules).try_call(&SampleCall::new("t").in_pool(&pool)).effect();
        assert_eq!(effect, expected, "{source}");
    }
}

#[test]
fn rules_for_sources_name_their_kind_and_their_name() {
    for (pattern, source, expected) in [
        ("linked", Source::Linked, true),
        ("custom", Source::Custom, true),
        ("custom", Source::Linked, false),
        ("mcp", Source::Mcp("git".into()), true),
        ("'mcp:g*'", Source::Mcp("git".into()), true),
        ("'mcp:g*'", Source::Mcp("web".into()), false),
        ("'mcp:git'", Source::Owner("git".into()), false),
        ("runner", Source::runner("git"), true),
        ("'runner:g*'", Source::runner("git"), true),
        ("'runner:g*'", Source::runner("web"), false),
        ("'runner:git'", Source::mcp("git"), false),
        ("mcp", Source::runner("git"), false),
        ("owner", Source::Owner("git".into()), true),
        ("'owner:git'", Source::Owner("git".into()), true),
        ("'owner:git'", Source::Owner("web".into()), false),
    ] {
        let rules = format!("rules: [{{id: r, when: {{sources: [{pattern}]}}, then: allow}}]");
        let call = SampleCall::new("t").source(source.clone());
        let is_allowed = yaml(&rules).try_call(&call).effect() == Effect::Allow;
        assert_eq!(is_allowed, expected, "{pattern} {source:?}");
    }
    for pattern in ["'mcp:'", "'owner:'", "'runner:'", "'linked:a'"] {
        let rules = format!("rules: [{{id: r, when: {{sources: [{pattern}]}}, then: allow}}]");
        let found = mistakes(&rules, Format::Yaml);
        assert!(found[0].contains("unknown source"), "{found:?}");
        assert!(found[0].contains("`runner:NAME`"), "{found:?}");
    }
}
