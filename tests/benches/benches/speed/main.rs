//! Speed of calls, and costs of a pool. `cargo bench -p benches` runs criterion's groups
//! and then prints the table of ratios; `-- --table` prints only the tables, `-- --table log` those whose
//! name is given, `-- --test` runs everything once and measures nothing.

mod calls;
mod groups;
mod log;
mod models;
mod nats;
mod policies;
mod pools;
mod remote;
mod rules;
mod spans;

use benches::measure::Effort;

/// Measures and formats a table.
type Table = fn(Effort) -> String;

fn main() {
    let has_flag = |flag: &str| std::env::args().any(|argument| argument == flag);
    if !has_flag("--table") {
        groups::run();
    }
    let effort = if has_flag("--test") { Effort::QUICK } else { Effort::FULL };
    let tables: [(&str, Table); 9] = [
        ("calls", calls::table),
        ("pools", pools::table),
        ("rules", rules::table),
        ("models", models::table),
        ("policies", policies::table),
        ("log", log::table),
        ("spans", spans::table),
        ("remote", remote::table),
        ("nats", nats::table),
    ];
    let is_one = tables.iter().any(|(name, _)| has_flag(name));
    for (_, table) in tables.into_iter().filter(|(name, _)| !is_one || has_flag(name)) {
        println!("\n{}", table(effort));
    }
}
