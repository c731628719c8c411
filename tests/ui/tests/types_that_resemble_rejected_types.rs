//! Types that resemble rejected types.

#![allow(clippy::ptr_arg)]

use std::sync::{Arc, Mutex};
use tool_runtime::prelude::*;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl<'de> serde::Deserialize<'de> for Box<dyn Shape + Send> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Box::new(Square(f64::deserialize(deserializer)?)))
    }
}

impl schemars::JsonSchema for Box<dyn Shape + Send> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Shape".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number" })
    }
}

/// State with the name of a type that is borrowed text.
struct Path(&'static str);

/// Measure.
#[tool]
async fn measure(
    /// The shape to measure.
    shape: Box<dyn Shape + Send>,
    /// A constant in a type.
    sides: [i64; 1 & 3],
    names: &Vec<String>,
    count: &Mutex<i64>,
    path: &Path,
    other: &Arc<dyn Shape + Send + Sync>,
) -> &'static str {
    assert_eq!(shape.area() + other.area(), 13.0);
    assert_eq!((sides, names.len(), path.0), ([7], 0, "/"));
    *count.lock().expect("no panic before") += 1;
    "done"
}

#[test]
fn compiles_and_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let other: Arc<dyn Shape + Send + Sync> = Arc::new(Square(3.0));
        let builder = ToolPool::builder().tool::<MeasureAction>().state(Path("/")).state(other);
        let pool = builder.state(Vec::<String>::new()).state(Mutex::new(0_i64)).build();
        let pool = pool.expect("a pool");
        let result = pool.call(ToolCall::new("measure", r#"{"shape":2,"sides":[7]}"#)).await;
        assert_eq!(result.observation().to_text(), "done");
    });
}
