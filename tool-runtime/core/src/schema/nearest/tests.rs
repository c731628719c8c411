//! Tests of name suggestions.

use crate::schema::nearest::nearest;

#[test]
fn suggests_only_close_names() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("quary", &["query", "limit", "tags"], &["query"]),
        ("cirle", &["circle", "square"], &["circle"]),
        ("teh", &["the", "toe"], &["the"]),
        ("QUERY", &["query"], &["query"]),
        ("max-items", &["maxItems", "minItems"], &["maxItems", "minItems"]),
        ("maxItems", &["max_items"], &["max_items"]),
        ("fs.read", &["fs_read", "fs_write"], &["fs_read"]),
        ("desc", &["description", "title"], &["description"]),
        ("de", &["description", "depth"], &[]),
        ("k", &["c", "f"], &[]),
        ("F", &["c", "f"], &["f"]),
        ("cat", &["dog", "horse"], &[]),
        ("ü", &["Ü", "u"], &["Ü"]),
        ("", &["a", ""], &[]),
        ("_", &["__", "a"], &[]),
    ];
    for (name, candidates, expected) in cases {
        assert_eq!(nearest(name, candidates.iter().copied(), 3), *expected, "{name}");
    }
}

#[test]
fn suggestions_are_sorted_and_limited() {
    let candidates = ["limits", "limit", "limbs", "limit_s"];
    assert_eq!(nearest("limits", candidates, 2), ["limit_s", "limits"]);
    assert_eq!(nearest("limits", candidates, 9).len(), 4);
    assert!(nearest("limits", candidates, 0).is_empty());
}

#[test]
fn suggestions_do_not_depend_on_the_order_of_candidates() {
    let forth = nearest("bat", ["cat", "hat", "bad", "cat"], 9);
    let back = nearest("bat", ["bad", "cat", "hat"], 9);
    assert_eq!(forth, back);
    assert_eq!(forth, ["bad", "cat", "hat"]);
}

#[test]
fn very_long_names_are_not_compared() {
    let long = "a".repeat(100_000);
    assert!(nearest(&long, ["aaa"], 3).is_empty());
    assert!(nearest("aaa", [long.as_str(), "b"], 3).len() <= 1);
}
