//! Looks for inputs that break the invariant of `tests/invariants/src/line.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::line::check(data));
