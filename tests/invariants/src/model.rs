//! An arbitrary schema and an arbitrary answer of a model: the tool is exported or left out, the answer is read or
//! rejected, and repair does not alter valid arguments.
//!
//! The first line is the schema, the second the arguments, the rest the lines of a streamed answer.
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tool_runtime::__fuzz::Walker;
use tool_runtime::export::{Api, Export, ResponseStream};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{BoxFuture, CallError};

/// Answers with its arguments.
struct Echo;

impl Executor for Echo {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move { Ok(Observation::text(arguments.as_str())) })
    }
}

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(text: &str) {
    let mut lines = text.split('\n');
    let (schema, arguments) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let stream: Vec<&str> = lines.collect();
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        read(api, &stream);
    }
    let Ok(schema @ Value::Object(_)) = serde_json::from_str::<Value>(schema) else { return };
    export(&schema, arguments);
    repair(&schema, arguments);
}

/// Reads the stream of an answer, and the calls in the answer.
fn read(api: Api, lines: &[&str]) {
    let mut stream = ResponseStream::new(api);
    for line in lines {
        stream.push_line(line).ok();
    }
    let Ok(answer) = stream.finish() else { return };
    let export = Export::new(api, &[]);
    export.calls(&answer).ok();
    export.text(&answer).ok();
    export.next_messages(&answer, &[]).ok();
}

/// Exports a tool and reads a call of it.
fn export(schema: &Value, arguments: &str) {
    let definition = ToolDefinition::new("t", "Echo.").with_input_schema(schema.clone());
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        for export in [Export::new(api, &[&definition]), Export::new(api.strict(), &[&definition])]
        {
            assert_eq!(export.tools().len() + export.left_out().len(), 1);
            let Ok(input) = serde_json::from_str::<Value>(arguments) else { continue };
            let answer = json!({ "content": [
                { "type": "tool_use", "id": "c", "name": "t", "input": input },
            ] });
            export.calls(&answer).ok();
        }
    }
}

/// Calls the tool in a pool that repairs, and in one that does not.
fn repair(schema: &Value, arguments: &str) {
    let tool = || {
        let definition = ToolDefinition::new("t", "Echo.").with_input_schema(schema.clone());
        Tool::new(definition, Echo)
    };
    let Ok(plain) = ToolPool::builder().add(tool()).build() else { return };
    let repairing = ToolPool::builder().add(tool()).repair().build().expect("a pool");
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let call = || ToolCall::new("t", arguments);
    let (plain, repaired) =
        runtime.block_on(async { (plain.call(call()).await, repairing.call(call()).await) });
    let definition = ToolDefinition::new("t", "Echo.").with_input_schema(schema.clone());
    let issues = Walker::of_definition(&definition).issues(Arguments::new(arguments));
    if issues.is_some_and(|issues| issues.is_empty()) {
        assert_eq!(plain.observation().to_text(), repaired.observation().to_text());
    }
}
