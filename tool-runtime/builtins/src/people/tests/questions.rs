use super::super::Question;
use super::{PeopleParams, builder, call, error, text};
use serde_json::{Value, json};
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28];

/// The result of a call by an MCP client whose user gives this reply, and the forms that it showed.
async fn asked(
    version: ProtocolVersion,
    reply: Reply,
    tool: &str,
    arguments: Value,
) -> (String, bool, Vec<Value>) {
    let pool = builder(PeopleParams::new()).build().unwrap();
    let client = TestClient::builder(&pool)
        .protocol_version(version)
        .answer(move |_| {
            let reply = reply.clone();
            async move { reply }
        })
        .connect()
        .await;
    let result = client.call(tool, arguments).await.expect("a result");
    let forms = client.questions().iter().map(|question| question.params().clone()).collect();
    client.close().await;
    (result.to_text(), result.is_error(), forms)
}

#[tokio::test]
async fn a_client_shows_a_form_in_both_versions() {
    for version in VERSIONS {
        let arguments = json!({ "question": "Which colour?" });
        let reply = Reply::accept(json!({ "answer": " blue " }));
        let (answer, is_error, forms) = asked(version, reply, "AskUser", arguments).await;
        assert_eq!((answer.as_str(), is_error, forms.len()), ("blue", false, 1), "{version:?}");
        assert_eq!(forms[0]["message"], "Which colour?");

        let arguments = json!({ "question": "Which colour?", "options": ["red", "blue"] });
        for (fields, expected) in [
            (json!({ "answer": "red" }), "red"),
            (json!({ "other": "green" }), "green"),
            (json!({ "answer": "red", "other": "but dark" }), "red; but dark"),
        ] {
            let reply = Reply::accept(fields);
            let (answer, _, forms) = asked(version, reply, "AskUser", arguments.clone()).await;
            assert_eq!(answer, expected);
            let choices = &forms[0]["requestedSchema"]["properties"]["answer"]["enum"];
            assert_eq!(*choices, json!(["red", "blue"]));
        }
        let (answer, is_error, _) = asked(version, Reply::decline(), "AskUser", arguments).await;
        assert!(is_error && answer.starts_with("the user declined to answer"), "{answer}");

        let reply = Reply::accept(json!({ "instructions": "go on" }));
        let arguments = json!({ "reason": "The tests delete files." });
        let (answer, _, forms) = asked(version, reply, "pause_for_human", arguments).await;
        assert_eq!(answer, "go on");
        let message = forms[0]["message"].as_str().unwrap();
        assert!(message.contains("The tests delete files."), "{message}");
    }
}

#[tokio::test]
async fn the_person_of_the_operator_answers_by_text_or_number() {
    let params = PeopleParams::new().asker(|question: Question| async move {
        match question.to_string().as_str() {
            "Which?\n  1. red\n  2. blue" => Ok("2".to_owned()),
            "How many?" => Ok("2".to_owned()),
            "Of these?\n  1. 4\n  2. 1\n  3. 8" => Ok("1".to_owned()),
            _ => Err(ToolError::user("the person has gone home")),
        }
    });
    let pool = builder(params).build().unwrap();
    let which = json!({ "question": "Which?", "options": ["red", "blue"] });
    assert_eq!(text(&pool, "AskUser", which).await, "blue");
    assert_eq!(text(&pool, "AskUser", json!({ "question": "How many?" })).await, "2");
    // The text of an option comes before its number.
    let numbers = json!({ "question": "Of these?", "options": ["4", "1", "8"] });
    assert_eq!(text(&pool, "AskUser", numbers).await, "1");
    let left = error(&pool, "pause_for_human", json!({ "reason": "Look." })).await;
    assert_eq!(left, "the person has gone home");
}

#[tokio::test]
async fn a_question_without_a_person_is_an_error() {
    let pool = builder(PeopleParams::new()).build().unwrap();
    for (tool, arguments) in [
        ("AskUser", json!({ "question": "Why?" })),
        ("pause_for_human", json!({ "reason": "Stop." })),
    ] {
        let text = error(&pool, tool, arguments).await;
        assert!(text.starts_with("no person can be asked"), "{text}");
        assert!(text.ends_with("say what you assume"), "{text}");
    }
    let (text, is_error) = call(&pool, "AskUser", json!({ "question": "" })).await;
    assert!(is_error && text.contains("`question`"), "{text}");
}
