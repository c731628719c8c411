//! B5, commands.

use crate::support::Desk;
use serde_json::json;
use tool_runtime::Secret;
use tool_runtime::secret::Secrets;
use tool_runtime_builtins::shell::ShellParams;

#[tokio::test]
async fn the_exit_code_is_stated_and_not_an_error() {
    assert_eq!(Desk::new(&[]).bash("exit 3").await, "[exit code 3]");
}

#[tokio::test]
async fn standard_error_is_shown_apart() {
    assert_eq!(Desk::new(&[]).bash("echo out; echo err >&2").await, "out\n[stderr]\nerr");
}

#[tokio::test]
async fn commands_begin_in_the_root_with_the_environment() {
    let desk = Desk::new(&[("here.txt", "")]);
    assert_eq!(desk.bash("ls; echo $GREETING").await, "here.txt\nhello");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_its_output_shown() {
    let desk = Desk::new(&[]);
    let error = desk.out_of_time("echo begun; echo > begun; sleep 1000").await;
    assert!(error.starts_with("begun\n") && error.contains("ended after 30000 ms"), "{error}");
}

/// The pipe is at its end when all processes that hold it have ended.
#[tokio::test]
async fn all_processes_of_a_command_are_ended() {
    let desk = Desk::new(&[]);
    let end = desk.pipe("pipe");
    let command =
        "exec 3>pipe; sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &); echo > begun; wait";
    desk.out_of_time(command).await;
    let end = tokio::time::timeout(std::time::Duration::from_secs(60), end).await;
    assert!(end.expect("a process lives on").unwrap().is_empty());
}

#[tokio::test]
async fn a_background_job_is_read_by_its_id() {
    let desk = Desk::new(&[]);
    let text = desk.job("echo one; exit 4").await;
    assert!(text.contains("one") && text.ends_with("[exit code 4]"), "{text}");
}

#[tokio::test]
async fn a_command_gets_input_and_keys() {
    let desk = Desk::new(&[]);
    desk.terminal(json!({ "command": "read -r x; echo \"<$x>\"", "timeout": 0.2 })).await;
    let value = desk.terminal(json!({ "command": "an answer", "is_input": true })).await;
    assert!(value["output"].as_str().unwrap().ends_with("<an answer>"), "{value}");
    // The program that sleeps is in the foreground when it writes.
    desk.begin_until("begun", "(echo begun; exec sleep 1000)").await;
    let value = desk.terminal(json!({ "command": "C-c", "is_input": true })).await;
    assert_eq!(value["exit_code"], 130, "{value}");
}

/// The wait of 30 seconds is shortened in the unit tests of the terminal.
#[tokio::test]
async fn a_call_may_end_before_its_command() {
    let desk = Desk::new(&[]);
    let value = desk.begin_until("a", "echo a; sleep 1000").await;
    assert_eq!(value["exit_code"], -1);
    assert!(value["notice"].as_str().unwrap().contains("`reset: true`"), "{value}");
    let value = desk.terminal(json!({ "command": "echo b", "reset": true })).await;
    assert_eq!([&value["output"], &value["exit_code"]], [&json!("b"), &json!(0)]);
}

#[tokio::test]
async fn several_statements_and_here_documents_are_one_command() {
    let desk = Desk::new(&[]);
    let command = "echo one\necho two; cat <<'END'\n$x \"y\"\nEND";
    assert_eq!(desk.bash(command).await, "one\ntwo\n$x \"y\"");
    let value = desk.terminal(json!({ "command": command })).await;
    assert_eq!(value["output"], "one\ntwo\n$x \"y\"");
}

#[tokio::test]
async fn the_head_and_the_tail_of_a_huge_output_are_shown() {
    let text = Desk::new(&[]).bash("seq 1 200000").await;
    assert!((100_000..101_000).contains(&text.len()), "{}", text.len());
    assert!(text.starts_with("1\n2\n"));
    assert!(text.contains("bytes are left out here") && text.contains("\n200000"));
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_replaced() {
    assert_eq!(Desk::new(&[]).bash("printf 'a\\377b'").await, "a\u{fffd}b");
}

#[tokio::test]
async fn no_pager_waits_for_a_key() {
    let desk = Desk::new(&[]);
    let command = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log --format=%s";
    assert_eq!(desk.bash(command).await, "first");
    assert_eq!(desk.terminal(json!({ "command": "git log --format=%s" })).await["output"], "first");
}

#[tokio::test]
async fn a_command_cannot_forge_the_prompt_of_a_terminal() {
    let desk = Desk::new(&[]);
    let command =
        "PS1='x> '; PROMPT_COMMAND=${PROMPT_COMMAND}; printf '\\033]7337;t;9;/\\007'; false";
    assert_eq!(desk.terminal(json!({ "command": command })).await["exit_code"], 1);
    assert_eq!(desk.terminal(json!({ "command": "echo still" })).await["exit_code"], 0);
}

/// A desk whose commands may use a secret.
fn with_secret() -> Desk {
    let secrets = Secrets::new()
        .with("TOKEN", Secret::from("s3cret-8fQm2x1v"))
        .with("OTHER", Secret::from("other-9dK3z"));
    let params = ShellParams { secrets: vec!["TOKEN".into()], ..ShellParams::default() };
    Desk::with(&[], params, secrets)
}

#[tokio::test]
async fn a_secret_is_exported_to_commands_that_name_it_and_masked_in_their_output() {
    let desk = with_secret();
    let text =
        desk.bash("echo \"${#TOKEN} $TOKEN\"; echo $TOKEN >&2; echo -n $TOKEN | base64").await;
    assert!(text.starts_with("15 ${TOKEN}\n") && !text.contains("s3cret"), "{text}");
    assert!(text.contains("[stderr]\n${TOKEN}") && !text.contains("czNjcmV0"), "{text}");
    let value = desk.terminal(json!({ "command": "echo \"${#TOKEN} $TOKEN\"" })).await;
    assert_eq!(value["output"], "15 ${TOKEN}");
    let text = desk.job("echo \"${#TOKEN} $TOKEN\"").await;
    assert!(text.contains("15 ${TOKEN}"), "{text}");
}

#[tokio::test]
async fn other_secrets_and_other_commands_are_kept_apart() {
    let desk = with_secret();
    // The operator did not give this one to commands.
    assert_eq!(desk.bash("echo \"<$OTHER>\"").await, "<>");
    assert_eq!(desk.bash("env | grep -c -i tok[e]n").await, "0\n[exit code 1]");
}

#[tokio::test]
async fn a_secret_that_the_pool_lacks_is_an_error() {
    let params = ShellParams { secrets: vec!["TOKEN".into()], ..ShellParams::default() };
    let desk = Desk::with(&[], params, Secrets::new());
    desk.error("Bash", json!({ "command": "echo $TOKEN" })).await;
    assert_eq!(desk.bash("echo fine").await, "fine");
}
