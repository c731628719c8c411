//! Whole conversations, as events of a run.

use crate::fake::{Fake, Recording, pool};
use tool_runtime_agent::{Agent, AgentEvent, Delta};

/// The events of a recorded conversation in lines, joined deltas included.
async fn events(name: &str) -> Vec<String> {
    let recording = Recording::named(name);
    let fake = Fake::start(recording.answers()).await;
    let agent = Agent::new(fake.model_of(&recording), pool(&recording.tools));
    let mut run = agent.run("Go.");
    let (mut lines, mut text, mut thoughts) = (Vec::new(), String::new(), String::new());
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Delta(Delta::Text(part)) => text += &part,
            AgentEvent::Delta(Delta::Thought(part)) => thoughts += &part,
            AgentEvent::Delta(Delta::Call(name)) => lines.push(format!("delta {name}")),
            AgentEvent::Message(message) => {
                if recording.is_streamed() {
                    assert_eq!(std::mem::take(&mut text), message);
                }
                let words: Vec<&str> = message.split_whitespace().take(4).collect();
                lines.push(format!("message {}", words.join(" ")));
            }
            AgentEvent::Call(call) => {
                lines.push(format!("call {} {}", call.name(), call.arguments()));
            }
            AgentEvent::Result(result) => {
                lines.push(result.observation().to_text().to_string());
            }
            AgentEvent::Stopped(reason) => lines.push(format!("stopped: {reason}")),
            other => panic!("{other:?}"),
        }
    }
    if !thoughts.is_empty() {
        lines.push(format!("thoughts {}", thoughts.split_whitespace().next().unwrap()));
    }
    let usage = run.usage();
    lines.push(format!("{} + {} tokens", usage.input, usage.output));
    assert_eq!(fake.requests().len(), 2);
    lines
}

#[tokio::test]
async fn anthropic() {
    assert_eq!(
        events("anthropic, whole").await,
        [
            "message I'll compute both sums",
            r#"call lab.add {"x":2,"y":3}"#,
            r#"call lab.add {"x":10,"y":20}"#,
            r#"got {"x":2,"y":3}"#,
            r#"got {"x":10,"y":20}"#,
            "message Here are the results:",
            "stopped: the model is done",
            "1473 + 162 tokens",
        ]
    );
    assert_eq!(
        events("anthropic, streamed").await,
        [
            "delta lab__get_weather",
            "message Sure! Let me check",
            r#"call lab.get_weather {"city":"Tokyo, Japan"}"#,
            r#"got {"city":"Tokyo, Japan"}"#,
            "message Here's the current weather",
            "stopped: the model is done",
            "thoughts The",
            "1496 + 377 tokens",
        ]
    );
}

#[tokio::test]
async fn openai_chat() {
    let calls = [
        r#"call lab.alpha {"value":"red"}"#,
        r#"call lab.beta {"value":"blue"}"#,
        r#"got {"value":"red"}"#,
        r#"got {"value":"blue"}"#,
    ];
    let whole = events("chat, whole").await;
    assert_eq!(whole[..4], calls);
    assert_eq!(whole[5..], ["stopped: the model is done", "256 + 65 tokens"]);
    let streamed = events("chat, streamed").await;
    assert_eq!(streamed[..2], ["delta lab__alpha", "delta lab__beta"]);
    assert_eq!(streamed[2..6], calls);
    assert_eq!(
        streamed[6..],
        ["message The result of 2", "stopped: the model is done", "214 + 55 tokens"]
    );
}

#[tokio::test]
async fn openai_responses() {
    assert_eq!(
        events("responses, whole").await,
        [
            r#"call lab.get_weather {"city":"Tokyo, Japan"}"#,
            r#"got {"city":"Tokyo, Japan"}"#,
            "message Tokyo, Japan is sunny",
            "stopped: the model is done",
            "37 + 26 tokens",
        ]
    );
    assert_eq!(
        events("responses, streamed").await,
        [
            "delta lab__lookup_harbor_label",
            "delta lab__lookup_orchard_label",
            "call lab.lookup_harbor_label {}",
            "call lab.lookup_orchard_label {}",
            "got {}",
            "got {}",
            "message The harbor label is",
            "stopped: the model is done",
            "228 + 61 tokens",
        ]
    );
}

#[tokio::test]
async fn gemini() {
    assert_eq!(
        events("gemini, whole").await,
        [
            r#"call lab.add {"x":3,"y":4}"#,
            r#"call lab.subtract {"x":10,"y":2}"#,
            r#"got {"x":3,"y":4}"#,
            r#"got {"x":10,"y":2}"#,
            "message 7 8",
            "stopped: the model is done",
            "447 + 214 tokens",
        ]
    );
    assert_eq!(
        events("gemini, streamed").await,
        [
            "delta lab__get_weather",
            r#"call lab.get_weather {"city":"Tokyo, Japan"}"#,
            r#"got {"city":"Tokyo, Japan"}"#,
            "message The current weather in",
            "stopped: the model is done",
            "thoughts **Analyzing",
            "567 + 233 tokens",
        ]
    );
}
