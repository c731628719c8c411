//! Looks for inputs that break the invariant of `tests/invariants/src/arguments.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| invariants::arguments::check(text));
