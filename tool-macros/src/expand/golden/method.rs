/// Tell the time.
async fn time(&self) -> i64 {
    0
}
::core::compile_error! {
    "a tool is a free function and has no `self`; write the state as a parameter, as in `state: &State`"
}
