/// Tell the time.
async fn time(&self) -> i64 {
    0
}
::core::compile_error! {
    "a method is a tool of its type; move it to an `impl Type` block with `#[toolset]` above, or write a free function with a parameter `state: &State`"
}
