//! Questions of a call to a client of 2026-07-28: the request is answered with the questions, and the client
//! sends it again with the answers (SEP-2322, "multi round-trip requests").

use super::request_state::{Opened, StateCodec};
use rmcp::model::{ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::{canonical, hex, lock};
use tool_runtime_core::tool::peer::{PeerError, PeerRequest};

/// Limit on the answers that a run uses. A tool that repeats a question until the answer is valid would receive the
/// same answer endlessly.
const MAX_ANSWERS: usize = 1000;

/// The key of the suspended calls in the state, distinct from the keys of questions, which are printable.
const CALLS: &str = "\0calls";

/// The answers and the state that a request brings from earlier rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Answers to the questions of the last round.
    pub(super) responses: Option<InputResponses>,
    /// The sealed state of the last round.
    pub(super) state: Option<String>,
}

/// The questions of one call, with the answers so far.
#[derive(Debug)]
pub(super) struct Rounds {
    round: Round,
    codec: Arc<StateCodec>,
    /// The request that sealed answers are valid for.
    binding: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The state of earlier rounds, once it was opened.
    earlier: Option<Earlier>,
    /// State for the next round, by key: the digest of the question, and the answer if there is one.
    carried: Map<String, Value>,
    /// The number of answers used.
    uses: usize,
    /// Questions without an answer, by key.
    open: InputRequests,
    /// Whether the poll with the questions has ended, so that all concurrent questions are known.
    is_complete: bool,
    error: Option<ErrorData>,
}

/// The state that a request brings.
#[derive(Debug)]
struct Earlier {
    state: Option<Opened>,
    /// Whether this request may use the approvals of the state, once it has tried.
    claim: Option<bool>,
}

impl Earlier {
    /// What the state has at a key: a question, or the id of the calls that wait.
    fn entry(&self, key: &str) -> Option<&Value> {
        match &self.state {
            Some(Opened::Recent(state)) => state.answers.get(key),
            _ => None,
        }
    }

    /// Whether an approval counts: once, in the process that asked.
    fn claims(&mut self, codec: &StateCodec) -> bool {
        match &self.state {
            Some(Opened::Recent(state)) if state.is_own => {
                *self.claim.get_or_insert_with(|| codec.consume(state))
            }
            _ => false,
        }
    }
}

/// The reason to end a call before its tool has.
pub(super) enum Interruption {
    /// The client has to answer questions.
    Questions(InputRequiredResult),
    Failed(ErrorData),
}

impl Rounds {
    /// The rounds of a call. Its answers are valid for the same `binding` only.
    pub(super) fn new(round: Round, codec: Arc<StateCodec>, binding: String) -> Self {
        Self { round, codec, binding, state: Mutex::default() }
    }

    /// The answer to a question with this [`digest`]. Without an answer, the question is sent after
    /// [`Self::complete`].
    ///
    /// # Errors
    /// MCP does not define this kind of question.
    pub(super) fn ask(
        &self,
        request: PeerRequest,
        digest: &str,
    ) -> Result<Option<Value>, PeerError> {
        let mut state = self.state();
        match self.answer(&mut state, &request, digest) {
            Ok(Some(_)) if state.uses == MAX_ANSWERS => {
                state.error = Some(repeated_question(request.key()));
            }
            Ok(Some(answer)) => {
                state.uses += 1;
                let carried = json!({ "to": digest, "is": answer });
                state.carried.insert(request.key().to_owned(), carried);
                return Ok(Some(answer));
            }
            Ok(None) => {
                let question = input_request(&request)?;
                let (key, _) = request.into_parts();
                state.carried.insert(key.clone(), json!({ "to": digest }));
                state.open.insert(key, question);
            }
            Err(error) => state.error = Some(error),
        }
        Ok(None)
    }

    /// Lets the open questions be sent.
    pub(super) fn complete(&self) {
        self.state().is_complete = true;
    }

    /// The answer to a question. A question whose text has changed has no answer: the user answered
    /// the old text. An approval also has none if the state did not ask for it, or was used by another request.
    fn answer(
        &self,
        state: &mut State,
        to: &PeerRequest,
        digest: &str,
    ) -> Result<Option<Value>, ErrorData> {
        let earlier = self.earlier(state)?;
        let question = earlier.entry(to.key());
        let is_expired = matches!(earlier.state, Some(Opened::Expired));
        if is_expired || question.is_some_and(|question| question["to"] != digest) {
            return Ok(None);
        }
        let responses = || self.round.responses.as_ref()?.get(to.key());
        let response = || responses().filter(|answer| is_answer(answer, to));
        let answer = question.and_then(|question| question.get("is")).or_else(response).cloned();
        let is_asked = question.is_some();
        Ok(answer.filter(|_| !to.is_single_use() || is_asked && earlier.claims(&self.codec)))
    }

