//! Argument types, defaults, constraints and serde's own attributes.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime::prelude::*;

const MOST: i64 = 50;
const FIRST: &str = "first";

type Maybe<T> = Option<T>;
type Names = Vec<String>;

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
enum External {
    Unit,
    Tuple(i64),
    Struct { x: i64 },
}

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    A { x: i64 },
}

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(i64),
}

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
}

/// No `Serialize`: its default is simply not advertised.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    #[serde(default)]
    is_deep: bool,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Page {
    /// The maximum number of results.
    #[serde(default = "ten")]
    size: i64,
    /// The first element.
    start: Option<i64>,
}

fn ten() -> i64 {
    10
}

fn names() -> Names {
    vec!["a".to_owned()]
}

/// Take all kinds of types.
#[tool]
#[allow(
    clippy::too_many_arguments,
    clippy::unit_arg,
    reason = "one parameter of each type, also of `()`"
)]
async fn kinds(
    /// 1
    tuple: (i64, String),
    /// 2
    array: [f64; 3],
    /// 3
    external: External,
    /// 4
    internal: Internal,
    /// 5
    adjacent: Adjacent,
    /// 6
    untagged: Vec<Untagged>,
    /// 7
    maybe: Maybe<Names>,
    /// 8
    map: HashMap<String, BTreeSet<u8>>,
    /// 9
    value: serde_json::Value,
    /// 10
    path: PathBuf,
    /// 11
    address: Option<IpAddr>,
    /// 12
    nested: Option<Option<Box<External>>>,
    /// 13
    text: Cow<'static, str>,
    /// 14
    duration: Option<Duration>,
    /// 15
    bits: [u8; 1 & 3],
    /// 16
    unit: (),
) -> String {
    format!(
        "{tuple:?} {array:?} {external:?} {internal:?} {adjacent:?} {untagged:?} {maybe:?} {map:?} {value} {path:?} {address:?} {nested:?} {text} {duration:?} {bits:?} {unit:?}"
    )
}

/// Take defaults of all kinds.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn defaults(
    /// 1
    #[arg(default)]
    zero: i64,
    /// 2
    #[arg(default = -1)]
    negative: i64,
    /// 3
    #[arg(default = "text")]
    text: String,
    /// 4
    #[arg(default = FIRST.into())]
    constant: Cow<'static, str>,
    /// 5
    #[arg(default = names())]
    called: Names,
    /// 6
    #[arg(default = Some(3))]
    some: Option<i64>,
    /// 7
    #[arg(default = None)]
    none: Option<String>,
    /// 8
    #[arg(default, allow_unknown_fields)]
    options: Options,
    /// 9
    #[arg(default = External::Struct { x: 1 })]
    external: External,
    /// 10
    #[arg(default = { let x = 1; x + 1 })]
    block: u8,
    /// 11
    #[arg(default = "/tmp")]
    path: PathBuf,
    /// 12
    #[arg(default = if MOST > 1 { 'a' } else { 'b' })]
    letter: char,
    /// 13
    #[arg(default = vec![1, 2].into_iter().map(|x: i64| x * 2).collect())]
    computed: Vec<i64>,
    /// 14
    #[arg(default = -5, example = 7)]
    literal: Option<i64>,
) -> String {
    format!(
        "{zero} {negative} {text} {constant} {called:?} {some:?} {none:?} {} {external:?} {block} {path:?} {letter} {computed:?} {literal:?}",
        options.is_deep
    )
}

/// Take constraints of all kinds.
#[tool]
#[allow(clippy::too_many_arguments)]
async fn constraints(
    /// 1
    #[arg(range = 1..=MOST, default = MOST / 2, alias("n", "count"))]
    number: i64,
    /// 2
    #[arg(range = ..0.5)]
    float: Option<f32>,
    /// 3
    #[arg(range = -5..)]
    open: i8,
    /// 4
    #[arg(range = i64::MIN..=i64::MAX)]
    widest: i64,
    /// 5
    #[arg(range = (1 + 1)..=(MOST as u64))]
    computed: u64,
    /// 6
    #[arg(length = 1..)]
    list: Vec<String>,
    /// 7
    #[arg(length = ..=3, pattern = r"^\p{L}*$", format = "of-my-own", secret)]
    text: Option<String>,
    /// 8
    #[arg(format = "uuid", example = "b1946ac9-2492-4d23-8d3a-5e9f7f3d8c11", rename = "the-id")]
    id: String,
) -> String {
    format!("{number} {float:?} {open} {widest} {computed} {list:?} {text:?} {id}")
}

/// Take a page of something.
#[tool]
async fn pages(
    #[arg(flatten)] page: Page,
    /// The kind of items.
    of: String,
) -> String {
    format!("{} {:?} {of}", page.size, page.start)
}

/// Take a schema word for word.
#[tool(input_schema = serde_json::json!({ "type": "object", "properties": { "x": {} } }), meta = serde_json::json!({ "a": 1 }))]
async fn verbatim(
    /// Anything.
    x: Option<serde_json::Value>,
) -> String {
    format!("{x:?}")
}

async fn text(pool: &ToolPool, name: &str, arguments: &str) -> String {
    let result = pool.call(ToolCall::new(name, arguments)).await;
    assert!(!result.is_error(), "{:?}", result.observation());
    result.observation().to_text()
}

#[tokio::test]
async fn compiles_and_runs() {
    let pool = ToolPool::builder().linked().build().unwrap();
    let arguments = r#"{"tuple":[1,"a"],"array":[1,2,3],"external":{"Tuple":1},
        "internal":{"kind":"A","x":1},"adjacent":{"t":"A","c":1},"untagged":[1,"a"],"map":{"a":[1]},
        "value":{"a":null},"path":"/a","text":"t","bits":[1],"unit":null}"#;
    assert_eq!(
        text(&pool, "kinds", arguments).await,
        r#"(1, "a") [1.0, 2.0, 3.0] Tuple(1) A { x: 1 } A(1) [Number(1), Text("a")] None {"a": {1}} {"a":null} "/a" None None t None [1] ()"#
    );
    assert_eq!(
        text(&pool, "defaults", "{}").await,
        r#"0 -1 text first ["a"] Some(3) None false Struct { x: 1 } 2 "/tmp" a [2, 4] Some(-5)"#
    );
    let definition = DefaultsAction::definition();
    assert_eq!(definition.argument("external").unwrap()["default"]["Struct"]["x"], 1);
    assert_eq!(definition.argument("literal").unwrap()["default"], -5);
    assert!(definition.argument("options").unwrap().get("default").is_none());
    assert_eq!(
        text(&pool, "constraints", r#"{"open":0,"count":3,"widest":1,"computed":2,"list":["a"],"the-id":"b1946ac9-2492-4d23-8d3a-5e9f7f3d8c11"}"#).await,
        r#"3 None 0 1 2 ["a"] None b1946ac9-2492-4d23-8d3a-5e9f7f3d8c11"#
    );
    let refused = pool
        .call_json(
            "constraints",
            r#"{"open":-6,"n":51,"widest":1,"computed":1,"list":[],"the-id":"x"}"#,
        )
        .await;
    for word in ["open", "number", "computed", "list", "the-id"] {
        assert!(refused.contains(word), "{refused}");
    }
    assert_eq!(text(&pool, "pages", r#"{"of":"words","start":3}"#).await, "10 Some(3) words");
    assert_eq!(text(&pool, "verbatim", r#"{"x":1}"#).await, "Some(Number(1))");
    let typed = PagesAction { page: Page { size: 1, start: None }, of: "words".into() };
    assert!(typed.run(&pool.context()).await.starts_with("1 None"));
}
