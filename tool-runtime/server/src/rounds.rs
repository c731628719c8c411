//! Questions of a call to a client of 2026-07-28: the call is answered with them, and comes again with
//! the answers (SEP-2322, "multi round-trip requests").

use super::question;
use super::request_state::StateCodec;
use rmcp::model::{ErrorData, InputRequests, InputRequiredResult, InputResponses};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::canonical;
use tool_runtime_core::seam::lock;
use tool_runtime_core::{PeerError, PeerRequest};

/// How many answers a run may use. A tool that asks until it likes an answer gets the same one for
/// ever, without ever waiting.
const MAX_ANSWERS: usize = 1000;

/// What a request says of earlier rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The answers that came with the request.
    pub(super) responses: Option<InputResponses>,
    /// What we gave the client to bring back.
    pub(super) state: Option<String>,
}

/// The questions of one call, and their answers so far.
#[derive(Debug)]
pub(super) struct Rounds {
    round: Round,
    codec: Arc<StateCodec>,
    /// What the sealed answers are good for.
    binding: String,
    talk: Mutex<Talk>,
}

#[derive(Debug, Default)]
struct Talk {
    /// What earlier rounds have left; read when the first question is asked.
    earlier: Option<Map<String, Value>>,
    /// What this run leaves to the next, by key: which question it was, and the answer if there is one.
    carried: Map<String, Value>,
    /// How many answers this run was given.
    uses: usize,
    /// What has no answer yet, by key.
    open: InputRequests,
    /// Whether the poll that asked has ended, so that everything asked at once is there.
    is_complete: bool,
    refusal: Option<ErrorData>,
}

/// Why a call ends before its tool does.
pub(super) enum Interruption {
    /// The client is to answer questions.
    Questions(InputRequiredResult),
    Refused(ErrorData),
}

impl Rounds {
    /// Of a call whose answers are good for what `binding` says.
    pub(super) fn new(round: Round, codec: Arc<StateCodec>, binding: String) -> Self {
        Self { round, codec, binding, talk: Mutex::default() }
    }

    /// The answer to a question of this [`digest`], or a note that it is open. What is open is sent
    /// after [`Self::complete`].
    ///
    /// # Errors
    /// The question is none that clients know.
    pub(super) fn ask(
        &self,
        request: PeerRequest,
        wording: &str,
    ) -> Result<Option<Value>, PeerError> {
        let mut talk = self.talk();
        match self.answer(&mut talk, &request, wording) {
            Ok(Some(_)) if talk.uses == MAX_ANSWERS => {
                talk.refusal = Some(endless(request.key()));
            }
            Ok(Some(answer)) => {
                talk.uses += 1;
                let carried = json!({ "to": wording, "is": answer });
                talk.carried.insert(request.key().to_owned(), carried);
                return Ok(Some(answer));
            }
            Ok(None) => {
                let question = question::of(&request)?;
                let (key, _) = request.into_parts();
                talk.carried.insert(key.clone(), json!({ "to": wording }));
                talk.open.insert(key, question);
            }
            Err(refusal) => talk.refusal = Some(refusal),
        }
        Ok(None)
    }

    /// Lets the open questions go out.
    pub(super) fn complete(&self) {
        self.talk().is_complete = true;
    }

    /// What was answered to this very question. One that is worded otherwise now, because its tool
    /// was told something else meanwhile, has no answer yet: somebody agreed to another thing.
    fn answer(
        &self,
        talk: &mut Talk,
        to: &PeerRequest,
        wording: &str,
    ) -> Result<Option<Value>, ErrorData> {
        let earlier = match talk.earlier.take() {
            Some(earlier) => earlier,
            None => self.opened()?,
        };
        let earlier = talk.earlier.insert(earlier);
        let asked = earlier.get(to.key());
        if asked.is_some_and(|asked| asked["to"] != wording) {
            return Ok(None);
        }
        let given = self.round.responses.as_ref();
        let given = || given?.get(to.key()).filter(|answer| is_answer(answer, to));
        Ok(asked.and_then(|asked| asked.get("is")).or_else(given).cloned())
    }

