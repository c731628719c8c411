//! Prints a table of all cases and servers.
#![allow(clippy::print_stdout, reason = "a program for people")]

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() {
    use file_servers::{Outcome, Server, cases};
    let rivals = [Server::Reference.installed(), Server::RustMcp.installed()];
    let servers: Vec<_> = [Server::build_toolbox()].into_iter().chain(rivals).collect();
    let names: Vec<_> = servers.iter().map(|server| format!("`{}`", server.name())).collect();
    let names = names.join(" | ");
    println!("| Case | {names} |");
    println!("|---|{}", "---|".repeat(servers.len()));
    let mut kept = vec![0; servers.len()];
    let cases = cases();
    for case in &cases {
        let mut cells = Vec::new();
        for (server, kept) in servers.iter().zip(&mut kept) {
            let outcome = case.outcome(server).await;
            *kept += usize::from(outcome == Outcome::Kept);
            cells.push(outcome.to_string());
        }
        println!("| {} | {} |", case.name, cells.join(" | "));
    }
    let sums: Vec<_> = kept.iter().map(|kept| format!("{kept} of {}", cases.len())).collect();
    println!("| kept | {} |", sums.join(" | "));
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("The cases need Linux.");
}
