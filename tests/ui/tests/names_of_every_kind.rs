//! Raw identifiers, names that generated code might use itself, dots, many arguments.

use tool_runtime::prelude::*;

/// Match a word.
#[tool]
async fn r#match(
    /// The kind of word.
    r#type: String,
    /// A keyword of edition 2024.
    r#gen: i64,
) -> String {
    format!("{type} {gen}", gen = r#gen)
}

/// Take names that generated code might take, too.
#[tool]
#[allow(non_snake_case, clippy::too_many_arguments)]
async fn locals(
    /// 1
    self_: i64,
    /// 2
    #[arg(default = 2, range = 0..=9)]
    context: i64,
    /// 3
    reader: i64,
    /// 4
    index: i64,
    /// 5
    schema: i64,
    /// 6
    __index: i64,
    /// 7
    result: i64,
    /// 8
    __context: i64,
    /// 9
    __TYPES: i64,
    /// 10
    __reader: i64,
    /// 11
    __value: i64,
    /// 12
    __slot_index: i64,
    /// 13
    action: i64,
    /// 14
    locals: i64,
    /// 15
    LocalsAction: i64,
    /// 16
    tool: i64,
    /// 17
    decode: i64,
    the_real_context: &ToolContext,
) -> i64 {
    assert!(!the_real_context.is_cancelled());
    self_
        + context
        + reader
        + index
        + schema
        + __index
        + result
        + __context
        + __TYPES
        + __reader
        + __value
        + __slot_index
        + action
        + locals
        + LocalsAction
        + tool
        + decode
}

/// Begin with a digit.
#[tool(name = "2d.plot-it")]
fn _2d() {}

mod left {
    use tool_runtime::prelude::*;

    /// Go left.
    #[tool(register = false)]
    pub(crate) async fn go() -> &'static str {
        "left"
    }
}

mod right {
    use tool_runtime::prelude::*;

    /// Go right.
    #[tool(name = "right.go", action = Right, register = false)]
    pub(crate) async fn go() -> &'static str {
        "right"
    }
}

#[tokio::test]
async fn compiles_and_runs() {
    let pool = ToolPool::builder()
        .linked()
        .tool::<left::GoAction>()
        .tool::<right::Right>()
        .build()
        .unwrap();
    let tools = pool.tools();
    let names: Vec<&str> = tools.iter().map(Tool::name).collect();
    assert_eq!(names, ["2d.plot-it", "go", "locals", "match", "right.go"]);
    let matched = pool.call_json("match", r#"{"type":"verb","gen":1}"#).await;
    assert!(matched.contains("verb 1"), "{matched}");
    let arguments = r#"{"self_":1,"reader":3,"index":4,"schema":5,"__index":6,"result":7,
        "__context":8,"__TYPES":9,"__reader":10,"__value":11,"__slot_index":12,"action":13,
        "locals":14,"LocalsAction":15,"tool":16,"decode":17}"#;
    let sum = pool.call_json("locals", arguments).await;
    assert!(sum.contains("153"), "{sum}");
    assert!(pool.call_json("go", "").await.contains("left"));
    assert!(pool.call_json("right.go", "").await.contains("right"));
    let by_hand = MatchAction { r#type: "noun".into(), r#gen: 2 };
    assert_eq!(by_hand.run(&ToolContext::default()).await, "noun 2");
}
