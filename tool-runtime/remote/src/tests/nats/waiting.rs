//! Calls that wait for a long time.

use super::NatsServer;
use crate::tests::board::{job, queue, step};
use crate::tests::fleet::{Running, call, pool, slow, text};
use crate::{Board as _, BoardError, LEASE, Remote, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Longer than a caller hears nothing before it submits a call again.
const LONG: Duration = Duration::from_secs(14);

/// In tests, a server soon takes a job that is submitted again for another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_goes_on_waiting_when_its_queue_is_full() {
    let server = NatsServer::start(LEASE).await;
    let runs = [(); 2].map(|()| Arc::<AtomicUsize>::default());
    let tools = [("first", LONG), ("second", Duration::ZERO)];
    let tools = tools.iter().zip(&runs).map(|((name, time), runs)| slow(name, false, *time, runs));
    let runner = Runner::new(server.board("web").await).queue(queue()).slots(1);
    let _running = Running::start(runner, pool(tools));
    let caller = pool([]);
    let _remote = Remote::builder(server.board("pool1").await).connect(&caller).await.unwrap();
    let full = async {
        while runs[0].load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let board = server.board("pool1").await;
        // They expire before the runner would come to them.
        let submit = async || board.submit(&queue(), &job(&step().step), LONG - LONG / 14).await;
        while submit().await.is_ok() {}
        assert!(matches!(submit().await, Err(BoardError::Full(_))));
    };
    let second = async {
        while runs[0].load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        call(&caller, "second").await
    };
    let (_, second, ()) = tokio::join!(call(&caller, "first"), second, full);
    assert_eq!((text(&second).as_str(), runs[1].load(Ordering::SeqCst)), ("done", 1));
}
