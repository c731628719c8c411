//! Time limits.

use super::support::{problems_of, server, warnings};
use serde_json::{Value, json};
use std::time::Duration;

fn call(value: Value) -> Option<Duration> {
    server(json!({ "command": "x", "timeout": value })).call_timeout
}

#[test]
fn a_duration_without_a_unit_is_guessed_with_a_warning() {
    assert_eq!(call(json!("30s")), Some(Duration::from_secs(30)));
    assert_eq!(call(json!("1m 30s")), Some(Duration::from_secs(90)));
    assert_eq!(call(json!(30)), Some(Duration::from_secs(30)));
    assert_eq!(call(json!(999)), Some(Duration::from_secs(999)));
    assert_eq!(call(json!(1000)), Some(Duration::from_secs(1)));
    assert_eq!(call(json!(1.5)), Some(Duration::from_millis(1500)));
    assert!(warnings(json!({ "command": "x", "timeout": "30s" })).is_empty());
    assert_eq!(
        warnings(json!({ "command": "x", "timeout": 60000 })),
        [
            "`mcpServers.s.timeout`: 60000 has no unit, and was taken for milliseconds; write `\"1m\"`"
        ]
    );
    assert!(
        warnings(json!({ "command": "x", "timeout": 60 }))[0]
            .contains("for seconds; write `\"1m\"`")
    );
}

#[test]
fn a_key_may_contain_the_unit() {
    for (key, value) in [
        ("startup_timeout_sec", json!(2000)),
        ("startup_timeout_ms", json!(2_000_000)),
        ("connect_timeout", json!("2000s")),
    ] {
        let entry = json!({ "command": "x", key: value });
        assert_eq!(server(entry.clone()).connect_timeout, Some(Duration::from_secs(2000)), "{key}");
        assert!(warnings(entry).is_empty(), "{key}");
    }
}

#[test]
fn an_invalid_duration_is_rejected() {
    for value in [
        json!(0),
        json!("0s"),
        json!(-1),
        json!("soon"),
        json!("30"),
        json!(1e300),
        json!("99999 days"),
        json!([1]),
        json!(true),
    ] {
        let problems = problems_of(json!({ "command": "x", "timeout": value }));
        assert_eq!(problems.len(), 1, "{value}");
        assert!(problems[0].starts_with("`mcpServers.s.timeout`: "), "{problems:?}");
        assert!(problems[0].contains("write a time"), "{problems:?}");
    }
    let zero = json!({ "command": "x", "tools": { "a": { "timeout": "0s" } } });
    assert!(problems_of(zero)[0].starts_with("`mcpServers.s.tools.a.timeout`: "));
}
