//! Checks host, origin and authentication of a request.

use super::auth::{self, AuthRejection, Authenticate};
use super::hosts::Hosts;
use super::http_rejection::{HttpRejection, HttpResult};
use super::options::HttpOptions;
use super::origins::Origins;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::vocabulary::Principal;

/// The allowed hosts and origins, and the authentication.
pub(super) struct RequestGuard {
    hosts: Hosts,
    origins: Origins,
    auth: Option<Arc<dyn Authenticate>>,
    auth_timeout: Duration,
    /// The URL of the metadata of the protected resource (RFC 9728).
    metadata: Option<String>,
}

impl RequestGuard {
    pub(super) fn new(options: &HttpOptions, bound: Option<IpAddr>) -> Self {
        Self {
            hosts: Hosts::new(&options.hosts, bound),
            origins: options.origins.clone(),
            auth: options.auth.clone(),
            auth_timeout: options.auth_timeout,
            metadata: options.resource_metadata.clone(),
        }
    }

    /// Checks the host and the origin. Returns the origin, if a browser sent one.
    ///
    /// # Errors
    /// The host or the origin is not allowed, or sent more than once.
    pub(super) fn check_origin(&self, request: &Parts) -> HttpResult<Option<HeaderValue>> {
        self.check_host(request)?;
        let mut origins = request.headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        if origins.next().is_some() {
            return Err(HttpRejection::new(StatusCode::BAD_REQUEST, "send one `Origin`"));
        }
        let text = origin.to_str().unwrap_or_default();
        if self.origins.allows(text) {
            return Ok(Some(origin.clone()));
        }
        Err(not_allowed("origin", text))
    }

    /// Checks the host and the origin of a request for a page of the server, whose scripts may send requests to it.
    ///
    /// # Errors
    /// The host or the origin is not allowed, or sent more than once.
    pub(super) fn check_page(&self, request: &Parts) -> HttpResult<()> {
        self.check_host(request)?;
        let origin = request.headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        let own = origin.and_then(|origin| Some(origin.split_once("://")?.1));
        let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        if own.is_some()
            && own == host
            && request.headers.get_all(header::ORIGIN).iter().count() == 1
        {
            return Ok(());
        }
        self.check_origin(request).map(drop)
    }

    fn check_host(&self, request: &Parts) -> HttpResult<()> {
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let header = hosts.next().map(|host| host.to_str().unwrap_or_default());
        let target = request.uri.authority().map(|authority| authority.as_str());
        let Some(host) = header.or(target).filter(|_| hosts.next().is_none()) else {
            return Err(HttpRejection::new(StatusCode::BAD_REQUEST, "send one `Host`"));
        };
        match [host, target.unwrap_or(host)].into_iter().find(|host| !self.hosts.allows(host)) {
            Some(host) => Err(not_allowed("host", host)),
            None => Ok(()),
        }
    }

    /// The response to a call of a tool with these scopes, which the caller lacks.
    pub(super) fn lacks_scopes(
        &self,
        missing: Vec<String>,
        principal: &Principal,
    ) -> HttpRejection {
        let reason = AuthRejection::InsufficientScope(missing);
        auth::rejection(&reason, !principal.is_anonymous(), self.metadata.as_deref())
    }

    /// The authenticated caller.
    pub(super) async fn principal(&self, request: &Parts) -> HttpResult<Arc<Principal>> {
        let Some(auth) = &self.auth else { return Ok(Arc::default()) };
        let token = auth::bearer(request);
        let principal =
            tokio::time::timeout(self.auth_timeout, auth.authenticate(token, request)).await;
        let timed_out =
            |_| Err(AuthRejection::Unavailable(format!("no answer in {:?}", self.auth_timeout)));
        principal
            .unwrap_or_else(timed_out)
            .map(|principal| Arc::new(principal.restricted()))
            .map_err(|reason| auth::rejection(&reason, token.is_some(), self.metadata.as_deref()))
    }
}

fn not_allowed(what: &str, given: &str) -> HttpRejection {
    let given = excerpt(given);
    let text = format!(
        "the {what} `{given}` is not allowed; start the server with `--allow-{what} {given}`, add it to `http.{what}s` in the configuration of a gateway, or in code use `HttpOptions::allow_{what}`"
    );
    HttpRejection::new(StatusCode::FORBIDDEN, text)
}
