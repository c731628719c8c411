use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::prelude::*;

#[derive(Deserialize, JsonSchema, Form)]
#[form(title = "Guest")]
struct Guest {
    _name: String,
}

#[derive(Deserialize, JsonSchema, Form)]
#[form]
struct Table {
    #[form(title = "Seats")]
    _seats: u8,
}

#[derive(Deserialize, JsonSchema, Form)]
#[form(crate = 1)]
enum Meal {
    #[form(title = "Green")]
    Green,
}

fn main() {}
