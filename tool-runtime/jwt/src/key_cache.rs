//! The keys of the issuer, fetched once and refreshed.

use crate::key::Key;
use crate::key_source::KeySource;
use crate::token::Token;
use arc_swap::ArcSwapOption;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Time between two requests for keys that callers can cause, with and without known keys.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Keys with a source.
#[derive(Debug)]
pub(crate) struct KeyCache {
    source: KeySource,
    max_age: Duration,
    fetched: ArcSwapOption<Fetched>,
    /// The last attempt to fetch keys. Locked while keys are fetched.
    last: Mutex<Option<Attempt>>,
}

#[derive(Debug)]
struct Fetched {
    keys: Vec<Key>,
    at: Instant,
}

#[derive(Debug)]
struct Attempt {
    at: Instant,
    outcome: Result<(), String>,
}

impl KeyCache {
    pub(crate) fn new(source: KeySource, max_age: Duration) -> Self {
        Self { source, max_age, fetched: ArcSwapOption::empty(), last: Mutex::default() }
    }

    /// The claims of a token, if a key of the issuer has signed it. Keys are fetched if none fits, since
    /// issuers rotate them, and when they are old.
    ///
    /// # Errors
    /// The keys were never available.
    pub(crate) async fn claims(
        &self,
        token: &Token<'_>,
    ) -> Result<Option<Map<String, Value>>, String> {
        let known = self.fetched.load_full();
        let is_current = known.as_ref().is_some_and(|known| {
            known.at.elapsed() < self.max_age && known.keys.iter().any(|key| token.fits(key))
        });
        if !is_current {
            self.refresh(known.as_ref()).await?;
        }
        Ok(self.fetched.load().as_ref().and_then(|fetched| fetched.claims(token)))
    }

    /// Fetches the keys, unless another task just has.
    async fn refresh(&self, known: Option<&Arc<Fetched>>) -> Result<(), String> {
        let mut last = self.last.lock().await;
        let is_newer = self.fetched.load().as_ref().map(Arc::as_ptr) != known.map(Arc::as_ptr);
        if is_newer {
            return Ok(());
        }
        let interval = if known.is_some() { MIN_INTERVAL } else { RETRY_INTERVAL };
        if let Some(last) = last.as_ref().filter(|last| last.at.elapsed() < interval) {
            return last.outcome.clone();
        }
        let outcome = self.fetch(known.is_some()).await;
        *last = Some(Attempt { at: Instant::now(), outcome: outcome.clone() });
        outcome
    }

    /// Fetches the keys. Known keys stay valid if that fails.
    async fn fetch(&self, has_keys: bool) -> Result<(), String> {
        match self.source.fetch().await {
            Ok(keys) => {
                self.fetched.store(Some(Arc::new(Fetched { keys, at: Instant::now() })));
                Ok(())
            }
            Err(problem) if has_keys => {
                tracing::warn!("the keys of the issuer were not refreshed: {problem}");
                Ok(())
            }
            Err(problem) => Err(problem),
        }
    }
}

impl Fetched {
    fn claims(&self, token: &Token<'_>) -> Option<Map<String, Value>> {
        let mut fitting = self.keys.iter().filter(|key| token.fits(key));
        fitting.find_map(|key| token.claims(key))
    }
}
