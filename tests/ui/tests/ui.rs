//! Checks the messages and locations of compile errors, and that valid code compiles. `README.md` describes how to
//! accept a changed message.

#[test]
fn mistakes_are_reported_at_their_place_and_valid_code_compiles() {
    // One set of cases, so that dependencies are built once.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
