//! The table of a pool of a thousand tools: building, listing, listing again.

use benches::linked;
use benches::measure::{Contender, Effort, Measured, measure};
use benches::rmcp_server::whole;
use benches::table::{Table, ratio, time};

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["1000 tools", "CPU", "ratio", "allocations"]);
    for rows in [building(effort), listing(effort)] {
        for row in rows {
            table.row(cells(&row));
        }
    }
    format!("Ratios are to the first line of each block\n\n{table}")
}

/// The pool creates every schema. rmcp keeps the schema of a type for its thread, and most of its tools here have
/// one type, so that its line is a lower bound.
fn building(effort: Effort) -> Vec<Measured> {
    let contenders = vec![
        Contender::new("build the pool", linked::whole_pool),
        Contender::new("build and list", || {
            let pool = linked::whole_pool();
            pool.definitions_json().len()
        }),
        Contender::new("rmcp: build the router", whole),
    ];
    measure(contenders, effort)
}

/// Clients receive text: the pool caches it, and a listing copies it.
fn listing(effort: Effort) -> Vec<Measured> {
    let pool = linked::whole_pool();
    let router = whole();
    let listing = pool.definitions_json().to_string();
    let contenders = vec![
        Contender::new("a copy of the listing", || listing.clone()),
        Contender::new("list again", || pool.definitions_json().to_string()),
        Contender::new("rmcp: list again, as text", || serde_json::to_string(&router.list_all())),
    ];
    measure(contenders, effort)
}

fn cells(row: &Measured) -> [String; 4] {
    [row.name.to_owned(), time(row.nanoseconds), ratio(row.ratio), row.allocations.to_string()]
}
