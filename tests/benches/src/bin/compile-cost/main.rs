//! What a tool costs to compile, and what it adds to a binary, against rmcp's macros.
//!
//! `cargo run -p benches --bin compile-cost` writes four throwaway crates under the
//! target directory: MCP servers over stdio with 1 and 100 tools, ours and rmcp's. It compiles
//! their dependencies, then each of the four again and again, in turns, and prints the CPU
//! time that compiler and linker took and the sizes of the stripped binaries. Cold, that is
//! some ten minutes; `-- --rounds 1` makes it shorter.
//!
//! Ours comes with a command line, so the two servers are not the same program: what one more
//! tool costs, the last column, is the fair comparison.

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

/// How many tools the two crates of each kind have.
const SIZES: [usize; 2] = [1, 100];

/// CPU seconds of every build of one crate in one profile.
type Times = HashMap<(Kind, usize), Vec<f64>>;

fn main() {
    let workspace = Workspace::write(&SIZES);
    let rounds = rounds();
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
        all(|kind, size| build::run(&workspace, kind, size, profile));
        eprintln!("{profile}: {rounds} rounds");
        time.row(cells(profile, &times(&workspace, profile, rounds)));
    }
    println!("{time}\n{}", sizes(&workspace));
}

fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds");
    let given = arguments.nth(1).and_then(|rounds| rounds.parse().ok());
    given.unwrap_or(3)
}

fn all(mut each: impl FnMut(Kind, usize)) {
    for size in SIZES {
        for kind in [Kind::Ours, Kind::Rmcp] {
            each(kind, size);
        }
    }
}

fn times(workspace: &Workspace, profile: Profile, rounds: usize) -> Times {
    let mut times = Times::new();
    for _ in 0..rounds {
        all(|kind, size| {
            let taken = build::time(workspace, kind, size, profile);
            times.entry((kind, size)).or_default().push(taken);
        });
    }
    times
}

fn cells(profile: Profile, times: &Times) -> [String; 7] {
    let [few, many] = SIZES;
    let of = |kind, size| median(times[&(kind, size)].clone());
    let more = |kind| (of(kind, many) - of(kind, few)) / (many - few) as f64;
    let (ours, rmcp) = (of(Kind::Ours, many), of(Kind::Rmcp, many));
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
    let mut table = Table::new(&["KiB, stripped release binary", "ours", "rmcp", "ours/rmcp"]);
    let [few, many] = SIZES;
    let of = |kind, size| kibibytes(&workspace.binary(kind, size));
    let more = |kind| (of(kind, many) - of(kind, few)) / (many - few) as f64;
    let rows = [
        (format!("{few} tool"), of(Kind::Ours, few), of(Kind::Rmcp, few)),
        (format!("{many} tools"), of(Kind::Ours, many), of(Kind::Rmcp, many)),
        ("a tool more".to_owned(), more(Kind::Ours), more(Kind::Rmcp)),
    ];
    for (what, ours, rmcp) in rows {
        table.row([what, format!("{ours:.1}"), format!("{rmcp:.1}"), ratio(ours / rmcp)]);
    }
    table
}

fn kibibytes(file: &Path) -> f64 {
    let file = std::fs::metadata(file).expect("the binary has been built");
    file.len() as f64 / 1024.0
}
