//! The commands, on a store in this process.

use super::*;
use crate::tests::asked;
use crate::{Inbox, MemoryStore, Remembering};
use std::time::Duration;
use tool_runtime_core::govern::{Approval, ApprovalRequest, Approver};
use tool_runtime_core::tool::ToolContext;
use tool_runtime_core::vocabulary::Principal;

/// Runs `approvals NAME ..`: the text that is printed, or that of the error. A word that begins with dashes is a flag, or
/// an option with the value that follows.
pub(crate) async fn run<S: ApprovalStore + Clone>(
    store: &S,
    words: &[&str],
) -> Result<String, String> {
    let action = match words[0] {
        "list" => Action::List,
        "approve" => Action::Approve,
        "deny" => Action::Deny,
        "remembered" => Action::Remembered,
        _ => Action::Forget,
    };
    let command = Command { action, source: Source::Store(Arc::new(store.clone())) };
    let form = command.form();
    let (mut values, mut options) = (Vec::new(), Vec::new());
    let mut words = words[1..].iter();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--") else {
            values.push(*word);
            continue;
        };
        let option = form.options.iter().find(|option| option.name == name).expect("an option");
        options.push((name, option.value.map_or("", |_| words.next().expect("a value"))));
    }
    let done = command.text(&CommandArguments::new(values, options)).await;
    done.map_err(|error| match error {
        CommandFailure::Usage(text) | CommandFailure::Failed(text) => text,
    })
}

/// A question of ada with two arguments.
fn request(path: &str) -> ApprovalRequest {
    let arguments = serde_json::json!({ "path": path, "all": true }).to_string();
    let context = ToolContext::default().with_principal(Principal::new("ada"));
    ApprovalRequest::new("remove", arguments, "Remove it?")
        .with_context(context)
        .with_visual(format!("remove {path}"))
}

