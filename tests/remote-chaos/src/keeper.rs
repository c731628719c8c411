//! The keeper of a NATS server: its queues are in memory, so it creates them after each restart.

use crate::Failure;
use crate::network::{self, Connected, KEEPER, QUEUE};
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) async fn run(url: &str, folder: &Path) -> Result<(), Failure> {
    let end = network::end_of_input();
    end.run_until_cancelled(keep(url, folder)).await.unwrap_or(Ok(()))
}

async fn keep(url: &str, folder: &Path) -> Result<(), Failure> {
    let Connected::Nats(board) = network::connect(url, KEEPER, folder).await? else {
        return Err("a hub needs no keeper".into());
    };
    loop {
        // The server may be away, which is what this is about.
        drop(board.keep(&[QUEUE.parse()?]).await);
        sleep(PAUSE).await;
    }
}
