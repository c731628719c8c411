//! The JSON and the text of an issue.

use serde_json::json;

use crate::vocabulary::error::Issue;

/// An issue.
fn sample() -> Issue {
    Issue::new("tags[2]", "type", "`tags[2]` must be a string, got 5")
}

#[test]
fn display_is_the_message() {
    assert_eq!(sample().to_string(), "`tags[2]` must be a string, got 5");
}

#[test]
fn serializes_path_rule_and_message() {
    let json = serde_json::to_value(sample()).unwrap();
    let expected = json!({
        "path": "tags[2]",
        "rule": "type",
        "message": "`tags[2]` must be a string, got 5",
    });
    assert_eq!(json, expected);
    assert_eq!((sample().path(), sample().rule()), ("tags[2]", "type"));
    assert_eq!(sample().message(), sample().to_string());
}
