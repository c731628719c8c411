//! Every mistake of a macro user, and everything tempting to over-reject. How to bless a
//! changed message is in `ui/README.md`.

#[test]
fn mistakes_are_reported_where_they_are() {
    trybuild::TestCases::new().compile_fail("ui/fail/*.rs");
}

#[test]
fn what_is_right_compiles() {
    trybuild::TestCases::new().pass("ui/pass/*.rs");
}
