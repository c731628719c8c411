//! Looks for inputs that break the invariant of `tests/invariants/src/model.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| invariants::model::check(text));
