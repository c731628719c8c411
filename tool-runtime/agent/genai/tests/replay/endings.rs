//! Requests that fail, break off or are cancelled.

use crate::fake::{Answer, Fake, Recording, pool};
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use tool_runtime_agent::{Agent, AgentEvent, Run, StopReason};
use tool_runtime_genai::GenaiError;

/// Makes a hang fail.
const LIMIT: Duration = Duration::from_secs(60);

const STREAMED: [&str; 4] =
    ["anthropic, streamed", "chat, streamed", "responses, streamed", "gemini, streamed"];

async fn stop_reason(run: &mut Run) -> StopReason {
    timeout(LIMIT, async {
        loop {
            match run.next().await.expect("an end") {
                AgentEvent::Stopped(reason) => return reason,
                AgentEvent::Call(call) => panic!("{call:?}"),
                _ => {}
            }
        }
    })
    .await
    .expect("the run ends")
}

/// A conversation whose last answer is a recorded one.
async fn run_of(recording: &Recording, answers: impl IntoIterator<Item = Answer>) -> (Fake, Run) {
    let fake = Fake::start(answers).await;
    let run = Agent::new(fake.model_of(recording), pool(&recording.tools)).run("Go.");
    (fake, run)
}

#[tokio::test]
async fn an_error_has_the_status_and_the_words_of_the_api() {
    for recording in Recording::all() {
        let body = r#"{"error":{"type":"rate_limit","message":"slow down, please"}}"#;
        let (_fake, mut run) = run_of(&recording, [Answer::Error(429, body)]).await;
        let StopReason::Model(error) = stop_reason(&mut run).await else {
            panic!("another reason")
        };
        let text = error.to_string();
        assert!(text.contains("status 429"), "{}: {text}", recording.name);
        assert!(text.contains("slow down, please"), "{}: {text}", recording.name);
        let cause = error.source().and_then(|cause| cause.downcast_ref::<GenaiError>());
        assert_eq!(cause.expect("a cause").status(), Some(429), "{}", recording.name);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_an_error_and_can_be_retried() {
    for (name, is_broken) in STREAMED.iter().flat_map(|name| [(name, true), (name, false)]) {
        let recording = Recording::named(name);
        let recorded = recording.answers[1].clone();
        // After a whole event.
        let length = recorded.body[..recorded.body.len() / 2].rfind("data:").expect("an event");
        let cut = Answer::Cut { recorded, length, is_broken };
        let last = recording.answers().pop().expect("an answer");
        let fake = Fake::start([cut, last]).await;
        let agent = Agent::new(fake.model_of(&recording), pool(&recording.tools));
        let mut run = agent.run("Go.");
        let StopReason::Model(error) = stop_reason(&mut run).await else {
            panic!("another reason")
        };
        let text = error.to_string();
        assert!(text.contains("stream"), "{name}: {text}");
        assert!(!text.contains("Go."), "the request is not part of the error: {text}");
        let text = agent.retry(run.messages().to_vec()).finish().await.expect("an answer");
        assert!(!text.is_empty());
    }
}

#[tokio::test]
async fn a_cancelled_run_and_a_dropped_one_end_their_request() {
    for (name, is_dropped) in STREAMED.iter().flat_map(|name| [(name, true), (name, false)]) {
        let recording = Recording::named(name);
        let recorded = recording.answers[1].clone();
        let hung_up = Arc::new(Notify::new());
        // The first words of the text were sent.
        let length = recorded.body.len() * 2 / 3;
        let answer = Answer::Stalled { recorded, length, hung_up: Arc::clone(&hung_up) };
        let (_fake, mut run) = run_of(&recording, [answer]).await;
        let first = timeout(LIMIT, run.next()).await.expect("an event");
        assert!(matches!(first, Some(AgentEvent::Delta(_))), "{name}: {first:?}");
        if is_dropped {
            drop(run);
        } else {
            run.cancellation().cancel();
            assert!(matches!(stop_reason(&mut run).await, StopReason::Cancelled));
        }
        timeout(LIMIT, hung_up.notified()).await.expect("the client hangs up");
    }
}

#[tokio::test]
async fn an_answer_of_another_kind_is_an_error() {
    for recording in Recording::all() {
        let (_fake, mut run) = run_of(&recording, [Answer::Error(200, "[]")]).await;
        let reason = stop_reason(&mut run).await;
        assert!(matches!(reason, StopReason::Model(_)), "{}: {reason}", recording.name);
    }
}

#[tokio::test]
async fn a_call_of_an_answer_that_was_cut_does_not_run() {
    for name in ["anthropic, whole", "anthropic, streamed", "chat, whole", "chat, streamed"] {
        let recording = Recording::named(name);
        let mut recorded = recording.answers[0].clone();
        for (complete, cut) in [
            (":\"tool_use\",\"stop_s", ":\"max_tokens\",\"stop_s"),
            (":\"tool_calls\"", ":\"length\""),
        ] {
            recorded.body = recorded.body.replace(complete, cut);
        }
        let last = recording.answers().pop().expect("an answer");
        let (_fake, mut run) = run_of(&recording, [Answer::Whole(recorded), last]).await;
        let (mut cuts, mut results) = (0, 0);
        while let Some(event) = timeout(LIMIT, run.next()).await.expect("an event") {
            match event {
                AgentEvent::Cut(_) => cuts += 1,
                AgentEvent::Result(result) => {
                    let text = result.observation().to_text();
                    assert!(text.contains("was not run"), "{name}: {text}");
                    results += 1;
                }
                _ => {}
            }
        }
        assert_eq!((cuts, results > 0), (1, true), "{name}");
    }
}
