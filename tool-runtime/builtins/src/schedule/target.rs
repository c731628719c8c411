//! The targets that webhooks are sent to.

use super::signature::key_bytes;
use super::text::nearest;
use reqwest::Url;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tool_runtime::{Secret, ToolError};

/// A target that `RemoteTrigger` may send to. The operator names its address, which may be private; models name the
/// target.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime_builtins::schedule::Target;
///
/// let builds = Target::new("builds", "https://ci.example.com/hooks/agent", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
///     .timeout(Duration::from_secs(10));
/// # let _ = builds;
/// ```
#[derive(Clone)]
pub struct Target {
    name: String,
    url: String,
    key: Secret,
    timeout: Duration,
    attempts: u32,
    max_wait: Duration,
}

impl Target {
    /// A target by its name, its URL and the key of its signatures, of at least 24 bytes: a string, or `whsec_` and base64.
    pub fn new(name: impl Into<String>, url: impl Into<String>, key: impl Into<Secret>) -> Self {
        Self {
            name: name.into(),
            url: url.into(),
            key: key.into(),
            timeout: Duration::from_secs(30),
            attempts: 5,
            max_wait: Duration::from_secs(60),
        }
    }

    /// Sets the time limit of one attempt. Default: 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the most attempts of a delivery. Default: 5.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the longest pause between two attempts. A target that asks for more by `Retry-After` is given up. Default:
    /// one minute.
    #[must_use]
    pub fn max_wait(mut self, time: Duration) -> Self {
        self.max_wait = time;
        self
    }
}

/// Omits the key.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("name", &self.name)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A target that was checked.
pub(super) struct CheckedTarget {
    pub(super) name: String,
    pub(super) url: Url,
    pub(super) key: Vec<u8>,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    pub(super) max_wait: Duration,
}

/// The targets of a schedule, by name.
pub(super) struct Targets(BTreeMap<String, CheckedTarget>);

impl Targets {
    pub(super) fn new(targets: Vec<Target>) -> Result<Self, TargetError> {
        let mut checked = BTreeMap::new();
        for target in targets {
            let name = target.name.clone();
            let failed = |reason: String| TargetError { name: name.clone(), reason };
            let target = target.check().map_err(failed)?;
            if checked.insert(name.clone(), target).is_some() {
                return Err(failed("is declared twice".to_owned()));
            }
        }
        Ok(Self(checked))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// # Errors
    /// No target has this name; the text names the nearest, or all.
    pub(super) fn get(&self, name: &str) -> Result<&CheckedTarget, ToolError> {
        self.0.get(name).ok_or_else(|| {
            let all = || {
                format!(
                    "the targets are `{}`",
                    self.0.keys().cloned().collect::<Vec<_>>().join("`, `")
                )
            };
            let hint = nearest(name, self.0.keys().map(String::as_str)).unwrap_or_else(all);
            ToolError::user(format!("`{name}` is not a target; {hint}"))
        })
    }

    /// The only target.
    pub(super) fn only(&self) -> Option<&str> {
        let mut names = self.0.keys();
        names.next().filter(|_| names.next().is_none()).map(String::as_str)
    }
}

impl Target {
    fn check(self) -> Result<CheckedTarget, String> {
        let Self { name, url, key, timeout, attempts, max_wait } = self;
        let url = Url::parse(&url).map_err(|error| format!("has an invalid URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has a URL of the scheme `{}`; write `https`", url.scheme()));
        }
        let key = key_bytes(key.expose()).map_err(|reason| format!("has a key that {reason}"))?;
        if key.len() < 24 {
            return Err("has a key of fewer than 24 bytes; make one at random".to_owned());
        }
        Ok(CheckedTarget { name, url, key, timeout, attempts, max_wait })
    }
}

/// The reason why a [`Target`] is invalid.
#[derive(Clone, thiserror::Error)]
#[error("the target `{name}` {reason}")]
pub struct TargetError {
    name: String,
    reason: String,
}

tool_runtime::__private::debug_as_message!(TargetError);
