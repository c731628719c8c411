//! The table of features around a call: batches, restrictions, hooks, resources.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, linked};
use std::hint::black_box;
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;

/// Calls per batch.
const BATCH: usize = 100;

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["around `add`", "CPU", "ratio", "allocations"]);
    for rows in [single(effort), batches(effort), restricting(effort)] {
        for row in rows {
            table.row(cells(&row));
        }
    }
    format!("Ratios are to the first line of each block\n\n{table}")
}

fn call() -> ToolCall {
    ToolCall::new(Case::Add.name(), Case::Add.arguments())
}

/// One call with one additional feature.
fn single(effort: Effort) -> Vec<Measured> {
    let plain = linked::pool(Case::Add, 1000);
    let restricted = linked::pool(Case::Add, 1000);
    let _restriction = restricted.restrict(["add"]).expect("a pattern");
    let hook = Hook::before("add", |_: HookCall| async { Before::proceed() });
    let hooked = linked::builder(Case::Add, 1000).hook(hook).build().expect("a pool");
    let after = Hook::after("add", |_: HookCall, _: AfterCall| async { After::keep() });
    let watched = linked::builder(Case::Add, 1000).hook(after).build().expect("a pool");
    let keyed = ToolPool::builder().tool::<AddAction>().build().expect("a pool");
    let contenders = vec![
        Contender::new("a call", || block_on(plain.call(black_box(call())))),
        Contender::new("under a restriction", || block_on(restricted.call(black_box(call())))),
        Contender::new("with a hook", || block_on(hooked.call(black_box(call())))),
        Contender::new("with a hook after it", || block_on(watched.call(black_box(call())))),
        Contender::new("with a resource", || block_on(keyed.call(black_box(call())))),
    ];
    measure(contenders, effort)
}

/// The same calls, one after the other and as one batch.
fn batches(effort: Effort) -> Vec<Measured> {
    let pool = linked::pool(Case::Add, 1000);
    let calls = vec![call(); BATCH];
    let contenders = vec![
        Contender::new("100 calls", || {
            block_on(async {
                let mut results = Vec::with_capacity(BATCH);
                for call in calls.clone() {
                    results.push(pool.call(call).await);
                }
                results
            })
        }),
        Contender::new("a batch of 100", || block_on(pool.call_all(calls.clone()))),
    ];
    measure(contenders, effort)
}

fn restricting(effort: Effort) -> Vec<Measured> {
    let pool = linked::whole_pool();
    let contenders = vec![
        Contender::new("list 1000 tools", || pool.tools().len()),
        Contender::new("restrict to a glob, and back", || pool.restrict(["*_1?"]).expect("a glob")),
    ];
    measure(contenders, effort)
}

/// Add two integers.
#[tool(read_only, idempotent, register = false, reads("key:a"))]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

fn cells(row: &Measured) -> [String; 4] {
    [row.name.to_owned(), time(row.nanoseconds), ratio(row.ratio), row.allocations.to_string()]
}
