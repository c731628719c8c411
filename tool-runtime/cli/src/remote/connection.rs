//! The option `remote` of `main!`: the tools of runners in the served pool.

use super::options;
use crate::print;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime_core::seam::{lock, spawn};
use tool_runtime_core::{CancellationToken, ToolPool};
use tool_runtime_remote::{BoardError, HttpBoardOptions, Remote};

/// The pause between two attempts to reach the hub for the first time.
const PAUSE: Duration = Duration::from_secs(1);

/// The connection of a pool to a hub, which may come later.
pub(crate) struct Connection {
    remote: Arc<Mutex<Option<Remote>>>,
    end: CancellationToken,
}

impl Connection {
    /// Connects the pool. If the hub is away, the tools come when it is there.
    ///
    /// # Errors
    /// The address or the token is wrong.
    pub(crate) async fn open(url: &str, pool: &ToolPool) -> Result<Self, String> {
        let options = options(None)?;
        let end = pool.closing().child_token();
        let connection = Self { remote: Arc::default(), end: end.clone() };
        match connect(url, &options, pool).await {
            Ok(remote) => *lock(&connection.remote) = Some(remote),
            Err(error) if error.is_transient() => {
                print::warning(&format!("{error}; trying again"));
                let (url, pool, slot) =
                    (url.to_owned(), pool.clone(), Arc::clone(&connection.remote));
                let later = async move {
                    if let Some(remote) =
                        end.run_until_cancelled(retry(&url, &options, &pool)).await
                    {
                        *lock(&slot) = remote;
                    }
                };
                drop(spawn(Box::pin(later)));
            }
            Err(error) => return Err(error.to_string()),
        }
        Ok(connection)
    }

    /// Ends the connection.
    pub(crate) async fn close(self) {
        self.end.cancel();
        let remote = lock(&self.remote).take();
        if let Some(remote) = remote {
            remote.close().await;
        }
    }
}

async fn connect(
    url: &str,
    options: &HttpBoardOptions,
    pool: &ToolPool,
) -> Result<Remote, BoardError> {
    let board = super::connect(url, options).await?;
    Remote::builder(board).connect(pool).await
}

async fn retry(url: &str, options: &HttpBoardOptions, pool: &ToolPool) -> Option<Remote> {
    loop {
        sleep(PAUSE).await;
        match connect(url, options, pool).await {
            Ok(remote) => return Some(remote),
            Err(error) if error.is_transient() => {}
            Err(error) => {
                tracing::error!("the tools of remote runners are missing: {error}");
                return None;
            }
        }
    }
}
