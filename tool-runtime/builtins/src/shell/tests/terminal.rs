use super::{Fixture, ended};
use crate::shell::scratch::Scratch;
use crate::shell::session::{Identity, Patience, Session, Waited};
use crate::shell::spawn::Launcher;
use crate::shell::terminal::Request;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tool_runtime::prelude::*;

impl Fixture {
    async fn terminal(&self, command: &str) -> Value {
        self.value("terminal", json!({ "command": command })).await
    }

    async fn input(&self, text: &str) -> Value {
        self.value("terminal", json!({ "command": text, "is_input": true, "timeout": 30 })).await
    }

    /// Starts a command that does not end by itself.
    async fn begin(&self, command: &str) -> Value {
        let value = self.value("terminal", json!({ "command": command, "timeout": 0.2 })).await;
        assert_eq!(
            (&value["exit_code"], &value["is_running"]),
            (&json!(-1), &json!(true)),
            "{value}"
        );
        value
    }

    /// Starts a command and waits until it has shown a string.
    async fn begin_until(&self, text: &str, command: &str) -> Value {
        let mut value = self.begin(command).await;
        let mut output = String::new();
        loop {
            output.push_str(value["output"].as_str().unwrap());
            if output.contains(text) || value["screen"].as_str().is_some_and(|it| it.contains(text))
            {
                return value;
            }
            value = self.begin("").await;
        }
    }
}

#[tokio::test]
async fn the_shell_stays() {
    let fixture = Fixture::new();
    let cases: &[(&str, &str, i32)] = &[
        ("echo one", "one", 0),
        ("cd /tmp; X=5; f() { echo \"f $X\"; }", "", 0),
        ("pwd; f", "/tmp\nf 5", 0),
        ("false", "", 1),
        ("echo $?", "1", 0),
        ("echo one\necho two", "one\ntwo", 0),
        ("cat <<END\n$X\nEND", "5", 0),
        ("printf 'no newline'", "no newline", 0),
        ("printf 'a\\377b'", "a\u{fffd}b", 0),
        ("printf '\\033[31mred\\033[0m\\n'", "red", 0),
        ("printf '1%%\\r2%%\\n'", "2%", 0),
        ("(exit 7)", "", 7),
        ("test -t 0 && test -t 1 && echo terminal", "terminal", 0),
        ("echo $PAGER; alias x='echo alias'", "cat", 0),
        ("ls \"${BASH_SOURCE%/*}\" | grep -c command.sh", "1", 0),
        ("echo \"$PS1$PS2\"", "", 0),
        // Nothing that looks like the end of a command is one.
        ("printf '\\033]7337;token;9;/\\007'; sleep 0.2; echo after", "after", 0),
    ];
    for (command, output, code) in cases {
        let value = fixture.terminal(command).await;
        let found = (value["output"].as_str(), value["exit_code"].as_i64());
        assert_eq!(found, (Some(*output), Some(i64::from(*code))), "{command}");
    }
    let value = fixture.terminal("cd /usr").await;
    assert_eq!(value["working_directory"], "/usr");
    let text = fixture.call("terminal", json!({ "command": "echo x" })).await.to_text();
    assert_eq!(text, "x\n[exit code 0 in /usr]");
    fixture.close().await;
}

