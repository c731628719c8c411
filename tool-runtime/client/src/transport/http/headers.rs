//! Headers of every request: those of the entry, and those of the host.

use super::credentials::{HeaderMap, NoHeaders, RejectedRequest};
use super::header_values::{self, header, secrets_of};
#[cfg(feature = "oauth")]
use super::oauth::OAuth;
use super::source::{HeaderSource, McpHeaderRequest};
use reqwest::Url;
use std::sync::{Arc, Mutex};
use tool_runtime_config::HttpConfig;
#[cfg(feature = "oauth")]
use tool_runtime_config::McpAuth;
use tool_runtime_config::seam::may_be_secret;
use tool_runtime_core::seam::{Redactor, lock};

/// The headers of requests to one server.
pub(super) struct Headers {
    server: String,
    /// The address of the server, without secrets.
    url: String,
    fixed: HeaderMap,
    source: Option<Arc<HeaderSource>>,
    #[cfg(feature = "oauth")]
    oauth: Option<Arc<OAuth>>,
    /// Secrets of the entry, and of the last request.
    secrets: Mutex<(Vec<String>, Vec<String>)>,
}

impl Headers {
    /// # Errors
    /// The entry has an invalid header.
    pub(super) fn new(
        server: &str,
        config: &HttpConfig,
        source: Option<Arc<HeaderSource>>,
    ) -> Result<Self, String> {
        let mut fixed = HeaderMap::new();
        let mut secrets = secrets_of(config.url.as_str());
        for (name, value) in &config.headers {
            if may_be_secret(name.as_str(), value.expose()) {
                secrets.push(value.expose().to_owned());
            }
            let (name, value) = header(name.as_str(), value.expose())
                .map_err(|problem| format!("`headers.{}` {problem}", name.redacted()))?;
            fixed.insert(name, value);
        }
        if let Some(auth) = config.auth.as_ref().filter(|auth| !header_values::is_oauth(auth)) {
            let (name, value) = header_values::authorization(auth, &mut secrets)
                .map_err(|problem| format!("`auth` {problem}"))?;
            fixed.insert(name, value);
        }
        let url = Url::parse(config.url.as_str())
            .map(|url| header_values::without_secrets(&url).to_string());
        let (server, secrets) = (server.to_owned(), Mutex::new((secrets, Vec::new())));
        Ok(Self {
            server,
            url: url.unwrap_or_default(),
            fixed,
            source,
            #[cfg(feature = "oauth")]
            oauth: None,
            secrets,
        })
    }

    /// Adds tokens by OAuth.
    #[cfg(feature = "oauth")]
    pub(super) fn with_oauth(self, oauth: Option<Arc<OAuth>>) -> Self {
        Self { oauth, ..self }
    }

    /// Whether other headers may be available after a server rejected the last ones with a status.
    pub(super) fn are_renewable(&self, status: u16) -> bool {
        #[cfg(feature = "oauth")]
        if self.oauth.is_some() && matches!(status, 401 | 403) {
            return true;
        }
        self.source.is_some() && status == 401
    }

    /// Notes a call that was not rejected.
    pub(super) fn note_success(&self) {
        #[cfg(feature = "oauth")]
        if let Some(oauth) = &self.oauth {
            oauth.note_success();
        }
    }

