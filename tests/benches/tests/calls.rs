//! The measured calls are correct and stay within their limits of allocations. Time is not tested.

use benches::rmcp_server::{handled, routed};
use benches::{Case, allocations, block_on, floor, linked};
use serde_json::Value;
use std::sync::Arc;

fn call(pool: &tool_runtime::ToolPool, case: Case) -> String {
    block_on(pool.call_json(case.name(), case.arguments()))
}

fn by_hand(case: Case) -> String {
    block_on(floor::call(case.name(), case.arguments()))
}

#[test]
fn the_handwritten_server_writes_the_same_bytes() {
    let pool = linked::whole_pool();
    for case in Case::ALL {
        assert_eq!(by_hand(case), call(&pool, case), "{case:?}");
        assert!(by_hand(case).contains("\"type\":\"text\""), "{case:?}");
    }
}

#[test]
fn rmcp_gives_the_same_answers() {
    for case in Case::ALL {
        let (name, arguments) = (case.name(), case.arguments());
        let router = routed(case, 100)(name, arguments);
        let handler = handled(case, linked::ALL)(name, arguments);
        assert_eq!(router, handler, "{case:?}");
        assert_eq!(comparable(&router), comparable(&by_hand(case)), "{case:?}");
    }
}

/// rmcp also writes members with MCP's default values, in another order.
fn comparable(answer: &str) -> Value {
    let mut value: Value = serde_json::from_str(answer).expect("JSON");
    let answer = value.as_object_mut().expect("an object");
    answer.retain(|key, _| key == "content" || key == "structuredContent");
    value
}

#[test]
fn a_call_allocates_at_most_two_more_times_than_the_handwritten_server() {
    let pool = linked::whole_pool();
    for case in Case::ALL {
        let floor = allocations::count(|| by_hand(case));
        let ours = allocations::count(|| call(&pool, case));
        assert!(ours <= floor + 2, "{case:?}: {ours}, the floor {floor}");
    }
}

#[test]
fn allocations_of_a_call_do_not_depend_on_the_number_of_tools() {
    for case in Case::ALL {
        let counts = [1, 10, linked::ALL].map(|size| {
            let pool = linked::pool(case, size);
            allocations::count(|| call(&pool, case))
        });
        assert_eq!(counts, [counts[0]; 3], "{case:?}");
    }
}

#[test]
fn a_second_listing_does_not_allocate() {
    let pool = linked::whole_pool();
    assert_eq!(pool.tools().len(), linked::ALL);
    let first = pool.definitions_json();
    assert_eq!(allocations::count(|| pool.definitions_json()), 0);
    assert!(Arc::ptr_eq(&first, &pool.definitions_json()));
}