#[tokio::test(start_paused = true)]
async fn questions_are_listed_and_answered() {
    let store = MemoryStore::new();
    let inbox = Inbox::new(store.clone());
    assert_eq!(run(&store, &["list"]).await.unwrap(), "no open questions\n");
    for (words, done, expected) in [
        (vec!["approve", "ID"], "approved", Approval::approved()),
        (
            vec!["approve", "ID", "--args", r#"{"path":"b"}"#],
            "approved",
            Approval::approved().with_arguments(r#"{"path":"b"}"#),
        ),
        (
            vec!["approve", "ID", "--session"],
            "approved",
            Approval::approved().remembered(Remember::Session),
        ),
        (vec!["deny", "ID", "--reason", "keep it"], "denied", Approval::rejected("keep it")),
    ] {
        let request = request("a");
        let person = async {
            let id = asked(&store).await.id;
            let list = format!(
                "{}  Remove it?\n  remove a\n  who may answer: everyone\n  remove of ada, 15 min left\n",
                &id[..8]
            );
            assert_eq!(run(&store, &["list"]).await.unwrap(), list);
            let json = run(&store, &["list", "--json"]).await.unwrap();
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(json[0]["id"], id);
            let words = words.iter().map(|word| if *word == "ID" { &id[..8] } else { word });
            let words: Vec<&str> = words.collect();
            let text = run(&store, &words).await.unwrap();
            let (first, more) = text.split_once('\n').unwrap();
            assert!(first.starts_with(&format!("{done}: remove a")), "{text}");
            assert_eq!(first.ends_with(r#", with {"path":"b"}"#), words.contains(&"--args"));
            // The request of this test belongs to no session.
            assert_eq!(more.contains("belongs to no session"), words.contains(&"--session"));
        };
        let (answer, ()) = tokio::join!(inbox.approve(&request), person);
        assert_eq!(answer, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_for_a_pattern_is_given_listed_and_withdrawn() {
    let store = MemoryStore::new();
    let approver = Remembering::new(Inbox::new(store.clone())).kept_in(store.clone());
    let none = "no approvals for later calls\n";
    assert_eq!(run(&store, &["remembered"]).await.unwrap(), none);
    let first = request("/srv/a");
    let person = async {
        let id = asked(&store).await.id;
        for (words, mistake) in [
            (vec!["--like", "path"], "`--like path` is not ARGUMENT=PATTERN"),
            (vec!["--like", "=/srv/**"], "`--like =/srv/**` is not ARGUMENT=PATTERN"),
            (
                vec!["--like", "path=/srv/**", "--kind", "glob"],
                "`--kind glob` is not one of `path`, `url`, `shell`",
            ),
            (vec!["--like", "file=/srv/**"], "the call has no argument `file` of text"),
            (
                vec!["--like", "path=/etc/**"],
                "does not match the call itself, whose `path` is `/srv/a`",
            ),
            (vec!["--like", "path=/srv/**", "--args", "{}"], "is for one call"),
            (vec!["--session", "--args", "{}"], "is for one call"),
            (vec!["--args", "[]"], "`--args` is not a JSON object"),
        ] {
            let words = [vec!["approve", &id], words].concat();
            let error = run(&store, &words).await.unwrap_err();
            assert!(error.contains(mistake), "{error}");
        }
        let text = run(&store, &["approve", &id, "--like", "path=/srv/**"]).await.unwrap();
        let expected = "approved: remove /srv/a\n\
            later calls of remove run as well if `path` matches, whatever `all` may be\n";
        assert_eq!(text, expected);
    };
    let (answer, ()) = tokio::join!(approver.approve(&first), person);
    assert!(matches!(answer, Approval::Approved { .. }), "{answer:?}");
    assert_eq!(approver.approve(&request("/srv/b")).await, Approval::approved());

    let json = run(&store, &["remembered", "--json"]).await.unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let id = json[0]["id"].as_str().unwrap();
    let expected = format!(
        "{}  Remove it?\n  remove of ada, if `path` matches path `/srv/**`, whatever `all` may be\n  720 h left\n",
        &id[..8]
    );
    assert_eq!(run(&store, &["remembered"]).await.unwrap(), expected);
    assert_eq!(run(&store, &["forget", &id[..8]]).await.unwrap(), "forgotten: remove of ada\n");
    assert_eq!(run(&store, &["remembered"]).await.unwrap(), none);
}

#[tokio::test(start_paused = true)]
async fn a_second_person_is_told_of_the_answer_after_the_call_has_gone_on() {
    let store = MemoryStore::new();
    let (inbox, request) = (Inbox::new(store.clone()), request("a"));
    let person = async {
        let id = asked(&store).await.id;
        store.answer(&id, crate::tests::yes()).await.unwrap();
        id
    };
    let (answer, id) = tokio::join!(inbox.approve(&request), person);
    assert_eq!(answer, Approval::approved().by("grace"));
    // The clock stands until all tasks are idle: a withdrawal would be done.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let error = run(&store, &["deny", &id[..8]]).await.unwrap_err();
    assert!(error.contains("is answered already: it was approved by grace at 2"), "{error}");
    assert_eq!(run(&store, &["list"]).await.unwrap(), "no open questions\n");
}

#[tokio::test]
async fn ids_of_nothing_are_errors_that_name_the_list() {
    let store = MemoryStore::new();
    for (command, list) in [("approve", "list"), ("deny", "list"), ("forget", "remembered")] {
        let error = run(&store, &[command, "00"]).await.unwrap_err();
        assert!(error.starts_with("`00` is not the id of a"), "{error}");
        assert!(error.ends_with(&format!("`approvals {list}` shows all")), "{error}");
    }
}

#[test]
fn an_id_may_be_cut_where_it_is_the_only_one() {
    let found = |id: &str| unique(id, ["ab1", "ab2", "c3"].into_iter());
    assert_eq!((found("ab2"), found("c"), found("x")), (Ok(Some(1)), Ok(Some(2)), Ok(None)));
    assert_eq!(found(""), Ok(None));
    let error = found("ab").unwrap_err().to_string();
    assert_eq!(error, "several ids begin with `ab`; write more of it");
}
