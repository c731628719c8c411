//! Keys from parts.

use super::{Access, KeyPart};
use std::borrow::Cow;
use std::path::PathBuf;

fn write_keys(literals: &[&str], parts: &[&dyn KeyPart]) -> Vec<String> {
    let access = Access::undeclared().writes_of(literals, parts);
    assert!(access.is_declared() && access.reads().next().is_none());
    access.writes().map(str::to_owned).collect()
}

#[test]
fn parts_are_between_literals() {
    assert_eq!(write_keys(&["db:all"], &[]), ["db:all"]);
    assert_eq!(write_keys(&["db:", "/", ""], &[&"users", &7_u8]), ["db:users/7"]);
}

#[test]
fn lists_give_every_combination_and_absent_values_give_no_key() {
    let (tables, rows) = (vec!["a", "b"], vec![1, 2]);
    assert_eq!(write_keys(&["", ":", ""], &[&tables, &rows]), ["a:1", "a:2", "b:1", "b:2"]);
    assert!(write_keys(&["", ":", ""], &[&tables, &None::<String>]).is_empty());
    assert!(write_keys(&["", ":", ""], &[&Vec::<i64>::new(), &rows]).is_empty());
    assert_eq!(write_keys(&["k:", ""], &[&Some(vec![Some('x'), None])]), ["k:x"]);
}

#[test]
fn a_key_is_normalized_after_joining_its_parts() {
    let access = Access::none().reads_of(&["", "/x/../a"], &[&"file:/missing"]);
    let same = Access::none().reads_of(&["file:/missing/a"], &[]);
    assert_eq!(access.reads().collect::<Vec<_>>(), same.reads().collect::<Vec<_>>());
}

#[test]
fn key_parts_are_written_by_display() {
    let parts: &[(&dyn KeyPart, &str)] = &[
        (&String::from("s"), "k:s"),
        (&'c', "k:c"),
        (&true, "k:true"),
        (&-1_i128, "k:-1"),
        (&PathBuf::from("a/b"), "k:a/b"),
        (&Box::<str>::from("b"), "k:b"),
        (&Cow::Borrowed("c"), "k:c"),
    ];
    for (part, key) in parts {
        assert_eq!(write_keys(&["k:", ""], &[*part]), [*key]);
    }
}

#[test]
fn the_order_of_declaring_does_not_matter() {
    let (a, b) = (Access::none().read("a:").write("b:"), Access::none().write("b:").read("a:"));
    assert_eq!(a, b);
}
