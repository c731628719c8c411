//! Speed of calls, and costs of a pool. `cargo bench -p benches` runs criterion's groups
//! and then prints the table of ratios; `-- --table` prints only the table, `-- --test` runs
//! everything once and measures nothing.

mod calls;
mod groups;
mod log;
mod models;
mod policies;
mod pools;
mod rules;

use benches::measure::Effort;

fn main() {
    let has_flag = |flag: &str| std::env::args().any(|argument| argument == flag);
    if !has_flag("--table") {
        groups::run();
    }
    let effort = if has_flag("--test") { Effort::QUICK } else { Effort::FULL };
    for table in
        [calls::table, pools::table, rules::table, models::table, policies::table, log::table]
    {
        println!("\n{}", table(effort));
    }
}
