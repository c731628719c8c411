//! Looks for inputs that break the invariant of `tests/invariants/src/connection.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::connection::check(data));