#[tokio::test]
async fn prompts_and_traces_of_the_command_do_not_disturb() {
    let fixture = Fixture::new();
    let cases: &[(&str, &str, i32)] = &[
        ("PROMPT_COMMAND='echo mine'", "", 0),
        ("false", "", 1),
        ("PROMPT_COMMAND=; PS1='mine> '; PS2='more> '", "", 0),
        ("echo one; (exit 3)", "one", 3),
        ("unset PROMPT_COMMAND PS1 PS2", "", 0),
        ("echo $?", "0", 0),
        ("PROMPT_COMMAND=(a b); PS0=ps0", "", 0),
        ("echo two", "two", 0),
        ("set -x", "", 0),
        ("echo three", "+ . COMMAND\n++ echo three\nthree", 0),
        ("(exit 4)", "+ . COMMAND\n++ exit 4", 4),
        ("set +x", "+ . COMMAND\n++ set +x", 0),
        ("printf() { echo function; }", "", 0),
        ("echo four", "four", 0),
        ("exec 3>&1 >/dev/null", "", 0),
        ("echo hidden; (exit 5)", "", 5),
        ("exec >&3 3>&-; echo five", "five", 0),
    ];
    for (command, output, code) in cases {
        let value = fixture.value("terminal", json!({ "command": command, "timeout": 30 })).await;
        // The file of the command, which differs.
        let lines = value["output"]
            .as_str()
            .unwrap()
            .lines()
            .map(|line| if line.ends_with("-command.sh") { "+ . COMMAND" } else { line });
        let found = (lines.collect::<Vec<_>>().join("\n"), value["exit_code"].as_i64());
        assert_eq!(found, ((*output).to_owned(), Some(i64::from(*code))), "{command}: {value}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn long_lines_and_scripts_arrive_whole() {
    let fixture = Fixture::new();
    let long = "x".repeat(9000);
    let value = fixture.terminal(&format!("printf %s '{long}' | wc -c")).await;
    assert_eq!(value["output"], "9000");
    let script: String = (0..200).map(|number| format!("echo {number}\n")).collect();
    let value = fixture.terminal(&script).await;
    assert!(value["output"].as_str().unwrap().ends_with("\n198\n199"), "{value}");
    fixture.close().await;
}

#[tokio::test]
async fn a_command_is_answered_and_interrupted() {
    let fixture = Fixture::new();
    fixture.begin_until("Name? ", "read -r -p 'Name? ' name; echo \"Hello $name\"").await;
    let value = fixture.input("Ada").await;
    assert!(value["output"].as_str().unwrap().ends_with("Hello Ada"), "{value}");
    assert_eq!(value["exit_code"], 0);

    // The program that sleeps is in the foreground when it writes.
    fixture.begin_until("begun", "(echo begun; exec sleep 1000); echo not reached").await;
    let value = fixture.input("C-c").await;
    assert_eq!(
        (&value["exit_code"], &value["is_running"]),
        (&json!(130), &json!(false)),
        "{value}"
    );
    assert!(!value["output"].as_str().unwrap().contains("not reached"));

    fixture.begin_until("begun", "echo begun; cat").await;
    let value = fixture.input("C-d").await;
    assert_eq!(value["exit_code"], 0, "{value}");
    fixture.close().await;
}

#[tokio::test]
async fn a_line_that_the_terminal_would_cut_is_an_error() {
    let fixture = Fixture::new();
    fixture.begin_until("begun", "echo begun; read -r line; echo ${#line}").await;
    let call = |text: String| {
        fixture.call("terminal", json!({ "command": text, "is_input": true, "timeout": 30 }))
    };
    let refused = call("x".repeat(4096)).await;
    assert!(refused.to_text().contains("more than 4095 bytes"), "{}", refused.to_text());
    let read = call("x".repeat(4095)).await.structured().unwrap().clone();
    assert_eq!(read["output"].as_str().unwrap().lines().last(), Some("4095"));
    // A program that reads keys gets all of them.
    fixture.begin_until("begun", "stty raw; echo begun; head -c 5000 | wc -c; stty -raw").await;
    let read = call("x".repeat(4999)).await.structured().unwrap().clone();
    assert!(read["output"].as_str().unwrap().contains("5000"), "{read}");
    fixture.close().await;
}

#[tokio::test]
async fn a_running_command_is_waited_for() {
    let fixture = Fixture::new();
    let path = fixture.root().join("go");
    std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    let value = fixture.begin("read -r x < go; echo $x").await;
    let notice = value["notice"].as_str().unwrap();
    assert!(notice.contains("the time is up") && notice.contains("`C-c`"), "{notice}");
    let second = fixture.call("terminal", json!({ "command": "echo second" })).await;
    assert!(
        second.is_error() && second.to_text().contains("a command still runs"),
        "{}",
        second.to_text()
    );
    tokio::task::spawn_blocking(move || std::fs::write(path, "went\n")).await.unwrap().unwrap();
    let value = fixture.terminal("").await;
    assert_eq!((&value["output"], &value["exit_code"]), (&json!("went"), &json!(0)));
    fixture.close().await;
}

/// A terminal without the tool around it.
struct Bare {
    launcher: Launcher,
    scratch: Scratch,
    slot: Option<Session>,
    _directory: tempfile::TempDir,
}

impl Bare {
    fn new() -> Self {
        let directory = tempfile::TempDir::new().unwrap();
        let workspace = crate::Workspace::builder().root(directory.path()).build().unwrap();
        let launcher = Launcher::new(workspace, crate::shell::ShellParams::default());
        Self { launcher, scratch: Scratch::new(u64::MAX), slot: None, _directory: directory }
    }

    fn identity() -> Identity {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("bare-{}-{}.", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Identity { mark, token: "token".to_owned(), secrets: Default::default() }
    }

    async fn run(&mut self, command: &str, is_input: bool, timeout: Option<f64>) -> Value {
        let command = command.to_owned();
        let timeout = timeout.map(Duration::from_secs_f64);
        let request = Request { command, is_input, timeout, reset: false };
        let (launcher, scratch) = (&self.launcher, &self.scratch);
        let (identity, context) = (Self::identity(), ToolContext::default());
        let output = request.run(&mut self.slot, launcher, scratch, identity, &context).await;
        serde_json::to_value(output.unwrap()).unwrap()
    }
}

#[tokio::test]
async fn the_end_of_a_command_between_two_calls_is_not_lost() {
    let calls = [
        ("", false, "went", 3, None),
        ("y", true, "went", 3, Some("was not sent")),
        ("echo new", false, "went\nnew", 0, Some("ended with exit code 3")),
    ];
    // Output of a shell that has ended is kept, too.
    for (end, is_closed) in [("(exit 3)", false), ("exit", true)] {
        for (command, is_input, output, code, notice) in calls {
            let mut bare = Bare::new();
            bare.run(&format!("read -r x; echo went; {end}"), false, Some(0.2)).await;
            bare.slot.as_mut().unwrap().input(b"\n").await.unwrap();
            while bare.slot.as_ref().unwrap().is_running() {
                tokio::task::yield_now().await;
            }
            let value = bare.run(command, is_input, None).await;
            assert_eq!(value["output"], output, "{command}: {value}");
            if !is_closed {
                assert_eq!(value["exit_code"], code, "{command}: {value}");
                let found = value["notice"].as_str().unwrap_or_default();
                assert!(found.contains(notice.unwrap_or_default()), "{command}: {value}");
            }
        }
    }
}

#[tokio::test]
async fn the_screen_of_a_program_is_shown() {
    let fixture = Fixture::new();
    let program =
        "printf '\\033[?1049h\\033[2J\\033[Htop\\033[2;3Hsecond'; read -r x; printf '\\033[?1049l'";
    let value = fixture.begin_until("second", program).await;
    assert_eq!(value["screen"].as_str().unwrap().trim_end(), "top\n  second");
    let value = fixture.input("ENTER").await;
    assert_eq!((&value["exit_code"], &value["screen"]), (&json!(0), &json!(null)));
    fixture.close().await;
}

#[tokio::test]
async fn reset_starts_a_new_shell_and_ends_what_runs() {
    let fixture = Fixture::new();
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    fixture.terminal("X=1; mkdir sub; cd sub").await;
    fixture.begin("exec 3>../held; echo > ../begun; (setsid sleep 1000 &) ; sleep 1000").await;
    ended(begun).await;
    let value =
        fixture.value("terminal", json!({ "command": "echo \"$X\"; pwd", "reset": true })).await;
    assert_eq!(value["output"], format!("\n{}", fixture.root().display()), "{value}");
    assert_eq!(value["notice"], "a new shell was started");
    ended(held).await;
    let wrong = json!({ "command": "x", "reset": true, "is_input": true });
    assert!(fixture.call("terminal", wrong).await.is_error());
    fixture.close().await;
}

#[tokio::test]
async fn a_shell_that_ended_is_replaced() {
    let fixture = Fixture::new();
    let value = fixture.terminal("echo bye; exit 3").await;
    assert_eq!((&value["output"], &value["exit_code"]), (&json!("bye"), &json!(3)), "{value}");
    assert!(value["notice"].as_str().unwrap().contains("the shell has ended"), "{value}");
    assert_eq!(fixture.terminal("echo again").await["output"], "again");
    fixture.close().await;
}

#[tokio::test]
async fn a_cancelled_call_stops_its_command_and_the_shell_stays() {
    let fixture = Fixture::new();
    fixture.terminal("X=kept").await;
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    let command = "trap '' INT; (exec 3>held; echo > begun; sleep 1000); trap - INT";
    let call = fixture.pool.call(ToolCall::json("terminal", json!({ "command": command })));
    tokio::select! {
        _ = call => panic!("the command has no end"),
        _ = ended(begun) => {}
    }
    ended(held).await;
    // Until there is nothing to wait for.
    while !fixture.call("terminal", json!({ "command": "", "timeout": 1 })).await.is_error() {}
    assert_eq!(fixture.terminal("echo $X").await["output"], "kept");
    fixture.close().await;
}

#[tokio::test]
async fn mistakes_are_errors() {
    let fixture = Fixture::new();
    let cases = [
        (json!({ "command": "" }), "no command runs to wait for"),
        (json!({ "command": "y", "is_input": true }), "no command runs that awaits input"),
        (json!({ "command": "true", "timeout": 601 }), "timeout"),
    ];
    for (arguments, expected) in cases {
        let result = fixture.call("terminal", arguments.clone()).await;
        assert!(result.is_error() && result.to_text().contains(expected), "{}", result.to_text());
    }
    fixture.close().await;
}

#[tokio::test]
async fn a_wait_ends_when_nothing_is_written() {
    let Bare { launcher, scratch, .. } = &Bare::new();
    let mut session = Session::start(launcher, scratch, Bare::identity()).await.unwrap();
    session.run(scratch, "echo begun; sleep 1000").await.unwrap();
    let mut text = String::new();
    // A busy machine may be quiet before the command writes.
    while !text.contains("begun") {
        let quiet = Some(Duration::from_millis(300));
        let waited = session.wait(&Patience { total: super::LIMIT, quiet }).await;
        assert_eq!(waited, Waited::Quiet);
        text.push_str(&session.take(false).text);
    }
    assert!(session.is_running());
}

#[tokio::test]
async fn every_principal_has_a_terminal_and_the_one_that_idled_longest_makes_room() {
    use crate::shell::ShellParams;
    use tool_runtime::Principal;
    let fixture = Fixture::with(ShellParams { max_terminals: 2, ..ShellParams::default() }, &[]);
    let run = async |who: &str, command: &str| {
        let call = ToolCall::json("terminal", json!({ "command": command }));
        let context = fixture.pool.context().with_principal(Principal::new(who));
        let result = fixture.pool.call_with(call, &context).await;
        result.observation().structured().unwrap()["output"].as_str().unwrap().to_owned()
    };
    run("ada", "X=ada").await;
    run("bob", "X=bob").await;
    assert_eq!(run("ada", "echo $X").await, "ada");
    // Replaces bob's.
    assert_eq!(run("eve", "echo \"<$X>\"").await, "<>");
    assert_eq!(run("ada", "echo $X").await, "ada");
    assert_eq!(run("bob", "echo \"<$X>\"").await, "<>");
    fixture.close().await;
}

#[tokio::test]
async fn the_terminal_has_a_kind_and_no_echo() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.terminal("echo $TERM ${HISTFILE-none}").await["output"],
        "xterm-256color none"
    );
    fixture.begin("read -r x; echo \"<$x>\"").await;
    assert_eq!(fixture.input("typed").await["output"], "<typed>");
    fixture.close().await;
}

#[tokio::test]
async fn models_of_earlier_versions_call_the_terminal_execute_bash() {
    let fixture = Fixture::new();
    let arguments = json!({ "command": "echo done", "is_input": "false" });
    let observation = fixture.call("execute_bash", arguments).await;
    assert!(observation.to_text().starts_with("done\n"), "{}", observation.to_text());
    let repairs = &observation.meta().unwrap()["tool-runtime/repairs"];
    let expected = ["corrected the name of the tool", "`is_input`: parsed a boolean from a string"];
    assert_eq!(*repairs, json!(expected));
    assert!(fixture.pool.tools().iter().all(|tool| tool.name() != "execute_bash"));
    fixture.close().await;
}