    /// All headers of a request, including those of the protocol.
    ///
    /// # Errors
    /// The host's source fails, or returns an invalid header.
    pub(super) async fn with(
        &self,
        own: HeaderMap,
        rejected: Option<&RejectedRequest>,
    ) -> Result<HeaderMap, NoHeaders> {
        let (mut headers, mut secrets) = (self.fixed.clone(), Vec::new());
        if let Some(source) = &self.source {
            let rejected = rejected.map(|rejected| rejected.challenge.clone());
            let provided = source(McpHeaderRequest {
                server: self.server.clone(),
                url: self.url.clone(),
                rejected,
            })
            .await;
            let provided = provided.map_err(|error| {
                NoHeaders::Failed(format!("no headers are given for it: {error}"))
            })?;
            for (name, value) in provided {
                secrets.push(value.expose().to_owned());
                let parsed = header(&name, value.expose()).map_err(|problem| {
                    NoHeaders::Failed(format!("the header `{name}` given for it {problem}"))
                });
                headers.extend([parsed?]);
            }
        }
        #[cfg(feature = "oauth")]
        if let Some(oauth) = &self.oauth
            && let Some(token) = oauth.token(rejected).await?
        {
            let authorization =
                header_values::authorization(&McpAuth::Bearer(token.into()), &mut secrets);
            let problem =
                |problem| NoHeaders::Failed(format!("the token that was given {problem}"));
            headers.extend([authorization.map_err(problem)?]);
        }
        lock(&self.secrets).1 = secrets;
        headers.extend(own);
        Ok(headers)
    }

    /// Removes secrets from text of the server, which may repeat a request.
    pub(super) fn redactor(&self) -> Redactor {
        let secrets = lock(&self.secrets);
        Redactor::hiding(secrets.0.iter().chain(&secrets.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_config::McpAuth;

    fn headers(config: &HttpConfig) -> Headers {
        Headers::new("remote", config, None).unwrap()
    }

    #[tokio::test]
    async fn each_kind_of_authentication_is_a_header() {
        let basic = McpAuth::Basic { user: "ada".into(), password: "8fQm2x".into() };
        let key = McpAuth::ApiKey { header: "X-Key".into(), key: "1vXk9p".into() };
        for (auth, name, value) in [
            (McpAuth::Bearer("8fQm2x".into()), "authorization", "Bearer 8fQm2x"),
            (basic, "authorization", "Basic YWRhOjhmUW0yeA=="),
            (key, "x-key", "1vXk9p"),
        ] {
            let mut config = HttpConfig::new("https://example.com/mcp");
            config.auth = Some(auth);
            let sent = headers(&config).with(HeaderMap::new(), None).await.unwrap();
            assert_eq!(sent[&reqwest::header::HeaderName::from_static(name)], value);
            assert!(!format!("{sent:?}").contains(value));
        }
    }

    /// Errors of a server are read by people.
    #[test]
    fn ordinary_words_in_headers_and_addresses_are_shown() {
        let mut config = HttpConfig::new("https://example.com/mcp?mode=changed&api_key=worded");
        config.headers.insert("X-Mode".into(), "listing".into());
        config.headers.insert("X-Api-Key".into(), "lettered".into());
        let text = "the listing changed: worded, lettered";
        assert_eq!(headers(&config).redactor().text(text), "the listing changed: .., ..");
    }

    #[test]
    fn secrets_repeated_by_a_server_are_not_shown() {
        let mut config = HttpConfig::new("https://ada:pass-word@example.com/mcp?key=query-value");
        config.headers.insert("X-Team".into(), "header-value".into());
        config.auth = Some(McpAuth::Bearer("token-value".into()));
        let text = "pass-word, query-value, header-value, Bearer token-value, YWRhOnBhc3Mtd29yZA==";
        assert_eq!(headers(&config).redactor().text(text), ".., .., .., .., ..");
    }

    #[test]
    fn an_invalid_header_is_reported_without_its_value() {
        let mut config = HttpConfig::new("https://example.com/mcp");
        config.headers.insert("X-Team".into(), "a\nb".into());
        let problem = Headers::new("remote", &config, None).err().unwrap();
        assert_eq!(
            problem,
            "`headers.X-Team` contains a character that is not allowed in a header; write visible ASCII"
        );
    }

    #[cfg(not(feature = "oauth"))]
    #[test]
    fn without_the_feature_oauth_the_error_names_it() {
        let mut config = HttpConfig::new("https://example.com/mcp");
        config.auth = Some(McpAuth::OAuth(Default::default()));
        let problem = Headers::new("remote", &config, None).err().unwrap();
        assert!(problem.contains("`mcp-client-oauth`"), "{problem}");
    }
}
