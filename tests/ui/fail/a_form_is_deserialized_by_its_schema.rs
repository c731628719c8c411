use tool_runtime::prelude::*;

#[derive(schemars::JsonSchema, Form)]
struct Guest {
    _name: String,
}

#[derive(serde::Deserialize, Form)]
enum Meal {
    Green,
    Red,
}

fn main() {}
