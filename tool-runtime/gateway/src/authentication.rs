//! Tokens and issuers that may be replaced.

use arc_swap::ArcSwap;
use axum::http::request::Parts;
use std::sync::Arc;
use tool_runtime::http::{AuthRejection, Authenticate, BearerTokens, JwtVerifier};
use tool_runtime::{BoxFuture, Principal};

/// The ways to authenticate of a configuration.
#[derive(Clone, Default)]
pub(crate) struct Ways {
    pub(crate) tokens: Option<Arc<BearerTokens>>,
    pub(crate) jwt: Option<Arc<JwtVerifier>>,
}

impl Ways {
    /// Whether everyone may send requests.
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_none() && self.jwt.is_none()
    }
}

/// Ways to authenticate, the first that knows a token. Clones share them.
#[derive(Clone)]
pub(crate) struct Authentication(Arc<ArcSwap<Ways>>);

impl Authentication {
    pub(crate) fn new(ways: Ways) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(ways)))
    }

    pub(crate) fn ways(&self) -> Arc<Ways> {
        self.0.load_full()
    }

    pub(crate) fn replace(&self, ways: Arc<Ways>) {
        self.0.store(ways);
    }
}

impl Authenticate for Authentication {
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        let ways = self.ways();
        Box::pin(async move {
            let mut rejection = AuthRejection::Unknown;
            let tokens = ways.tokens.iter().map(|tokens| &**tokens as &dyn Authenticate);
            let jwt = ways.jwt.iter().map(|jwt| &**jwt as &dyn Authenticate);
            for way in tokens.chain(jwt) {
                match way.authenticate(token, request).await {
                    // A token of the file is no JSON Web Token, and the other way round.
                    Err(AuthRejection::Unknown) => {}
                    Err(other) => rejection = other,
                    known => return known,
                }
            }
            Err(rejection)
        })
    }
}
