//! The table of calls: by name, JSON text to JSON text.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::rmcp_server::{handled, routed};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, floor, linked};
use std::hint::black_box;

/// Number of tools in the pool.
pub(crate) const SIZES: [usize; 3] = [1, 100, 1000];

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["call", "tools", "by", "CPU", "to the floor", "allocations"]);
    for case in Case::ALL {
        for size in SIZES {
            for row in measured(case, size, effort) {
                table.row(cells(case, size, &row));
            }
        }
    }
    format!("A call by name, JSON text to JSON text (thread CPU, medians)\n\n{table}")
}

fn measured(case: Case, size: usize, effort: Effort) -> Vec<Measured> {
    let (name, arguments) = (case.name(), case.arguments());
    let pool = linked::pool(case, size);
    let (routed, handled) = (routed(case, size), handled(case, size));
    let contenders = vec![
        Contender::new("floor, by hand", || {
            block_on(floor::call(black_box(name), black_box(arguments)))
        }),
        Contender::new("ToolPool::call_json", || {
            block_on(pool.call_json(black_box(name), black_box(arguments)))
        }),
        Contender::new("rmcp ToolRouter", || routed(black_box(name), black_box(arguments))),
        Contender::new("rmcp #[tool_handler]", || handled(black_box(name), black_box(arguments))),
    ];
    measure(contenders, effort)
}

fn cells(case: Case, size: usize, row: &Measured) -> [String; 6] {
    [
        case.name().to_owned(),
        size.to_string(),
        row.name.to_owned(),
        time(row.nanoseconds),
        ratio(row.ratio),
        row.allocations.to_string(),
    ]
}
