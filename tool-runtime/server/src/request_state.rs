//! State that a client carries between rounds, authenticated by HMAC.

use super::suspended::random_id;
use rmcp::model::{ErrorData, RequestStateCodec, RequestStateError, SealOptions};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tool_runtime_core::seam::lock;

/// Lifetime of a state, in which the user has to answer.
pub(super) const STATE_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Limit on the states that are remembered as used. Beyond it no approval counts until some have expired.
const MAX_USED: usize = 100_000;

/// The key of a state's id, distinct from the keys of questions, which are printable.
const ID: &str = "\0id";

/// The key of the process that sealed a state.
const PROCESS: &str = "\0process";

/// Seals the answers of earlier rounds with a key of this server. An opened state is authentic, recent, and
/// for the same tool, arguments and principal. The approvals of a state count once.
pub(super) struct StateCodec {
    codec: RequestStateCodec,
    /// Names this process among others that have the same key.
    process: String,
    /// The ids of the states whose approvals were used, and when.
    used: Mutex<HashMap<String, Instant>>,
}

/// A state that is authentic.
#[derive(Debug)]
pub(super) enum Opened {
    /// Its questions are asked again.
    Expired,
    Recent(RecentState),
}

/// A state whose answers count.
#[derive(Debug)]
pub(super) struct RecentState {
    /// The questions by key, with the answers so far.
    pub(super) answers: Map<String, Value>,
    id: String,
    /// Whether this process sealed it.
    pub(super) is_own: bool,
}

impl StateCodec {
    /// A codec with a secret of 32 bytes or more, which several servers may share.
    ///
    /// # Errors
    /// The key is too short.
    pub(super) fn with_key(key: &[u8]) -> Result<Self, String> {
        let codec = RequestStateCodec::try_new(key).map_err(|error| error.to_string())?;
        Ok(Self { codec, process: random_id(), used: Mutex::default() })
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
        let mut payload = answers.clone();
        payload.insert(ID.to_owned(), random_id().into());
        payload.insert(PROCESS.to_owned(), self.process.as_str().into());
        self.codec.seal_with(Value::Object(payload).to_string().as_bytes(), &options)
    }

    /// Opens a state.
    ///
    /// # Errors
    /// The state is not authentic, or belongs to another request: the client must start again.
    pub(super) fn open(&self, state: &str, binding: &str) -> Result<Opened, ErrorData> {
        let opened = match self.codec.open_with(state, binding.as_bytes()) {
            Ok(payload) => serde_json::from_slice(&payload).ok().and_then(|it| self.opened(it)),
            Err(RequestStateError::Expired) => return Ok(Opened::Expired),
            Err(_) => None,
        };
        opened.map(Opened::Recent).ok_or_else(|| {
            let text =
                "`requestState` is invalid for this request; send the request again without it";
            ErrorData::invalid_params(text, None)
        })
    }

    fn opened(&self, mut answers: Map<String, Value>) -> Option<RecentState> {
        let mut text = |key| match answers.shift_remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (id, process) = (text(ID)?, text(PROCESS)?);
        Some(RecentState { answers, id, is_own: process == self.process })
    }

    /// Uses the approvals of a state of this process. `false` if they were used before.
    pub(super) fn consume(&self, state: &RecentState) -> bool {
        let (mut used, now) = (lock(&self.used), Instant::now());
        if used.len() >= MAX_USED {
            used.retain(|_, since| now.duration_since(*since) < STATE_LIFETIME);
        }
        used.len() < MAX_USED && used.insert(state.id.clone(), now).is_none()
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

    fn opened(codec: &StateCodec, state: &str, binding: &str) -> RecentState {
        match codec.open(state, binding) {
            Ok(Opened::Recent(state)) => state,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sealed_state_opens_only_for_the_same_request() {
        let seal = StateCodec::random();
        let state = seal.seal(&answers(), "greet");
        assert_eq!(opened(&seal, &state, "greet").answers, answers());
        assert!(seal.open(&state, "delete").is_err());
        assert!(StateCodec::random().open(&state, "greet").is_err());
        assert!(seal.open("nonsense", "greet").is_err());
    }

    #[test]
    fn an_expired_state_is_as_if_there_were_none() {
        let seal = StateCodec::random();
        let state = seal.seal_for(Duration::ZERO, &answers(), "greet");
        // A state without a lifetime expires with the current millisecond.
        while !matches!(seal.open(&state, "greet"), Ok(Opened::Expired)) {}
        assert!(seal.open(&state, "delete").is_err(), "it is not for this request");
    }

    #[test]
    fn the_approvals_of_a_state_are_used_once() {
        let seal = StateCodec::random();
        let states = [seal.seal(&answers(), "greet"), seal.seal(&answers(), "greet")];
        for state in &states {
            assert!(seal.consume(&opened(&seal, state, "greet")));
        }
        for state in &states {
            assert!(!seal.consume(&opened(&seal, state, "greet")));
        }
    }

    #[test]
    fn no_approval_counts_while_too_many_are_remembered() {
        let seal = StateCodec::random();
        let now = Instant::now();
        lock(&seal.used).extend((0..MAX_USED).map(|_| (random_id(), now)));
        let state = seal.seal(&answers(), "greet");
        assert!(!seal.consume(&opened(&seal, &state, "greet")));
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
        let foreign = opened(&other, &one.seal(&answers(), "x"), "x");
        assert_eq!((foreign.answers, foreign.is_own), (answers(), false));
        assert!(StateCodec::with_key(b"short").is_err());
    }
}
