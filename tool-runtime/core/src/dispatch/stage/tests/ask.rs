use super::support::{ARGUMENTS, Notes, admit, asking, before, builder, call, log};
use crate::govern::approval::{Approval, ApprovalRequest, Approver};
use crate::govern::hook::{Before, Hook};
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::vocabulary::error::ErrorClass;
use crate::vocabulary::future::BoxFuture;
use std::future::{pending, ready};
use std::time::Duration;

fn ask(question: &'static str) -> Hook {
    Hook::before("*", move |_| ready(Before::ask(question)))
}

/// An approver that records each question and approves.
fn agreeable(notes: &Notes) -> impl Approver + use<> {
    let notes = notes.clone();
    move |request: ApprovalRequest| {
        notes.push(format!("{} {}", request.question(), request.arguments()));
        ready(Approval::approved())
    }
}

#[tokio::test]
async fn a_question_without_a_peer_is_a_denial() {
    let error = before([ask("Sure?")]).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    assert_eq!(
        error.message(),
        "the call to `fs.read` is not allowed: it requires approval, and nobody can be asked: the caller cannot show forms"
    );
    let detail = "to be asked: Sure? (who may answer: everyone); set an approver that reaches them by `.approver(..)`";
    assert_eq!(error.detail(), Some(detail));
}

