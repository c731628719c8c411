//! Arguments as text: a tool decodes exactly the values that its schema allows, and explains each rejection.
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tool_runtime::__fuzz::Walker;
use tool_runtime::prelude::*;
use tool_runtime::tool::Arguments;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    Green,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code)]
enum Shape {
    Circle { radius: u8 },
    Square { side: i16, colour: Option<Colour> },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Tree {
    leaf: Option<bool>,
    #[serde(default)]
    children: Vec<Tree>,
}

/// Take one of each.
#[tool(register = false)]
#[allow(clippy::too_many_arguments, unused_variables)]
async fn take(
    /// A whole number.
    a: i64,
    /// A number that may be left out.
    b: Option<u32>,
    /// A number in a range.
    #[arg(default = 1, range = -10..=10)]
    c: i8,
    /// Any number.
    #[arg(range = ..1.5)]
    d: Option<f64>,
    /// A short text.
    #[arg(length = 1..=5)]
    e: Option<String>,
    /// A word.
    #[arg(pattern = "^[a-z]+$")]
    f: Option<String>,
    /// A date.
    #[arg(format = "date")]
    g: Option<String>,
    /// One of two.
    h: Option<Colour>,
    /// One of two with something in it.
    i: Option<Shape>,
    /// A tree.
    j: Option<Tree>,
    /// A few numbers.
    #[arg(length = ..3)]
    k: Option<Vec<u64>>,
    /// Numbers by name.
    l: Option<BTreeMap<String, i32>>,
    /// Two together.
    m: Option<(bool, char)>,
    /// Anything.
    n: Option<Value>,
    /// By two names.
    #[arg(alias = "p")]
    o: Option<bool>,
) {
}

static SCHEMA: LazyLock<Walker> = LazyLock::new(Walker::for_action::<TakeAction>);

/// Checks an input.
///
/// # Panics
/// The invariant does not hold.
pub fn check(text: &str) {
    // Every rejection can be explained.
    let decoded = TakeAction::decode(Arguments::new(text));
    let issues = SCHEMA.issues(Arguments::new(text));
    assert!(decoded.is_err() || issues.is_some(), "what is not JSON is decoded");
    // A duplicate key is rejected by the decoder, but not by the schema: skip these.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    if value.get("o").is_some() && value.get("p").is_some() {
        return;
    }
    // serde buffers an internally tagged enum, and a buffered `-0` is a float: the error is serde's own.
    if value.get("i").is_some_and(|shape| shape.to_string().contains("-0")) {
        return;
    }
    let text = value.to_string();
    let decoded = TakeAction::decode(Arguments::new(&text)).map(drop);
    let issues = SCHEMA.issues(Arguments::new(&text)).expect("it is JSON");
    assert_eq!(decoded.is_ok(), issues.is_empty(), "{text}: {decoded:?}, but {issues:?}");
}
