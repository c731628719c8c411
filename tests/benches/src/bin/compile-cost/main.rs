//! Compile time of a tool, and its share of a binary, compared with rmcp's macros.
//!
//! `cargo run -p benches --bin compile-cost` writes throwaway crates under the target
//! directory: MCP servers over stdio with 1 and 100 tools, ours and rmcp's. It compiles
//! their dependencies, then ours and rmcp's again and again, in turns, and prints the CPU
//! time that compiler and linker took and the sizes of the stripped binaries. Cold, that is
//! some ten minutes; `-- --rounds 1` makes it shorter, `-- --sizes` prints the sizes alone.
//!
//! Our server includes a command line and a log, so the two servers are not the same program.
//! Comparable numbers are the cost of one more tool, and the size of the library alone: the same tools,
//! served by a `main` like rmcp's.

mod build;
mod sources;
mod workspace;

use benches::measure::median;
use benches::table::{Table, ratio};
use build::Profile;
use sources::Kind;
use std::collections::HashMap;
use std::path::Path;
use workspace::Workspace;

/// Numbers of tools in the two crates of each kind.
const SIZES: [usize; 2] = [1, 100];

/// CPU seconds of every build of one crate in one profile.
type Times = HashMap<(Kind, usize), Vec<f64>>;

/// The crates whose compilation is timed: the library alone compiles like ours.
const TIMED: [Kind; 2] = [Kind::Ours, Kind::Rmcp];

fn main() {
    let workspace = Workspace::write(&SIZES);
    if !std::env::args().any(|argument| argument == "--sizes") {
        println!("{}", all_times(&workspace, rounds()));
    }
    all(&Kind::ALL, |kind, size| build::run(&workspace, kind, size, Profile::Release));
    println!("{}", sizes(&workspace));
}

fn all_times(workspace: &Workspace, rounds: usize) -> Table {
    let mut time = Table::new(&[
        "CPU s of the leaf crate",
        "ours",
        "rmcp",
        "ours/rmcp",
        "a tool more: ours",
        "rmcp",
        "ours/rmcp",
    ]);
    for profile in Profile::ALL {
        eprintln!("{profile}: compiling the dependencies");
        all(&TIMED, |kind, size| build::run(workspace, kind, size, profile));
        eprintln!("{profile}: {rounds} rounds");
        time.row(cells(profile, &times(workspace, profile, rounds)));
    }
    time
}

fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds");
    let rounds = arguments.nth(1).and_then(|rounds| rounds.parse().ok());
    rounds.unwrap_or(3)
}

fn all(kinds: &[Kind], mut each: impl FnMut(Kind, usize)) {
    for size in SIZES {
        for kind in kinds {
            each(*kind, size);
        }
    }
}

fn times(workspace: &Workspace, profile: Profile, rounds: usize) -> Times {
    let mut times = Times::new();
    for _ in 0..rounds {
        all(&TIMED, |kind, size| {
            let taken = build::time(workspace, kind, size, profile);
            times.entry((kind, size)).or_default().push(taken);
        });
    }
    times
}

fn cells(profile: Profile, times: &Times) -> [String; 7] {
    let [few, many] = SIZES;
    let time = |kind, size| median(times[&(kind, size)].clone());
    let more = |kind| (time(kind, many) - time(kind, few)) / (many - few) as f64;
    let (ours, rmcp) = (time(Kind::Ours, many), time(Kind::Rmcp, many));
    [
        format!("{profile}, {many} tools"),
        format!("{ours:.2}"),
        format!("{rmcp:.2}"),
        ratio(ours / rmcp),
        format!("{:.4}", more(Kind::Ours)),
        format!("{:.4}", more(Kind::Rmcp)),
        ratio(more(Kind::Ours) / more(Kind::Rmcp)),
    ]
}

fn sizes(workspace: &Workspace) -> Table {
    let mut table = Table::new(&[
        "KiB, stripped release binary",
        "ours",
        "library alone",
        "rmcp",
        "ours/rmcp",
        "library/rmcp",
    ]);
    let [few, many] = SIZES;
    let size_of = |kind, size| kibibytes(&workspace.binary(kind, size));
    let more = |kind| (size_of(kind, many) - size_of(kind, few)) / (many - few) as f64;
    let rows = [
        (format!("{few} tool"), Kind::ALL.map(|kind| size_of(kind, few))),
        (format!("{many} tools"), Kind::ALL.map(|kind| size_of(kind, many))),
        ("a tool more".to_owned(), Kind::ALL.map(more)),
    ];
    for (what, [ours, library, rmcp]) in rows {
        let sizes = [ours, library, rmcp].map(|size| format!("{size:.1}"));
        let [ours_size, library_size, rmcp_size] = sizes;
        let ratios = (ratio(ours / rmcp), ratio(library / rmcp));
        table.row([what, ours_size, library_size, rmcp_size, ratios.0, ratios.1]);
    }
    table
}

fn kibibytes(file: &Path) -> f64 {
    let file = std::fs::metadata(file).expect("the binary has been built");
    file.len() as f64 / 1024.0
}
