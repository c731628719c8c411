//! Tokens and issuers that may be replaced.

use crate::config::Http;
use crate::plan::authentication;
use arc_swap::ArcSwap;
use axum::http::request::Parts;
use std::sync::Arc;
use tool_runtime::http::{AuthRejection, Authenticate};
use tool_runtime::{BoxFuture, Principal};

/// Ways to authenticate, the first that knows a token. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Authentication(Arc<ArcSwap<Vec<Box<dyn Authenticate>>>>);

impl Authentication {
    /// Takes the tokens and issuers of a valid configuration. Tells whether there are any.
    pub(crate) fn replace(&self, http: &Http) -> bool {
        let ways = authentication(http).unwrap_or_default();
        let has_some = !ways.is_empty();
        self.0.store(Arc::new(ways));
        has_some
    }
}

impl Authenticate for Authentication {
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        let ways = self.0.load_full();
        Box::pin(async move {
            let mut rejection = AuthRejection::Unknown;
            for way in ways.iter() {
                match way.authenticate(token, request).await {
                    Err(AuthRejection::Unknown) => {}
                    // A token of the file is no JSON Web Token, and the other way round.
                    Err(other) => rejection = other,
                    known => return known,
                }
            }
            Err(rejection)
        })
    }
}
