use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use tool_runtime::prelude::*;

#[derive(Deserialize, JsonSchema, Form)]
struct Address {
    _street: String,
}

#[derive(Deserialize, JsonSchema)]
enum Meal {
    Green,
}

#[derive(Deserialize, JsonSchema, Form)]
struct Guest {
    _name: String,
    _address: Address,
    _others: Option<Vec<Address>>,
    _rows: Vec<Vec<String>>,
    _meal: Meal,
    _notes: BTreeMap<String, String>,
    _unknown: Unknown,
}

fn main() {}
