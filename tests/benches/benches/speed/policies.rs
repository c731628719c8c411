//! The table of policies: a call under rules.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, linked};
use std::hint::black_box;
use std::time::Duration;
use tool_runtime::policy::{Argument, Policy, PolicyBuilder, Rule, SampleCall};
use tool_runtime::prelude::*;

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["policies", "CPU", "ratio", "allocations"]);
    for rows in [calls(effort), decisions(effort)] {
        for row in rows {
            table.row(cells(&row));
        }
    }
    format!("Ratios are to the first line of each block\n\n{table}")
}

/// Rules about other tools, then one about arguments of the tool, then one that allows.
fn rules(number: usize) -> PolicyBuilder {
    let about = |builder: PolicyBuilder, index: usize| {
        let rule = Rule::deny(format!("r{index}")).tool(&format!("server{index}.*"));
        builder.rule(rule.argument(Argument::new("path").inside(["/etc"])))
    };
    let builder = (2..number).fold(Policy::builder(), about);
    let dear = Rule::deny("dear").argument(Argument::new("a").at_least(1_000_000));
    builder.rule(dear.tool("ad*")).rule(Rule::allow("add").tool("add"))
}

pub(crate) fn policy(number: usize) -> Policy {
    rules(number).build().expect("a policy")
}

fn calls(effort: Effort) -> Vec<Measured> {
    let call = || ToolCall::new(Case::Add.name(), Case::Add.arguments());
    let plain = linked::pool(Case::Add, 1000);
    let pool =
        |policy: Policy| linked::builder(Case::Add, 1000).install(policy).build().expect("a pool");
    let (one, hundred) = (pool(policy(2)), pool(policy(100)));
    let tools =
        pool(Policy::builder().rule(Rule::allow("add").tool("add")).build().expect("rules"));
    let limit = Rule::allow("add").rate(100_000, Duration::from_millis(1), []);
    let limited = pool(Policy::builder().rule(limit).build().expect("a policy"));
    let contenders = vec![
        Contender::new("a call", || block_on(plain.call(black_box(call())))),
        Contender::new("under a rule about its name", || block_on(tools.call(black_box(call())))),
        Contender::new("under 2 rules, one about an argument", || {
            block_on(one.call(black_box(call())))
        }),
        Contender::new("under 100 rules", || block_on(hundred.call(black_box(call())))),
        Contender::new("under a limit", || block_on(limited.call(black_box(call())))),
    ];
    measure(contenders, effort)
}

/// The decision alone.
fn decisions(effort: Effort) -> Vec<Measured> {
    let call = SampleCall::new(Case::Add.name()).arguments_text(Case::Add.arguments());
    let names = Policy::builder().rule(Rule::allow("add").tool("add")).build().expect("a policy");
    let (hundred, many) = (policy(100), policy(10_000));
    let contenders = vec![
        Contender::new("decide by a rule about the name", || names.try_call(black_box(&call))),
        Contender::new("decide by 100 rules", || hundred.try_call(black_box(&call))),
        Contender::new("decide by 10,000 rules", || many.try_call(black_box(&call))),
    ];
    measure(contenders, effort)
}

fn cells(row: &Measured) -> [String; 4] {
    [row.name.to_owned(), time(row.nanoseconds), ratio(row.ratio), row.allocations.to_string()]
}
