//! Questions of a call to a client of 2026-07-28: the call is answered with them, and comes again with
//! the answers (SEP-2322, "multi round-trip requests").

use super::outbox::Outbox;
use super::seal::Seal;
use crate::peer::PeerRequest;
use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a request says of earlier rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The answers that came with the request.
    pub(super) responses: Option<BTreeMap<String, Value>>,
    /// What we gave the client to bring back.
    pub(super) state: Option<String>,
}

/// The questions of one call, and their answers so far.
#[derive(Debug)]
pub(super) struct Rounds {
    round: Round,
    seal: Arc<Seal>,
    /// What the sealed answers are good for.
    binding: String,
    talk: Mutex<Talk>,
}

#[derive(Debug, Default)]
struct Talk {
    /// What was answered in earlier rounds; read when the first question is asked.
    earlier: Option<Map<String, Value>>,
    /// What this run has used.
    answered: Map<String, Value>,
    /// What has no answer yet, by key.
    open: Map<String, Value>,
    refusal: Option<ErrorData>,
}

/// Why a call ends before its tool does.
pub(super) enum Interruption {
    /// The client is to answer questions: MCP's `InputRequiredResult`.
    Questions(Value),
    Refused(ErrorData),
}

impl Rounds {
    /// Of a call whose answers are good for what `binding` says.
    pub(super) fn new(round: Round, seal: Arc<Seal>, binding: String) -> Self {
        Self { round, seal, binding, talk: Mutex::default() }
    }

    /// The answer to a question, or a note that it is open.
    pub(super) fn ask(&self, request: PeerRequest, outbox: &Outbox) -> Option<Value> {
        let mut talk = self.talk();
        match self.answer(&mut talk, request.key()) {
            Ok(Some(answer)) => {
                talk.answered.insert(request.key().to_owned(), answer.clone());
                return Some(answer);
            }
            Ok(None) => {
                let method = request.method();
                let (key, params) = request.into_parts();
                talk.open.insert(key, json!({ "method": method, "params": params }));
            }
            Err(refusal) => talk.refusal = Some(refusal),
        }
        drop(talk);
        outbox.nudge();
        None
    }

    fn answer(&self, talk: &mut Talk, key: &str) -> Result<Option<Value>, ErrorData> {
        let earlier = match talk.earlier.take() {
            Some(earlier) => earlier,
            None => self.opened()?,
        };
        let earlier = talk.earlier.insert(earlier);
        let given = self.round.responses.as_ref();
        Ok(earlier.get(key).or_else(|| given?.get(key)).cloned())
    }

    fn opened(&self) -> Result<Map<String, Value>, ErrorData> {
        match &self.round.state {
            Some(state) => self.seal.open(state, &self.binding),
            None => Ok(Map::new()),
        }
    }

    /// Why the call must end here, if it must.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        let mut talk = self.talk();
        if let Some(refusal) = talk.refusal.take() {
            return Some(Interruption::Refused(refusal));
        }
        if talk.open.is_empty() {
            return None;
        }
        let state = self.seal.seal(&talk.answered, &self.binding);
        let questions = std::mem::take(&mut talk.open);
        Some(Interruption::Questions(json!({
            "resultType": "input_required",
            "inputRequests": questions,
            "requestState": state,
        })))
    }

    fn talk(&self) -> MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
