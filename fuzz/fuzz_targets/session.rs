//! Looks for inputs that break the invariant of `tests/invariants/src/session.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::session::check(data));