    /// The state of earlier rounds, opened once.
    ///
    /// # Errors
    /// It is not authentic.
    fn earlier<'s>(&self, state: &'s mut State) -> Result<&'s mut Earlier, ErrorData> {
        let earlier = match state.earlier.take() {
            Some(earlier) => earlier,
            None => {
                let sealed = self.round.state.as_ref();
                let opened = sealed.map(|sealed| self.codec.open(sealed, &self.binding));
                Earlier { state: opened.transpose()?, claim: None }
            }
        };
        Ok(state.earlier.insert(earlier))
    }

    /// The id of the calls that wait for this round.
    pub(super) fn waiting_calls(&self) -> Option<String> {
        let mut state = self.state();
        self.earlier(&mut state).ok()?.entry(CALLS)?.as_str().map(str::to_owned)
    }

    /// The reason to end the call now, if there is one. `keep_calls` keeps the calls that the next round continues, and
    /// returns their id.
    pub(super) fn interruption(
        &self,
        keep_calls: impl FnOnce() -> Option<String>,
    ) -> Option<Interruption> {
        if self.state().is_complete { self.interruption_now(keep_calls) } else { None }
    }

    /// The interruption of a call that is not being polled.
    pub(super) fn interruption_now(
        &self,
        keep_calls: impl FnOnce() -> Option<String>,
    ) -> Option<Interruption> {
        let mut state = self.state();
        if let Some(error) = state.error.take() {
            return Some(Interruption::Failed(error));
        }
        if state.open.is_empty() {
            return None;
        }
        if let Some(id) = keep_calls() {
            state.carried.insert(CALLS.to_owned(), id.into());
        }
        let sealed = self.codec.seal(&state.carried, &self.binding);
        let questions = std::mem::take(&mut state.open);
        Some(Interruption::Questions(InputRequiredResult::new(Some(questions), Some(sealed))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// The error of a tool that repeats an answered question without end.
pub(super) fn repeated_question(key: &str) -> ErrorData {
    tracing::error!(
        key,
        "a tool repeats a question without end; each question of a call needs its own key"
    );
    let text = format!("`{key}` was answered, and is repeated without end; the call was ended");
    ErrorData::internal_error(text, None)
}

/// The question in rmcp's types.
///
/// # Errors
/// MCP does not define this kind of question.
pub(super) fn input_request(request: &PeerRequest) -> Result<InputRequest, PeerError> {
    let question = json!({ "method": request.method(), "params": request.params() });
    serde_json::from_value(question).map_err(|error| PeerError::Unaskable {
        key: request.key().to_owned(),
        problem: error.to_string(),
    })
}

/// Whether an answer is valid for this question; if not, the question is repeated.
fn is_answer(answer: &Value, to: &PeerRequest) -> bool {
    answer.get(to.capability().answer_member()).is_some()
}

/// The digest of a question without its key.
pub(super) fn digest(question: &PeerRequest) -> String {
    let content = canonical(&json!([question.method(), question.params()]));
    hex(&Sha256::digest(content)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_core::tool::peer::PeerCapability;

    fn question(message: &str) -> PeerRequest {
        let schema = json!({"type": "object", "properties": {}});
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let params = params.as_object().cloned().unwrap_or_default();
        PeerRequest::new("sure", PeerCapability::Elicitation, params)
    }

    fn yes() -> Value {
        json!({"action": "accept", "content": {}})
    }

    /// Runs one round with this question: returns the answer, or the state for the next round.
    fn round(
        codec: &Arc<StateCodec>,
        state: Option<String>,
        answer: Option<Value>,
        message: &str,
    ) -> Result<Value, String> {
        let responses = answer.map(|answer| [("sure".to_owned(), answer)].into_iter().collect());
        let rounds = Rounds::new(Round { responses, state }, Arc::clone(codec), "call".to_owned());
        let question = question(message);
        let wording = digest(&question);
        match rounds.ask(question, &wording).expect("a question") {
            Some(answer) => Ok(answer),
            None => match rounds.interruption_now(|| None) {
                Some(Interruption::Questions(asked)) => Err(asked.request_state.expect("a state")),
                _ => panic!("neither answered nor asked"),
            },
        }
    }

    /// The state of a call whose question was answered.
    fn answered(codec: &Arc<StateCodec>, message: &str) -> String {
        let state = round(codec, None, None, message).expect_err("a question");
        let responses = [("sure".to_owned(), yes())].into_iter().collect();
        let round = Round { responses: Some(responses), state: Some(state) };
        let rounds = Rounds::new(round, Arc::clone(codec), "call".to_owned());
        let question = question(message);
        let wording = digest(&question);
        let answer = rounds.ask(question, &wording);
        assert_eq!(answer, Ok(Some(yes())));
        let other = PeerRequest::new("other", PeerCapability::Roots, Map::new());
        let wording = digest(&other);
        assert_eq!(rounds.ask(other, &wording), Ok(None));
        match rounds.interruption_now(|| None) {
            Some(Interruption::Questions(state)) => state.request_state.expect("a state"),
            _ => panic!("nothing was asked"),
        }
    }

    #[test]
    fn an_answer_stays_with_its_question() {
        let codec = Arc::new(StateCodec::random());
        let state = answered(&codec, "Pay 10?");
        assert_eq!(round(&codec, Some(state), None, "Pay 10?"), Ok(yes()));
    }

    #[test]
    fn an_earlier_answer_does_not_answer_another_question_of_its_key() {
        let codec = Arc::new(StateCodec::random());
        let state = answered(&codec, "Pay 10?");
        let again = round(&codec, Some(state), None, "Pay 20?").expect_err("it is asked");
        // From now on, only the answer to this round counts.
        assert_eq!(round(&codec, Some(again.clone()), Some(yes()), "Pay 20?"), Ok(yes()));
        assert!(round(&codec, Some(again), Some(yes()), "Pay 10?").is_err());
    }

    #[test]
    fn an_answer_to_another_round_is_rejected() {
        let codec = Arc::new(StateCodec::random());
        let state = round(&codec, None, None, "Pay 10?").expect_err("a question");
        assert!(round(&codec, Some(state), Some(yes()), "Pay 20?").is_err());
    }
}
