//! A server that is killed: its queues are in memory, its records are not.

use super::NatsServer;
use crate::names::StepKey;
use crate::tests::board::{eventually, job, queue, started, step};
use crate::{Board as _, BoardError, Depth, LEASE, NatsBoard, Revision, Topic};
use std::time::Duration;
use tokio::time::timeout;

const KEEP: Duration = Duration::from_secs(60);

/// Kills the server and starts it again; its keeper creates the queues.
async fn restarted(server: &mut NatsServer, boards: [&NatsBoard; 2]) {
    server.restart().await;
    server.keep().await;
    for board in boards {
        eventually(async || board.depth(&queue()).await.is_ok()).await;
    }
}

#[tokio::test]
async fn a_record_outlives_the_server_and_its_job_does_not() {
    let mut server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let (step, record) = (step(), started());
    let StepKey { step: id, .. } = &step;
    runner.swap(&step, &record, Revision::NONE, KEEP).await.unwrap();
    caller.submit(&queue(), &job(id), KEEP).await.unwrap();
    restarted(&mut server, [&caller, &runner]).await;
    assert_eq!(caller.read(&step).await.unwrap().unwrap().record, record);
    assert_eq!(caller.depth(&queue()).await.unwrap(), Depth::default());
    caller.submit(&queue(), &job(id), KEEP).await.unwrap();
    let claims = runner.claim(&queue(), 1).await.unwrap();
    assert_eq!(claims[0].job().step(), id);
}

#[tokio::test]
async fn a_claim_from_before_a_restart_is_neither_renewed_nor_finished() {
    let mut server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let (first, second) = (step().step, step().step);
    caller.submit(&queue(), &job(&first), KEEP).await.unwrap();
    let before = runner.claim(&queue(), 1).await.unwrap().remove(0);
    restarted(&mut server, [&caller, &runner]).await;
    caller.submit(&queue(), &job(&second), KEEP).await.unwrap();
    let claim = runner.claim(&queue(), 1).await.unwrap().remove(0);
    assert_eq!(before.renew().await, Err(BoardError::Lapsed));
    assert_eq!(before.finish().await, Err(BoardError::Lapsed));
    assert_eq!(before.later(Duration::ZERO).await, Err(BoardError::Lapsed));
    assert_eq!(runner.depth(&queue()).await.unwrap().claimed, 1, "the other job is still claimed");
    claim.finish().await.unwrap();
}

#[tokio::test]
async fn a_claim_of_a_queue_that_was_deleted_takes_no_job_of_the_next_one() {
    let server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let (first, second) = (step().step, step().step);
    caller.submit(&queue(), &job(&first), KEEP).await.unwrap();
    let before = runner.claim(&queue(), 1).await.unwrap().remove(0);
    server.delete_queue().await;
    server.keep().await;
    caller.submit(&queue(), &job(&second), KEEP).await.unwrap();
    let claim = runner.claim(&queue(), 1).await.unwrap().remove(0);
    assert_eq!(claim.job().step(), &second);
    // The server does not say whether it knew the job.
    drop(timeout(Duration::from_secs(1), before.finish()).await);
    assert_eq!(runner.depth(&queue()).await.unwrap().claimed, 1, "the other job is still claimed");
    claim.finish().await.unwrap();
}

#[tokio::test]
async fn a_claim_that_waits_goes_on_after_a_restart() {
    let mut server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let waiting = tokio::spawn(async move {
        loop {
            match runner.claim(&queue(), 1).await {
                Ok(claims) if !claims.is_empty() => return claims[0].job().step().clone(),
                _ => tokio::task::yield_now().await,
            }
        }
    });
    server.restart().await;
    server.keep().await;
    let step = step().step;
    eventually(async || caller.submit(&queue(), &job(&step), KEEP).await.is_ok()).await;
    assert_eq!(waiting.await.unwrap(), step);
}

#[tokio::test]
async fn a_claim_that_a_server_did_not_answer_goes_on_after_a_restart() {
    let mut server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let (first, second) = (step().step, step().step);
    caller.submit(&queue(), &job(&first), KEEP).await.unwrap();
    runner.claim(&queue(), 1).await.unwrap().remove(0).finish().await.unwrap();
    // It takes the next claim, and does nothing about it.
    server.stop();
    let queue = queue();
    let mut claiming = runner.claim(&queue, 1);
    drop(timeout(Duration::from_millis(100), &mut claiming).await);
    server.restart().await;
    server.keep().await;
    eventually(async || caller.submit(&queue, &job(&second), KEEP).await.is_ok()).await;
    let claims = async {
        loop {
            match claiming.await {
                Ok(claims) if !claims.is_empty() => return claims,
                _ => claiming = runner.claim(&queue, 1),
            }
        }
    };
    let claims = timeout(Duration::from_secs(60), claims).await.expect("it goes on");
    assert_eq!(claims[0].job().step(), &second);
}

#[tokio::test]
async fn a_listener_hears_of_the_gap_and_goes_on() {
    let mut server = NatsServer::start(LEASE).await;
    let (caller, runner) = (server.board("pool1").await, server.board("web").await);
    let step = step();
    let mut listener = caller.listen(&Topic::Step(step.clone())).await.unwrap();
    restarted(&mut server, [&caller, &runner]).await;
    assert_eq!(crate::tests::board::hear(&mut listener).await, crate::Heard::Gap);
    let swap = runner.swap(&step, &started(), Revision::NONE, KEEP).await;
    swap.unwrap();
    eventually(async || matches!(listener.next().await, Some(crate::Heard::Record(_)))).await;
}

#[tokio::test]
async fn a_queue_that_is_missing_is_said_to_be_the_keepers() {
    let mut server = NatsServer::start(LEASE).await;
    let runner = server.board("web").await;
    server.restart().await;
    let mut text = String::new();
    eventually(async || {
        let Err(error) = runner.listen(&Topic::Control(queue())).await else { return false };
        text = error.to_string();
        text.contains("queue `web` does not exist")
    })
    .await;
    assert!(text.contains("`remote keep` creates it"), "{text}");
}
