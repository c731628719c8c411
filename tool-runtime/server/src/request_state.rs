//! State that a client carries between rounds, authenticated by HMAC.

use rmcp::model::{ErrorData, RequestStateCodec, SealOptions};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Lifetime of a state, in which the user has to answer.
pub(super) const STATE_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Seals the answers of earlier rounds with a key of this server. An opened state is authentic, recent, and
/// for the same tool, arguments and principal.
#[derive(Clone)]
pub(super) struct StateCodec(RequestStateCodec);

impl StateCodec {
    /// A codec with a secret of 32 bytes or more, which several servers may share.
    ///
    /// # Errors
    /// The key is too short.
    pub(super) fn with_key(key: &[u8]) -> Result<Self, String> {
        RequestStateCodec::try_new(key).map(Self).map_err(|error| error.to_string())
    }

    /// A codec with a random key, valid for this process.
    pub(super) fn random() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        Self::with_key(&key).expect("a key that is long enough")
    }

    pub(super) fn seal(&self, answers: &Map<String, Value>, binding: &str) -> String {
        self.seal_for(STATE_LIFETIME, answers, binding)
    }

    fn seal_for(&self, life: Duration, answers: &Map<String, Value>, binding: &str) -> String {
        let options = SealOptions::new().associated_data(binding.as_bytes()).ttl(life);
        let payload = Value::Object(answers.clone()).to_string();
        self.0.seal_with(payload.as_bytes(), &options)
    }

    /// # Errors
    /// The state is not authentic, has expired, or belongs to another request: the client must
    /// start again.
    pub(super) fn open(&self, state: &str, binding: &str) -> Result<Map<String, Value>, ErrorData> {
        let answers = match self.0.open_with(state, binding.as_bytes()) {
            Ok(payload) => serde_json::from_slice(&payload).ok(),
            Err(_) => None,
        };
        answers.ok_or_else(|| {
            let text = "`requestState` is invalid for this request, or expired; send the request again without it";
            ErrorData::invalid_params(text, None)
        })
    }
}

/// Omits the secret key.
impl fmt::Debug for StateCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateCodec")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answers() -> Map<String, Value> {
        json!({ "name": { "action": "accept" } }).as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_sealed_state_opens_only_for_the_same_request() {
        let seal = StateCodec::random();
        let state = seal.seal(&answers(), "greet");
        assert_eq!(seal.open(&state, "greet"), Ok(answers()));
        assert!(seal.open(&state, "delete").is_err());
        assert!(StateCodec::random().open(&state, "greet").is_err());
        assert!(seal.open("nonsense", "greet").is_err());
    }

    #[test]
    fn an_expired_state_does_not_open() {
        let seal = StateCodec::random();
        let state = seal.seal_for(Duration::ZERO, &answers(), "greet");
        // A state without a lifetime expires with the current millisecond.
        let error = loop {
            if let Err(error) = seal.open(&state, "greet") {
                break error;
            }
        };
        assert!(error.message.contains("expired"), "{error:?}");
    }

    /// Seconds until a state expires. A state begins with its expiry time in milliseconds, as base64.
    fn seconds_left(state: &str) -> i64 {
        let digit = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        let body = state.split('.').nth(1).expect("a body").bytes();
        let bits = body.take(11).fold(0_u128, |bits, c| bits << 6 | u128::from(digit(c)));
        let end = i64::try_from(bits >> 2).expect("a time");
        let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_millis();
        (end - i64::try_from(now).expect("a time")) / 1000
    }

    #[test]
    fn the_state_expires_after_an_hour() {
        let seconds = seconds_left(&StateCodec::random().seal(&answers(), "greet"));
        assert!((3500..=3600).contains(&seconds), "{seconds} seconds");
    }

    #[test]
    fn servers_with_one_key_open_each_others_states() {
        let key = [7; 32];
        let (one, other) = (
            StateCodec::with_key(&key).expect("a key"),
            StateCodec::with_key(&key).expect("a key"),
        );
        assert_eq!(other.open(&one.seal(&answers(), "x"), "x"), Ok(answers()));
        assert!(StateCodec::with_key(b"short").is_err());
    }
}
