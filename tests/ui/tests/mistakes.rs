//! Checks the messages and locations of compile errors. `README.md` describes how to accept a changed message.

#[test]
fn mistakes_are_reported_at_their_place() {
    // Without `pass`, for which trybuild would compile the dependencies, instead of checking them.
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
