//! Runners of one queue that flood callers: the other queues stay as they are.

use super::fleet::*;
use crate::catalogue::Catalogue;
use crate::message::{self, Presence};
use crate::payload::BlobRef;
use crate::{Board as _, LocalBoard, Queue, RunnerId, Topic};
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_core::tool::Tool;

/// The presence of one of many runners of the queue `evil`.
fn presence(number: usize, catalogue: BlobRef) -> Presence {
    Presence::new(RunnerId::from(&*format!("evil.h-{number}")), evil(), 1, catalogue)
}

fn evil() -> Queue {
    "evil".parse().unwrap()
}

async fn announce(board: &LocalBoard, presence: &Presence) {
    board.send(&Topic::Presence(evil()), message::write(presence)).await.unwrap();
}

/// Stores the catalogue of a tool.
async fn store(board: &LocalBoard, tool: &str) -> BlobRef {
    let tool = Tool::builder(tool, "Harm.").handler(|| async { "done" });
    board.put(message::write(&Catalogue::from_pool(&pool([tool])))).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn many_runners_of_one_queue_leave_room_for_others() {
    let fleet = Fleet::new();
    let (pool, remote) = fleet.connect().await;
    let board = fleet.board("evil");
    let catalogue = store(&board, "harm").await;
    for number in 0..1100 {
        announce(&board, &presence(number, catalogue.clone())).await;
        // A listener is bounded.
        tokio::task::yield_now().await;
    }
    let _runner = fleet.run([ping()]);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(text(&call(&pool, "ping").await), "pong");
    let problems = remote.status().await.problems;
    let expected = "queue `evil` has more than 1000 runners; further ones are left out";
    assert!(problems.iter().any(|problem| problem == expected), "{problems:?}");
}

#[tokio::test(start_paused = true)]
async fn a_presence_that_is_too_long_is_left_out() {
    let fleet = Fleet::new();
    let (pool, remote) = fleet.connect().await;
    let board = fleet.board("evil");
    let mut long = presence(1, store(&board, "harm").await);
    long.labels.insert("a".to_owned(), "x".repeat(20_000));
    announce(&board, &long).await;
    sleep(Duration::from_secs(1)).await;
    assert!(pool.get("harm").is_none());
    let problems = remote.status().await.problems;
    assert!(problems[0].contains("bytes; at most 16384 are read"), "{problems:?}");
    let runner = fleet.runner().label("a", "x".repeat(20_000));
    let refused = runner.serve_until(&self::pool([ping()]), &Default::default()).await;
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("use fewer or shorter labels"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn of_many_lists_of_tools_those_of_the_most_runners_count() {
    let fleet = Fleet::new();
    let (pool, remote) = fleet.connect().await;
    let board = fleet.board("evil");
    for number in 0..20 {
        let catalogue = store(&board, &format!("harm{number}")).await;
        announce(&board, &presence(number, catalogue)).await;
    }
    let common = store(&board, "common").await;
    for number in 20..22 {
        announce(&board, &presence(number, common.clone())).await;
    }
    sleep(Duration::from_secs(2)).await;
    let names = names(&pool);
    assert!(names.len() == 8 && names[0] == "common", "{names:?}");
    let problems = remote.status().await.problems;
    let is_told =
        |it: &String| it.contains("announce more than 8 different lists of tools; those of");
    assert!(problems.iter().any(is_told), "{problems:?}");
}
