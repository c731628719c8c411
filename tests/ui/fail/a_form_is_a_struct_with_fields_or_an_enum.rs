use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::ToolContext;
use tool_runtime::prelude::Form;

#[derive(Deserialize, JsonSchema, Form)]
struct Pair(String, u8);

#[derive(Deserialize, JsonSchema, Form)]
struct Isbn(String);

#[derive(Deserialize, JsonSchema, Form)]
struct Unit;

#[derive(Deserialize, JsonSchema, Form)]
struct Empty {}

#[derive(Form)]
union Bits {
    _bits: u8,
}

#[derive(Deserialize, JsonSchema, Form)]
enum Shape {
    Point,
    Circle { _radius: u8 },
    Square(u8),
}

#[derive(Deserialize, JsonSchema, Form)]
struct Generic<T> {
    _value: T,
}

#[derive(JsonSchema, Form)]
struct Borrowed<'a> {
    _text: &'a str,
}

// A rejected form is not reported again where it is used.
async fn ask(context: &ToolContext) {
    let _ = context.ask::<Shape>("shape", "Which shape?").await;
}

fn main() {}
