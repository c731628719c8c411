//! Numbers are decoded exactly, or rejected.

// Fields are read by `Debug` alone.
#![allow(dead_code)]

use super::support::{error_text, pool_of, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::mcp::{McpManager, McpServer, McpServerConfig};
use tool_runtime::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nested {
    n: i8,
    small: Option<f32>,
    wide: Option<i128>,
}

/// Take numbers.
#[tool(register = false)]
async fn take_numbers(
    /// An integer.
    a: Option<i64>,
    /// One without a sign.
    b: Option<u8>,
    /// A wide one.
    k: Option<i128>,
    /// A wide one without a sign.
    l: Option<u128>,
    /// A small float.
    f: Option<f32>,
    /// Many.
    many: Option<Vec<Nested>>,
) -> String {
    format!("{a:?} {b:?} {k:?} {l:?} {f:?} {many:?}")
}

#[tokio::test]
async fn a_negative_zero_is_an_integer() {
    let pool = pool_of::<TakeNumbersAction>();
    let answer = text(&pool, "take_numbers", r#"{"a":-0,"b":-0,"many":[{"n":-0}]}"#).await;
    assert!(answer.starts_with("Some(0) Some(0)") && answer.contains("n: 0"), "{answer}");
}

#[tokio::test]
async fn a_wide_integer_is_decoded_exactly() {
    let pool = pool_of::<TakeNumbersAction>();
    let wide = "-170141183460469231731687303715884105728";
    let arguments = format!(
        r#"{{"k":{wide},"l":340282366920938463463374607431768211455,"many":[{{"n":1,"wide":{wide}}}]}}"#
    );
    let answer = text(&pool, "take_numbers", &arguments).await;
    assert_eq!(answer.matches(wide).count(), 2, "{answer}");
    assert!(answer.contains("340282366920938463463374607431768211455"), "{answer}");
}

#[tokio::test]
async fn rejects_by_name_a_value_that_is_not_a_wide_integer() {
    let pool = pool_of::<TakeNumbersAction>();
    let expected = "a number in argument `k` is not an integer of its type; write only digits, without fraction or exponent";
    for number in ["1e20", "1e400", "100000000000000000000.5", &"9".repeat(60)] {
        let arguments = format!(r#"{{"k":{number},"a":1}}"#);
        let error_text = error_text(&pool, "take_numbers", &arguments).await;
        let is_not_json = number == "1e400";
        assert!(error_text.contains(expected) || is_not_json, "{number}: {error_text}");
    }
    let nested = r#"{"many":[{"n":1,"wide":1e20}]}"#;
    let error_text = error_text(&pool, "take_numbers", nested).await;
    assert!(error_text.contains("a number in argument `many`"), "{error_text}");
}

#[tokio::test]
async fn a_float_does_not_become_infinite() {
    let pool = pool_of::<TakeNumbersAction>();
    for arguments in [r#"{"f":1e39}"#, r#"{"many":[{"n":1,"small":-1e39}]}"#] {
        let error_text = error_text(&pool, "take_numbers", arguments).await;
        assert!(error_text.contains("e+39") && error_text.contains("3.4028234"), "{error_text}");
    }
    let answer = text(&pool, "take_numbers", r#"{"f":3.4028235e38}"#).await;
    assert!(answer.contains("Some(3.4028235e38)"), "{answer}");
}

#[derive(Serialize, JsonSchema)]
struct Wide {
    k: i128,
}

/// Give two to the power of an exponent.
#[tool(register = false)]
async fn power_of_two(
    /// The exponent.
    k: i128,
) -> Wide {
    Wide { k: 1 << k }
}

#[tokio::test]
async fn a_wide_integer_passes_a_gateway_unchanged_or_is_rejected() {
    let remote = McpServer::new(pool_of::<PowerOfTwoAction>(), "remote", "1.0.0");
    let pool = ToolPool::builder().build().expect("a pool");
    let manager = McpManager::builder().in_process("remote", remote);
    let _manager = manager.connect(&pool).await.expect("a connection");
    for exponent in [3, 62, 63, 64, 126] {
        let result = pool.call_json("remote.power_of_two", &format!(r#"{{"k":{exponent}}}"#)).await;
        let wide = 1_i128 << exponent;
        assert!(result.contains(&format!(r#""structuredContent":{{"k":{wide}}}"#)), "{result}");
    }
    let rejected = pool.call_json("remote.power_of_two", r#"{"k":18446744073709551616}"#).await;
    assert!(rejected.contains("an integer of more than 64 bits cannot be passed on"), "{rejected}");
}

/// A pool with the tool `remote.raw`, which answers with a given line.
async fn raw(script: Value) -> (ToolPool, McpManager) {
    let remote =
        McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()]);
    let pool = ToolPool::builder().build().expect("a pool");
    let manager = McpManager::builder().server("remote", remote).connect(&pool).await;
    (pool, manager.expect("a connection"))
}

/// The result that a client of a gateway receives when the gateway calls `remote.raw`.
async fn through_a_gateway(pool: ToolPool, line: &str) -> String {
    let client = ToolPool::builder().build().expect("a pool");
    let gateway = McpManager::builder().in_process("gate", McpServer::new(pool, "gate", "1.0.0"));
    let _manager = gateway.connect(&client).await.expect("a connection");
    client.call_json("gate.remote.raw", &json!({ "line": line }).to_string()).await
}

const WIDE: &str = "170141183460469231731687303715884105727";

#[tokio::test]
async fn a_wide_integer_without_a_text_mirror_is_kept_or_rejected() {
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"a"}}],"structuredContent":{{"k":{WIDE}}}}}"#
    );
    let line = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
    let (pool, _manager) = raw(json!({ "tools": ["raw"] })).await;
    let direct = pool.call_json("remote.raw", &json!({ "line": line }).to_string()).await;
    assert!(direct.contains(&format!(r#""structuredContent":{{"k":{WIDE}}}"#)), "{direct}");
    let rejected = through_a_gateway(pool, &line).await;
    let expected = format!("the integer {WIDE}, which is beyond 64 bits and cannot be passed on");
    assert!(rejected.contains(&expected), "{rejected}");
}

#[tokio::test]
async fn a_wide_integer_in_the_result_of_a_task_is_kept() {
    let task = r#""taskId":"1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":20"#;
    let created = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"task",{task},"status":"working"}}}}"#
    );
    let result = format!(r#"{{"content":[],"structuredContent":{{"k":{WIDE}}}}}"#);
    let done = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"resultType":"complete",{task},"status":"completed","result":{result}}}}}"#
    );
    let (pool, _manager) =
        raw(json!({ "version": "2026-07-28", "tools": ["raw"], "task": done })).await;
    let direct = pool.call_json("remote.raw", &json!({ "line": created }).to_string()).await;
    assert!(direct.contains(&format!(r#""structuredContent":{{"k":{WIDE}}}"#)), "{direct}");
    let passed = through_a_gateway(pool, &created).await;
    assert!(passed.contains(&format!(r#""structuredContent":{{"k":{WIDE}}}"#)), "{passed}");
}

/// Scale by a share.
#[tool(register = false)]
async fn scale(
    /// The share.
    #[arg(range = 0..=1, default = 1, example = 0)]
    share: f64,
    /// The factor.
    #[arg(range = (-1.5..2), default = -1)]
    factor: Option<f32>,
) -> String {
    format!("{share} {factor:?}")
}

#[tokio::test]
async fn bounds_of_floats_may_be_written_as_integers() {
    let pool = pool_of::<ScaleAction>();
    let schema = &ScaleAction::definition().input_schema["properties"];
    assert_eq!(schema["share"]["maximum"].as_f64(), Some(1.0));
    assert_eq!(schema["share"]["default"].as_f64(), Some(1.0));
    assert_eq!(schema["factor"]["exclusiveMaximum"].as_f64(), Some(2.0));
    assert_eq!(text(&pool, "scale", "{}").await, "1 Some(-1.0)");
}
