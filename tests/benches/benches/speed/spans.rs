//! The table of spans: a call whose span nothing takes, or something does. The subscribers exist side by side, so each call asks
//! its own one whether it wants the span: an upper bound.

use benches::measure::{Contender, Effort, Measured, measure};
use benches::table::{Table, ratio, time};
use benches::{Case, block_on, linked};
use std::hint::black_box;
use std::io;
use tool_runtime::otel::Telemetry;
use tool_runtime::prelude::*;
use tracing::Dispatch;
use tracing::dispatcher::with_default;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// Calls in a row, beside which the change of the subscriber costs nothing.
const CALLS: u32 = 100;

pub(crate) fn table(effort: Effort) -> String {
    let mut table = Table::new(&["spans, 100 calls", "CPU", "ratio", "allocations"]);
    for row in calls(effort) {
        let Measured { name, nanoseconds, ratio: times, allocations } = row;
        table.row([name.to_owned(), time(nanoseconds), ratio(times), allocations.to_string()]);
    }
    format!("Ratios are to the first line\n\n{table}")
}

/// A subscriber that writes lines from a level on, to nowhere.
fn lines(level: LevelFilter) -> Dispatch {
    let lines = tracing_subscriber::fmt::layer().with_writer(io::sink).with_filter(level);
    Dispatch::new(tracing_subscriber::registry().with(lines))
}

fn calls(effort: Effort) -> Vec<Measured> {
    let pool = linked::pool(Case::Add, 1000);
    let call = || ToolCall::new(Case::Add.name(), Case::Add.arguments());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let telemetry =
        runtime.expect("a runtime").block_on(async { Telemetry::scraped("bench", "1") });
    let metrics = Dispatch::new(tracing_subscriber::registry().with(telemetry.layer()));
    let subscribers = [
        ("no subscriber", Dispatch::none()),
        ("lines from `warn` on", lines(LevelFilter::WARN)),
        ("lines from `info` on", lines(LevelFilter::INFO)),
        ("metrics", metrics),
    ];
    let contenders = subscribers.iter().map(|(name, subscriber)| {
        Contender::new(name, || {
            with_default(subscriber, || {
                for _ in 0..CALLS {
                    black_box(block_on(pool.call(black_box(call()))));
                }
            });
        })
    });
    measure(contenders.collect(), effort)
}
