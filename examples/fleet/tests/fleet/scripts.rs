//! The scripts of the README.

use super::processes::{FLEET, Process, in_time, run};
use std::path::Path;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

fn script(name: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    command.env("FLEET_PROGRAMS", Path::new(FLEET).parent().unwrap());
    command
}

#[tokio::test]
async fn a_rolling_restart_of_all_runners_is_not_noticed_by_1000_calls() {
    let (code, printed, errors) = run(script("rolling-restart")).await;
    let last = printed.lines().last().unwrap_or_default();
    let expected = "1000 of 1000 calls answered, 0 failed, 0 changes of the list, 333 lines appended, 0 of them twice";
    assert_eq!((code, last), (Some(0), expected), "{printed}{errors}");
}

#[tokio::test]
async fn a_rolling_update_to_another_version_of_a_tool_fails_no_call() {
    let (code, printed, errors) = run(script("rolling-update")).await;
    let last = printed.lines().last().unwrap_or_default();
    let expected = "1000 of 1000 calls answered, 0 failed, 1 changes of the list";
    assert_eq!((code, last), (Some(0), expected), "{printed}{errors}");
}

#[tokio::test]
async fn start_shows_the_fleet_and_ends_it_with_itself() {
    let mut start = Process::start(script("start"));
    let mut lines = BufReader::new(start.stdout()).lines();
    let mut printed = Vec::new();
    while let Some(line) = in_time(lines.next_line()).await.unwrap() {
        let is_last = line.starts_with("Ctrl-C");
        printed.push(line);
        if is_last {
            break;
        }
    }
    let has = |text: &str| printed.iter().any(|line| line.contains(text));
    for text in ["queue files: 2 runners, 3 tools", "queue math: 2 runners, 1 tool", "search.find"]
    {
        assert!(has(text), "{text} in {printed:#?}");
    }
    let address = printed.iter().find_map(|line| line.strip_prefix("hub http://")).unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_ok());
    start.terminate();
    assert_eq!(start.ended().await.code(), Some(143));
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
