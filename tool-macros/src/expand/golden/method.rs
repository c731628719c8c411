/// Tell the time.
async fn time(&self) -> i64 {
    0
}
::core::compile_error! {
    "a method is a tool of its type; write `#[toolset]` above the `impl` block, or a free function with a parameter `state: &State`"
}
