//! The pool of `main!`, as tests reach it.

use super::support::text;
use tool_runtime::prelude::*;

struct Greeting(String);

/// Greet somebody.
#[tool(register = false)]
async fn greet_in_main(
    /// Whom to greet.
    name: String,
    greeting: &Greeting,
) -> String {
    format!("{} {name}", greeting.0)
}

async fn greeting() -> Result<Greeting, std::io::Error> {
    Ok(Greeting("Hello".to_owned()))
}

#[allow(dead_code)]
mod served {
    tool_runtime::main!(
        state = super::greeting().await?,
        pool = |pool| pool.tool::<super::GreetInMainAction>().allow(["greet_in_main"]),
    );
}

#[allow(dead_code)]
mod failing {
    tool_runtime::main!(tools = "/no/such/file.toml");
}

#[tokio::test]
async fn tests_reach_the_pool_that_is_served() {
    let pool = served::pool().await.expect("a pool");
    assert_eq!(pool.tools().len(), 1);
    assert_eq!(text(&pool, "greet_in_main", r#"{"name":"Ada"}"#).await, "Hello Ada");
}

#[tokio::test]
async fn a_setup_that_fails_is_an_error_and_not_the_end_of_the_process() {
    let error = failing::pool().await.expect_err("there is no such file");
    assert!(error.to_string().starts_with("/no/such/file.toml: "), "{error}");
}
