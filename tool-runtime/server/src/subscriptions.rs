//! Subscriptions of clients.

use super::handler::PoolHandler;
use super::refusal;
use rmcp::model::{ErrorData, SubscriptionFilter};
use rmcp::service::SubscriptionContext;

/// Limit on the resources of one client, or of one subscription. A template counts once.
const MAX_SUBSCRIPTIONS: usize = 1000;

impl PoolHandler {
    /// What of a `subscriptions/listen` can happen here; rmcp leaves out what is not declared.
    pub(super) fn heard(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut heard = requested.clone();
        if let Some(uris) = &mut heard.resource_subscriptions {
            uris.truncate(MAX_SUBSCRIPTIONS);
            uris.retain(|uri| self.pool().find_resource(uri).is_some());
        }
        heard
    }

    /// `subscriptions/listen`, until the client has heard enough or is gone, or the server ends: then
    /// the request is answered.
    pub(super) async fn hear(&self, context: SubscriptionContext) {
        let _seat = self.subscribers().seat(context.sink().clone());
        let heard = self.session().gone.run_until_cancelled(context.cancelled());
        self.ending().run_until_cancelled(heard).await;
    }

    /// `resources/subscribe`, of older clients.
    pub(super) fn subscribed(&self, uri: String) -> Result<(), ErrorData> {
        let is_offered = self.listing().capabilities.resources.is_some();
        refusal::unless(is_offered, "resources/subscribe")?;
        if self.pool().find_resource(&uri).is_none() {
            return Err(refusal::no_resource(&uri));
        }
        if !self.session().subscribe(uri, MAX_SUBSCRIPTIONS) {
            let text = format!(
                "a client hears of {MAX_SUBSCRIPTIONS} resources at most; unsubscribe from some"
            );
            return Err(ErrorData::invalid_params(text, None));
        }
        Ok(())
    }

    /// `resources/unsubscribe`, of older clients.
    pub(super) fn unsubscribed(&self, uri: &str) -> Result<(), ErrorData> {
        let is_offered = self.listing().capabilities.resources.is_some();
        refusal::unless(is_offered, "resources/unsubscribe")?;
        self.session().unsubscribe(uri);
        Ok(())
    }
}
