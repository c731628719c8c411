//! Tests of the pool that `main!` builds.

use super::support::text;
use tool_runtime::prelude::*;

struct Greeting(String);

/// Greet a person.
#[tool(register = false)]
async fn greet_in_main(
    /// The name of the person.
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

#[allow(dead_code)]
mod with_file {
    use tool_runtime::pool::{Registry, RegistryError};
    use tool_runtime::prelude::*;

    /// A prompt beside the tools of a file.
    #[prompt]
    async fn prompt_beside_a_file() -> &'static str {
        "hello"
    }

    /// A resource beside the tools of a file.
    #[resource("test://beside-a-file")]
    async fn resource_beside_a_file() -> &'static str {
        "text"
    }

    fn registry() -> Result<Registry, RegistryError> {
        let ping = Tool::builder("ping_of_a_file", "Answer.").handler(|| async { "pong" });
        let mut registry = Registry::new();
        registry.tool(ping)?;
        Ok(registry)
    }

    tool_runtime::main!(
        tools = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/main_macro/tools.json"),
        registry = registry()?,
    );
}

#[tokio::test]
async fn a_server_list_keeps_prompts_and_resources() {
    let pool = with_file::pool().await.expect("a pool");
    let tools: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(tools, ["ping_of_a_file"]);
    assert!(pool.prompts().iter().any(|prompt| prompt.name() == "prompt_beside_a_file"));
    assert!(pool.resources().iter().any(|resource| resource.uri() == "test://beside-a-file"));
}

#[tokio::test]
async fn tests_reach_the_pool_that_is_served() {
    let pool = served::pool().await.expect("a pool");
    assert_eq!(pool.tools().len(), 1);
    assert_eq!(text(&pool, "greet_in_main", r#"{"name":"Ada"}"#).await, "Hello Ada");
}

#[tokio::test]
async fn a_failed_setup_is_an_error_and_does_not_end_the_process() {
    let error = failing::pool().await.expect_err("there is no such file");
    assert!(error.to_string().starts_with("/no/such/file.toml: "), "{error}");
}