    fn opened(&self) -> Result<Map<String, Value>, ErrorData> {
        match &self.round.state {
            Some(state) => self.codec.open(state, &self.binding),
            None => Ok(Map::new()),
        }
    }

    /// Why the call must end here, if it must.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        if self.talk().is_complete { self.interruption_now() } else { None }
    }

    /// The same for a call that is not polled at present.
    pub(super) fn interruption_now(&self) -> Option<Interruption> {
        let mut talk = self.talk();
        if let Some(refusal) = talk.refusal.take() {
            return Some(Interruption::Refused(refusal));
        }
        if talk.open.is_empty() {
            return None;
        }
        let state = self.codec.seal(&talk.carried, &self.binding);
        let questions = std::mem::take(&mut talk.open);
        Some(Interruption::Questions(InputRequiredResult::new(Some(questions), Some(state))))
    }

    fn talk(&self) -> MutexGuard<'_, Talk> {
        lock(&self.talk)
    }
}

/// The tool asks what was answered, again and again.
pub(super) fn endless(key: &str) -> ErrorData {
    tracing::error!(
        key,
        "a tool asks the same for ever; each question of a call needs its own key"
    );
    let text = format!("`{key}` was answered, and is asked again and again; the call was ended");
    ErrorData::internal_error(text, None)
}

/// Whether a client's answer is one to this question at all; if not, it is asked again.
fn is_answer(answer: &Value, to: &PeerRequest) -> bool {
    answer.get(to.capability().answer_member()).is_some()
}

/// What a question says, in short.
pub(super) fn digest(question: &PeerRequest) -> String {
    let wording = canonical(&json!([question.method(), question.params()]));
    let digest = Sha256::digest(wording);
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_core::PeerCapability;

    fn question(message: &str) -> PeerRequest {
        let schema = json!({"type": "object", "properties": {}});
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let params = params.as_object().cloned().unwrap_or_default();
        PeerRequest::new("sure", PeerCapability::Elicitation, params)
    }

    fn yes() -> Value {
        json!({"action": "accept", "content": {}})
    }

    /// One round in which this is asked: the answer, or the state for the next round.
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
            None => match rounds.interruption_now() {
                Some(Interruption::Questions(asked)) => Err(asked.request_state.expect("a state")),
                _ => panic!("neither answered nor asked"),
            },
        }
    }

    /// The state of a call whose question was answered.
    fn answered(codec: &Arc<StateCodec>, message: &str) -> String {
        let asked = round(codec, None, None, message).expect_err("a question");
        let responses = [("sure".to_owned(), yes())].into_iter().collect();
        let round = Round { responses: Some(responses), state: Some(asked) };
        let rounds = Rounds::new(round, Arc::clone(codec), "call".to_owned());
        let question = question(message);
        let wording = digest(&question);
        let answer = rounds.ask(question, &wording);
        assert_eq!(answer, Ok(Some(yes())));
        let other = PeerRequest::new("other", PeerCapability::Roots, Map::new());
        let wording = digest(&other);
        assert_eq!(rounds.ask(other, &wording), Ok(None));
        match rounds.interruption_now() {
            Some(Interruption::Questions(asked)) => asked.request_state.expect("a state"),
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
    fn an_earlier_answer_is_none_to_another_question_of_the_same_key() {
        let codec = Arc::new(StateCodec::random());
        let state = answered(&codec, "Pay 10?");
        let again = round(&codec, Some(state), None, "Pay 20?").expect_err("it is asked");
        // Only what was agreed to in this round counts from here on.
        assert_eq!(round(&codec, Some(again.clone()), Some(yes()), "Pay 20?"), Ok(yes()));
        assert!(round(&codec, Some(again), Some(yes()), "Pay 10?").is_err());
    }

    #[test]
    fn an_answer_is_none_to_a_question_that_its_round_did_not_ask() {
        let codec = Arc::new(StateCodec::random());
        let asked = round(&codec, None, None, "Pay 10?").expect_err("a question");
        assert!(round(&codec, Some(asked), Some(yes()), "Pay 20?").is_err());
    }
}