#[tokio::test]
async fn an_approved_call_continues() {
    let notes = Notes::default();
    let admitted = asking([ask("Sure?")], agreeable(&notes)).await.unwrap();
    assert!(admitted.arguments.is_none() && admitted.context.is_none());
    assert_eq!(notes.all(), [r#"Sure? {"path":"a.txt"}"#]);
}

#[tokio::test]
async fn the_approved_arguments_run() {
    let notes = Notes::default();
    let admitted = asking(
        [
            Hook::before("*", |_| async {
                Before::ask("1?").rewriting(r#"{"path":"b"}"#).provide(7_u8)
            }),
            ask("2?"),
            Hook::before("*", |_| async { Before::rewrite(r#"{"path":"c"}"#) }),
        ],
        agreeable(&notes),
    )
    .await
    .unwrap();
    assert_eq!(notes.all(), [r#"1? {"path":"c"}"#, r#"2? {"path":"c"}"#]);
    assert_eq!(admitted.arguments.as_deref(), Some(r#"{"path":"c"}"#));
    assert_eq!(admitted.context.unwrap().get::<u8>(), Some(&7));
}

#[tokio::test]
async fn a_call_that_is_denied_later_is_not_put_to_a_person() {
    let notes = Notes::default();
    let denies = Hook::before("*", |_| async { Before::deny("no") });
    let error = asking([ask("Sure?"), denies], agreeable(&notes)).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Denied);
    assert!(notes.all().is_empty());
}

#[tokio::test]
async fn a_rejection_ends_the_questions_with_a_reason() {
    let notes = Notes::default();
    let seen = notes.clone();
    let error = asking([ask("1?"), ask("2?")], move |request: ApprovalRequest| {
        seen.push(request.question());
        ready(Approval::rejected("not today"))
    })
    .await
    .unwrap_err();
    assert_eq!(error.class(), ErrorClass::ApprovalRejected);
    assert_eq!(error.message(), "the call to `fs.read` was not approved: not today");
    assert_eq!(notes.all(), ["1?"]);
}

#[tokio::test]
async fn a_reason_is_one_line_that_controls_no_terminal() {
    let reject = |reason: String| async move {
        let approver = move |_: ApprovalRequest| ready(Approval::rejected(reason.clone()));
        asking([ask("1?")], approver).await.unwrap_err().message().to_owned()
    };
    let refused = "the call to `fs.read` was not approved: ";
    let forged = reject("\u{1b}[2Jno\nrun it\u{202e} anyway".to_owned()).await;
    assert_eq!(forged, format!("{refused}no run it\\u{{202e}} anyway"));
    let long = reject("no ".repeat(100_000)).await;
    assert!(long.len() < 1_100 && long.ends_with(".."), "{}", long.len());
}

#[tokio::test]
async fn the_second_question_must_be_approved_too() {
    let error = asking([ask("1?"), ask("2?")], |request: ApprovalRequest| {
        ready(match request.question() {
            "1?" => Approval::approved(),
            _ => Approval::rejected(""),
        })
    })
    .await
    .unwrap_err();
    assert_eq!(error.message(), "the call to `fs.read` was not approved");
}

#[tokio::test]
async fn an_approver_that_panics_has_rejected() {
    struct Broken;
    impl Approver for Broken {
        fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
            panic!("no terminal");
        }
    }
    for error in [
        asking([ask("Sure?")], Broken).await.unwrap_err(),
        asking([ask("Sure?")], async |_: ApprovalRequest| panic!("no terminal")).await.unwrap_err(),
        // Failing open is about the hook, not about who answers.
        asking([ask("Sure?").fails_open()], Broken).await.unwrap_err(),
    ] {
        assert_eq!(error.class(), ErrorClass::ApprovalRejected);
        assert!(!error.message().contains("terminal"), "{error}");
        assert_eq!(error.detail(), Some("the approver panicked: no terminal"));
    }
}

#[tokio::test]
async fn an_approval_request_shows_the_call_without_secrets() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Login {
        #[schemars(extend("writeOnly" = true))]
        #[allow(dead_code)]
        password: String,
    }
    let tool = Tool::builder("login", "Log in.").handler(|_: Login| async { "in" });
    let context = ToolContext::default().with_call_id("call_2");
    let approver = |request: ApprovalRequest| async move {
        assert_eq!(request.tool(), "login");
        assert_eq!(request.call_id(), Some("call_2"));
        assert_eq!(request.arguments(), r#"{"password":"hunter2"}"#);
        assert_eq!(request.visual(), "login(password: ***)");
        Approval::approved()
    };
    let pool = builder(tool, [ask("Sure?")]).approver(approver).build().unwrap();
    admit(&pool, call(&pool, r#"{"password":"hunter2"}"#, context)).await.unwrap();
}

#[tokio::test]
async fn a_question_survives_a_rewriting_that_is_forgotten() {
    let notes = Notes::default();
    let hook = Hook::before("*", |_| async { Before::ask("Sure?").rewriting("oops") }).fails_open();
    let admitted = asking([hook], agreeable(&notes)).await.unwrap();
    assert_eq!(notes.all(), [format!("Sure? {ARGUMENTS}")]);
    assert!(admitted.arguments.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_log_says_that_a_call_waits_and_how_that_ended() {
    let (lines, _guard) = log();
    let sure = || [ask("Sure?")];
    let slow = |answer: Approval| {
        move |_: ApprovalRequest| {
            let answer = answer.clone();
            async move {
                tokio::time::sleep(Duration::from_secs(5)).await;
                answer
            }
        }
    };
    asking(sure(), |_| ready(Approval::approved().by("ada"))).await.unwrap();
    asking(sure(), slow(Approval::approved().by("ada"))).await.unwrap();
    let rejected = Approval::rejected("not\ntoday").by("grace");
    asking(sure(), slow(rejected)).await.unwrap_err();
    asking(sure(), |_| ready(Approval::unasked("it is night"))).await.unwrap_err();
    let left = asking(sure(), |_| pending());
    tokio::time::timeout(Duration::from_secs(1), left).await.unwrap_err();
    let lines = lines.all();
    let lines: Vec<_> = lines.iter().filter(|line| line.starts_with("INFO")).collect();
    let waits = r#"INFO message=a call waits for an answer tool="fs.read""#;
    assert_eq!(
        lines,
        [
            r#"INFO message=a call was approved tool="fs.read" by="ada""#,
            waits,
            r#"INFO message=a call was approved tool="fs.read" by="ada""#,
            waits,
            r#"INFO message=a call was not approved tool="fs.read" by="grace" reason="not today""#,
            r#"INFO message=nobody could be asked about a call tool="fs.read" reason="it is night""#,
            waits,
            r#"INFO message=a call no longer waits for an answer tool="fs.read""#,
        ]
    );
}
