//! A binary with one schema that has a pattern. Code that creates such a schema links and enables
//! regular expressions; this binary has no other such code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, DecodeError};
use tool_runtime::{CallError, ToolPoolBuilder};

/// A type whose schema is stricter than its decoder.
#[derive(Deserialize, JsonSchema)]
struct Code {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    code: String,
}

/// A type whose schema is stricter than its fields.
#[derive(Serialize, JsonSchema)]
struct GivenCode {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    code: String,
}

/// Take a code.
#[tool]
async fn take(
    /// The code.
    code: Code,
) -> String {
    code.code
}

/// Take a name.
#[tool]
async fn spell(
    /// The code.
    #[arg(pattern = "^[a-z]+$")]
    code: String,
) -> String {
    code
}

/// Take anything.
#[tool]
async fn plain(
    /// The code.
    code: String,
) -> String {
    code
}

/// Return a code.
#[tool]
async fn give(
    /// The code.
    code: String,
) -> GivenCode {
    GivenCode { code }
}

/// An action written by hand, with a modified definition of another action.
struct ByHand(String);

impl Action for ByHand {
    const NAME: &'static str = "by_hand";
    type Output = String;

    fn definition() -> ToolDefinition {
        let mut definition = PlainAction::definition();
        definition.name = "by_hand".to_owned();
        definition.input_schema["properties"]["code"]["pattern"] = json!("^[a-z]+$");
        definition
    }

    fn decode(arguments: Arguments<'_>) -> Result<Self, DecodeError> {
        PlainAction::decode(arguments).map(|plain| Self(plain.code))
    }

    async fn run(self, _: &ToolContext) -> String {
        self.0
    }

    fn observe(output: String) -> Result<Observation, ToolError> {
        output.into_observation()
    }
}

fn by_builder() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "code": { "type": "string", "pattern": "^[a-z]+$" } },
    });
    let tool = Tool::builder("by_builder", "Take a code.").input_schema(schema);
    tool.handler(|arguments: serde_json::Value| async move { arguments.to_string() })
}

#[tokio::main]
async fn main() {
    let kind = std::env::args().nth(1).expect("the kind of tool that has the pattern");
    let pool = match kind.as_str() {
        "type" => ToolPool::builder().tool::<TakeAction>(),
        "output" => ToolPool::builder().tool::<GiveAction>().check_outputs(),
        "unchecked output" => ToolPool::builder().tool::<GiveAction>(),
        "argument" => ToolPool::builder().tool::<SpellAction>(),
        "action" => ToolPool::builder().tool::<ByHand>(),
        "builder" => ToolPool::builder().add(by_builder()),
        other => panic!("no {other} can hold a pattern"),
    };
    report(pool).await;
}

/// Calls the tool with a code that does not match.
#[allow(clippy::print_stdout)]
async fn report(pool: ToolPoolBuilder) {
    let pool = pool.build().expect("a working pool");
    let tool = pool.tools()[0].name().to_owned();
    let arguments = match tool.as_str() {
        "take" => json!({ "code": { "code": "A1" } }),
        _ => json!({ "code": "A1" }),
    };
    let result = pool.call(ToolCall::json(&tool, arguments)).await;
    let detail = result.error().and_then(CallError::detail).unwrap_or_default();
    println!("{} {detail}", result.observation().to_text());
}
