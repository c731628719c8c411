//! A claim over HTTP.

use super::connection::{Connection, REQUEST};
use crate::board::{BoardError, Claim};
use crate::message::{Job, millis};
use crate::names::{CallerName, Queue};
use crate::protocol::{ClaimOrder, ClaimedJob};
use reqwest::Method;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::vocabulary::BoxFuture;

pub(super) struct HttpClaim {
    pub(super) connection: Arc<Connection>,
    pub(super) queue: Queue,
    pub(super) claimed: ClaimedJob,
}

impl HttpClaim {
    async fn order(&self, order: ClaimOrder) -> Result<(), BoardError> {
        let path = format!("claims/{}/{}", self.queue, self.claimed.claim);
        let request = self.connection.request(Method::POST, &path);
        let response = self.connection.send_json(request, &order, REQUEST).await?;
        self.connection.success(response).await.map(drop)
    }
}

impl Claim for HttpClaim {
    fn job(&self) -> &Job {
        &self.claimed.job
    }

    fn caller(&self) -> &CallerName {
        &self.claimed.caller
    }

    fn is_repeated(&self) -> bool {
        self.claimed.repeated
    }

    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.order(ClaimOrder::Renew))
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.order(ClaimOrder::Finish))
    }

    fn later(&self, delay: Duration) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.order(ClaimOrder::Later { delay: millis(delay) }))
    }
}
