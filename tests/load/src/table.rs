//! Compares our server with rmcp's and with servers written by hand, which are the upper bound. Each row runs all servers
//! in turn, repeatedly, and takes the best run of each to reduce noise from the machine.

mod contender;
mod sameness;

use crate::{Call, Channel, Load, Outcome, ProtocolVersion};
use contender::{Contender, HTTP, STDIO};
use std::io;
use std::time::Duration;

pub use sameness::check as check_equal_answers;

/// Numbers of calls in flight, one row each.
const IN_FLIGHT: [usize; 2] = [1, 64];

/// Duration and rounds of a table.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds per server.
    pub rounds: usize,
    /// Duration of a round.
    pub round_time: Duration,
}

/// Prints the table of standard input and output, as Markdown.
///
/// # Errors
/// If a server cannot be run, or gives a wrong answer.
pub fn stdio(effort: Effort) -> io::Result<()> {
    print_head("stdio", &STDIO);
    for (channel, name) in [(Channel::Pipes, "pipes"), (Channel::Sockets, "sockets")] {
        each_row(name, effort, &STDIO, |contender, load| {
            crate::stdio(contender.command()?, channel, load)
        })?;
    }
    Ok(())
}

/// Prints the table of HTTP, as Markdown.
///
/// # Errors
/// If a server cannot be run, or gives a wrong answer.
pub fn http(effort: Effort) -> io::Result<()> {
    print_head("HTTP", &HTTP);
    each_row("keep-alive", effort, &HTTP, |contender, load| crate::http(contender.command()?, load))
}

fn each_row(
    name: &str,
    effort: Effort,
    contenders: &[Contender],
    run: impl Fn(&Contender, &Load) -> io::Result<Outcome>,
) -> io::Result<()> {
    for version in ProtocolVersion::ALL {
        for in_flight in IN_FLIGHT {
            let load = Load { version, call: Call::add(), in_flight, time: effort.round_time };
            let best = best(effort.rounds, contenders, |contender| run(contender, &load))?;
            print_row(&format!("{name}, {in_flight} at a time, {}", version.as_str()), &best);
        }
    }
    Ok(())
}

/// The best round of each contender.
#[derive(Clone, Copy)]
struct Best {
    rate: f64,
    cpu: Duration,
    p50: Duration,
    peak_rss: u64,
}

fn best(
    rounds: usize,
    contenders: &[Contender],
    run: impl Fn(&Contender) -> io::Result<Outcome>,
) -> io::Result<Vec<Best>> {
    let mut best =
        vec![
            Best { rate: 0.0, cpu: Duration::MAX, p50: Duration::MAX, peak_rss: u64::MAX };
            contenders.len()
        ];
    for _ in 0..rounds {
        for (contender, best) in contenders.iter().zip(&mut best) {
            let outcome = run(contender)?;
            if outcome.wrong > 0 {
                let message = format!("{} answers wrongly: {outcome}", contender.name);
                return Err(io::Error::other(message));
            }
            best.update(&outcome);
        }
    }
    Ok(best)
}

impl Best {
    fn update(&mut self, outcome: &Outcome) {
        self.rate = self.rate.max(outcome.rate());
        self.cpu = self.cpu.min(outcome.cpu_each());
        self.p50 = self.p50.min(outcome.quantile(0.5));
        self.peak_rss = self.peak_rss.min(outcome.peak_rss);
    }
}

#[expect(clippy::print_stdout, reason = "the table is the output of the program")]
fn print_head(what: &str, contenders: &[Contender]) {
    let names: Vec<&str> = contenders.iter().map(|contender| contender.name).collect();
    println!("\n| {what} | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
}

/// CPU time and median latency as multiples of the first row, which has absolute values; memory is absolute.
#[expect(clippy::print_stdout, reason = "the table is the output of the program")]
fn print_row(name: &str, best: &[Best]) {
    let limit = best[0];
    let cells: Vec<String> = best
        .iter()
        .enumerate()
        .map(|(index, one)| {
            let us = |time: Duration| time.as_secs_f64() * 1e6;
            let memory = one.peak_rss as f64 / 1024.0;
            if index == 0 {
                let (rate, cpu, p50) = (one.rate, us(one.cpu), us(one.p50));
                return format!("{rate:.0}/s, {cpu:.1} us CPU, p50 {p50:.0} us, {memory:.1} MiB");
            }
            let cpu = us(one.cpu) / us(limit.cpu);
            let p50 = us(one.p50) / us(limit.p50);
            format!("{cpu:.1} x CPU, {p50:.1} x p50, {memory:.1} MiB")
        })
        .collect();
    println!("| {name} | {} |", cells.join(" | "));
}
