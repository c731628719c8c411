//! Criterion's groups: the same work, compared with earlier runs.

use crate::calls::SIZES;
use benches::rmcp_server::{handled, routed};
use benches::{Case, block_on, floor, linked};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use std::hint::black_box;
use std::time::Duration;

pub(crate) fn run() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(40)
        .configure_from_args();
    calls(&mut criterion);
    pools(&mut criterion);
    criterion.final_summary();
}

fn calls(criterion: &mut Criterion) {
    for case in Case::ALL {
        let mut group = criterion.benchmark_group(case.name());
        group.bench_function("floor", |bencher| {
            bencher.iter(|| {
                block_on(floor::call(black_box(case.name()), black_box(case.arguments())))
            });
        });
        for size in SIZES {
            ours(&mut group, case, size);
        }
        rmcps(&mut group, case);
        group.finish();
    }
}

fn ours(group: &mut BenchmarkGroup<'_, WallTime>, case: Case, size: usize) {
    let pool = linked::pool(case, size);
    group.bench_function(BenchmarkId::new("pool", size), |bencher| {
        bencher
            .iter(|| block_on(pool.call_json(black_box(case.name()), black_box(case.arguments()))));
    });
}

/// The table has the other sizes: a prebuilt router is as flat as a pool.
fn rmcps(group: &mut BenchmarkGroup<'_, WallTime>, case: Case) {
    let (routed, handled) = (routed(case, 100), handled(case, 100));
    group.bench_function(BenchmarkId::new("rmcp ToolRouter", 100), |bencher| {
        bencher.iter(|| routed(black_box(case.name()), black_box(case.arguments())));
    });
    group.bench_function(BenchmarkId::new("rmcp tool_handler", 100), |bencher| {
        bencher.iter(|| handled(black_box(case.name()), black_box(case.arguments())));
    });
}

fn pools(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pool of 1000");
    group.sample_size(10);
    group.bench_function("build", |bencher| bencher.iter(linked::whole_pool));
    let pool = linked::whole_pool();
    group.bench_function("list again", |bencher| {
        bencher.iter(|| pool.definitions_json().to_string());
    });
    group.finish();
}
