/// A clock.
struct Clock;
::core::compile_error! {
    "`#[tool]` goes on a function; write `#[tool] async fn name(...)`"
}
