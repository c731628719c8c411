//! The table of the layer between a pool and a model API: exports and repair.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, linked};
use std::hint::black_box;
use tool_runtime::export::{Api, Export};
use tool_runtime::prelude::*;

/// The numbers as strings, which repair converts.
const AS_TEXTS: &str = r#"{"a": "1234", "b": "40"}"#;

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["for a model", "CPU", "ratio", "allocations"]);
    for rows in [exports(effort), repairs(effort)] {
        for row in rows {
            table.row(cells(&row));
        }
    }
    format!("Ratios are to the first line of each block\n\n{table}")
}

/// 1000 tools. The first line is the minimum of every export.
fn exports(effort: Effort) -> Vec<Measured> {
    let pool = linked::whole_pool();
    let snapshot = pool.snapshot();
    let tools = snapshot.tools();
    let definitions: Vec<&ToolDefinition> = tools.iter().map(|tool| tool.definition()).collect();
    let contenders = vec![
        Contender::new("write 1000 definitions as JSON", || {
            serde_json::to_string(black_box(&definitions)).expect("string keys")
        }),
        Contender::new("export to Anthropic", || Export::new(Api::Anthropic, &definitions)),
        Contender::new("export to OpenAI, strict", || {
            Export::new(Api::OpenAiChat.strict(), &definitions)
        }),
        Contender::new("export to Gemini", || Export::new(Api::Gemini, &definitions)),
        Contender::new("the same snapshot again", || {
            std::sync::Arc::clone(snapshot.export(Api::Gemini).json())
        }),
    ];
    measure(contenders, effort)
}

fn repairs(effort: Effort) -> Vec<Measured> {
    let plain = linked::pool(Case::Search, 1000);
    let repairing = linked::builder(Case::Search, 1000).repair().build().expect("a pool");
    let adding = linked::builder(Case::Add, 1000).repair().build().expect("a pool");
    let call = || ToolCall::new(Case::Search.name(), Case::Search.arguments());
    let contenders = vec![
        Contender::new("a call", || block_on(plain.call(black_box(call())))),
        Contender::new("with repair, valid arguments", || {
            block_on(repairing.call(black_box(call())))
        }),
        Contender::new("two numbers as texts, repaired", || {
            block_on(adding.call(black_box(ToolCall::new(Case::Add.name(), AS_TEXTS))))
        }),
    ];
    measure(contenders, effort)
}

fn cells(row: &Measured) -> [String; 4] {
    [row.name.to_owned(), time(row.nanoseconds), ratio(row.ratio), row.allocations.to_string()]
}
