//! The macros reject every mistake of their users, with the right words at the right place, and
//! nothing that only looks like one. How to bless a changed message is in `README.md`.

#[test]
fn mistakes_are_reported_at_their_place_and_valid_code_compiles() {
    // Together, so that what they depend on is built once.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
