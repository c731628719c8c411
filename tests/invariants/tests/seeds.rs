//! The invariants hold for the inputs in `fuzz/seeds`: those that broke one before, and ordinary ones.

#![allow(missing_docs)]

use std::fs;
use std::path::Path;

/// Checks all seeds of a target. The output names the seed that fails.
fn check_seeds(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut seeds: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for seed in seeds {
        eprintln!("{}", seed.display());
        check(&fs::read(&seed).unwrap());
    }
}

fn check_texts(target: &str, check: impl Fn(&str)) {
    check_seeds(target, |seed| check(str::from_utf8(seed).expect("UTF-8")));
}

#[test]
fn arguments() {
    check_texts("arguments", invariants::arguments::check);
}

#[test]
fn connection() {
    check_seeds("connection", invariants::connection::check);
}

#[test]
fn http() {
    check_seeds("http", invariants::http::check);
}

#[test]
fn line() {
    check_seeds("line", invariants::line::check);
}

#[test]
fn model() {
    check_texts("model", invariants::model::check);
}

#[test]
fn session() {
    check_seeds("session", invariants::session::check);
}
