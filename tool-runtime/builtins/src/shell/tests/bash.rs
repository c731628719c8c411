use super::{Fixture, ended};
use crate::shell::{CommandLimits, ShellParams};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;
use tool_runtime::prelude::*;

#[tokio::test]
async fn commands() {
    let fixture = Fixture::with(ShellParams::default(), &[("GREETING", "hello")]);
    let root = format!("{}\n", fixture.root().display());
    let cases: &[(&str, &str, &str, i32)] = &[
        ("echo one", "one\n", "", 0),
        ("echo out; echo err >&2; exit 3", "out\n", "err\n", 3),
        ("pwd", &root, "", 0),
        ("cd / && pwd", "/\n", "", 0),
        // The directory and variables do not stay.
        ("pwd; echo ${LATER-unset}", &format!("{root}unset\n"), "", 0),
        ("echo $GREETING", "hello\n", "", 0),
        ("echo one\necho two", "one\ntwo\n", "", 0),
        ("cat <<'END'\na $b 'c'\nEND", "a $b 'c'\n", "", 0),
        ("echo one | tr o O && false || echo $?", "One\n1\n", "", 0),
        // Input is empty, and programs do not ask.
        ("cat; read -r line; echo $?", "1\n", "", 0),
        ("cat /dev/tty 2>/dev/null || echo no terminal", "no terminal\n", "", 0),
        (
            "echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND",
            "cat cat 0 noninteractive\n",
            "",
            0,
        ),
        ("printf 'a\\377b\\303'", "a\u{fffd}b\u{fffd}", "", 0),
        ("-x", "", "/bin/bash: line 1: -x: command not found\n", 127),
        ("exit 255", "", "", 255),
    ];
    for (command, stdout, stderr, code) in cases {
        let value = fixture.bash(command).await;
        let found =
            (value["stdout"].as_str(), value["stderr"].as_str(), value["exit_code"].as_i64());
        assert_eq!(found, (Some(*stdout), Some(*stderr), Some(i64::from(*code))), "{command}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn the_environment_is_that_of_the_workspace_and_lets_nothing_wait() {
    let fixture = Fixture::new();
    let value = fixture.bash("env").await;
    let lines: Vec<&str> = value["stdout"].as_str().unwrap().lines().collect();
    for variable in [
        "PAGER=cat",
        "GIT_PAGER=cat",
        "MANPAGER=cat",
        "SYSTEMD_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "GCM_INTERACTIVE=never",
        "SSH_ASKPASS_REQUIRE=never",
        "DEBIAN_FRONTEND=noninteractive",
        "PIP_NO_INPUT=1",
        "TERM=dumb",
    ] {
        assert!(lines.contains(&variable), "{variable}: {lines:?}");
    }
    // Variables of this process, which are not those of the workspace.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!lines.iter().any(|line| line.starts_with("CARGO_")), "{lines:?}");
    fixture.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_leads_a_session_without_a_terminal() {
    let fixture = Fixture::new();
    let value =
        fixture.bash("read -r -a stat < /proc/$$/stat; echo $$ ${stat[5]} ${stat[6]}").await;
    let text = value["stdout"].as_str().unwrap();
    let [process, session, terminal] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{value}")
    };
    assert_eq!((session, terminal), (process, "0"));
    fixture.close().await;
}

/// `rest` says by the pipe `begun` when the time of the command is up.
async fn check_clean_up(rest: &str) {
    let fixture = Fixture::new();
    let trap = "trap 'sleep 0.1; echo bye; echo bye > file; exit' TERM";
    let result = fixture.out_of_time(&format!("{trap}; {rest}")).await;
    assert!(result.to_text().starts_with("bye\n"), "{}", result.to_text());
    assert!(fixture.root().join("file").exists());
    fixture.close().await;
}

#[tokio::test]
async fn a_command_can_clean_up_before_it_is_ended() {
    check_clean_up("echo > begun; while :; do sleep 0.02; done").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stopped_command_can_clean_up_before_it_is_ended() {
    let is_stopped = "read -r -a stat < /proc/$$/stat && test ${stat[2]} = T";
    let stop = format!("(until {is_stopped}; do :; done; echo > begun) & kill -STOP $$");
    check_clean_up(&stop).await;
}

#[tokio::test]
async fn models_read_one_text() {
    let fixture = Fixture::new();
    let text =
        async |command: &str| fixture.call("Bash", json!({ "command": command })).await.to_text();
    assert_eq!(text("echo out; echo err >&2; exit 3").await, "out\n[stderr]\nerr\n[exit code 3]");
    assert_eq!(text("true").await, "[no output]");
    assert_eq!(text("kill -9 $$").await, "[ended by signal 9]");
    fixture.close().await;
}

#[tokio::test]
async fn an_exit_code_is_not_an_error() {
    let fixture = Fixture::new();
    let result = fixture.call("Bash", json!({ "command": "grep -q x /dev/null" })).await;
    assert!(!result.is_error());
    fixture.close().await;
}

#[tokio::test]
async fn a_command_without_end_is_ended_with_all_that_it_started() {
    let fixture = Fixture::new();
    let pipe = fixture.pipe("pipe");
    // In the group, in a group of its own, in a session of its own, orphaned, and deaf to SIGTERM;
    // without the mark, in a session of its own, and orphaned.
    let command = "exec 3>pipe; echo begun; echo begun >&2
        sleep 1000 & (set -m; sleep 1000 &) ; setsid sleep 1000 & (setsid sleep 1000 &)
        env -i sleep 1000 & (env -i setsid sleep 1000 &) ; (trap '' TERM; echo > begun; sleep 1000; sleep 1000) &
        wait";
    let result = fixture.out_of_time(command).await;
    assert!(result.is_error());
    let value = result.structured().unwrap();
    assert_eq!((&value["stdout"], &value["stderr"]), (&json!("begun\n"), &json!("begun\n")));
    assert_eq!((&value["timed_out"], &value["exit_code"]), (&json!(true), &json!(null)));
    assert!(result.to_text().contains("ended after 30000 ms"), "{}", result.to_text());
    ended(pipe).await;
    fixture.close().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_processes() {
    let fixture = Fixture::new();
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    let command = "exec 3>held; (env -i setsid sleep 1000 &) ; echo yes > begun; sleep 1000";
    let call = fixture.pool.call(ToolCall::json("Bash", json!({ "command": command })));
    tokio::select! {
        _ = call => panic!("the command has no end"),
        text = ended(begun) => assert_eq!(text, "yes\n"),
    }
    ended(held).await;
    fixture.close().await;
}

/// A command may do much before its start is reported, on a busy machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_that_is_cancelled_during_the_start_ends_its_processes() {
    use crate::process_tree::MARK;
    use crate::shell::spawn::Launcher;
    for is_reported in [false, true] {
        let fixture = Fixture::new();
        let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
        let root = fixture.root();
        let workspace = crate::Workspace::builder().root(&root).build().unwrap();
        let launcher = Launcher::new(workspace, ShellParams::default());
        let (report, reported) = std::sync::mpsc::channel::<()>();
        let mark = format!("start-{}-{is_reported}.", std::process::id());
        let environment = (MARK, mark.clone());
        let start = move || {
            let mut command = tokio::process::Command::new("bash");
            let script = "exec 3>held; (setsid sleep 1000 &); echo > begun; sleep 1000";
            command.args(["-c", script]).current_dir(root).envs([environment]).kill_on_drop(true);
            crate::shell::before_exec::prepare(&mut command, &CommandLimits::default());
            let child = command.spawn()?;
            let _ = reported.recv();
            Ok(child)
        };
        let mut call = Box::pin(launcher.start_on_thread(start, |child| child.id(), mark));
        tokio::select! {
            biased;
            _ = &mut call => panic!("the start is not reported"),
            _ = ended(begun) => {}
        }
        if is_reported {
            report.send(()).unwrap();
        }
        drop(call);
        drop(report);
        ended(held).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_background_process_that_holds_the_output_does_not_delay_the_result() {
    let fixture = Fixture::new();
    let mut held = fixture.pipe("held");
    let value = fixture.bash("setsid sleep 1000 3>held & echo done").await;
    assert_eq!((&value["stdout"], &value["exit_code"]), (&json!("done\n"), &json!(0)));
    assert!(value["notice"].as_str().unwrap().contains("run_in_background"), "{value}");
    assert!(held.try_recv().is_err());
    // It stays, and ends with the pool.
    fixture.close().await;
    ended(held).await;
}

#[tokio::test]
async fn a_long_output_is_cut_and_stored() {
    let fixture = Fixture::new();
    let value = fixture.bash("seq 1 200000").await;
    let text = value["stdout"].as_str().unwrap();
    assert!(text.len() < 101_000 && text.starts_with("1\n2\n3\n"), "{}", text.len());
    assert!(
        text.ends_with("199999\n200000\n") && text.contains("bytes are left out here"),
        "{text}"
    );
    let file = value["output_files"][0].as_str().unwrap();
    assert!(text.contains(file));
    let stored = std::fs::read_to_string(file).unwrap();
    assert_eq!(stored.lines().count(), 200_000);
    // Others of this machine cannot read it.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = Path::new(file);
    assert_eq!((mode(file), mode(file.parent().unwrap())), (0o600, 0o700));
    fixture.close().await;
    assert!(!std::fs::exists(file).unwrap());
}

#[tokio::test]
async fn an_endless_output_takes_bounded_memory() {
    let fixture = Fixture::new();
    let arguments = json!({ "command": "head -c 50000000 /dev/zero", "timeout_ms": 60000 });
    let value = fixture.value("Bash", arguments).await;
    assert!(value["stdout"].as_str().unwrap().chars().count() < 101_000);
    fixture.close().await;
}

#[tokio::test]
async fn mistakes_are_errors() {
    let fixture = Fixture::new();
    for arguments in [
        json!({ "command": "" }),
        json!({ "command": "true", "timeout_ms": 0 }),
        json!({ "command": "true", "timeout_ms": 600_001 }),
        json!({ "command": "true", "dangerouslyDisableSandbox": true }),
    ] {
        assert!(fixture.call("Bash", arguments.clone()).await.is_error(), "{arguments}");
    }
    let root = fixture.root();
    fixture.bash("rm -r \"$PWD\"").await;
    let expected = format!("the working directory `{}` does not exist", root.display());
    for tool in ["Bash", "terminal"] {
        let result = fixture.call(tool, json!({ "command": "pwd" })).await;
        assert_eq!(result.to_text(), expected, "{tool}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn missing_programs_hide_the_tools_and_the_report_says_why() {
    let params = ShellParams { shell: "/none/bash".into(), ..ShellParams::default() };
    let fixture = Fixture::with(params, &[]);
    assert!(fixture.pool.tools().is_empty());
    let report = fixture.pool.report().to_string();
    assert!(report.contains("`/none/bash` does not exist; install bash"), "{report}");
}

#[tokio::test]
async fn patterns_of_declarations_are_about_the_command() {
    use tool_runtime::pool::DeclaredTools;
    use tool_runtime::shell::ShellMatcher;
    let directory = tempfile::TempDir::new().unwrap();
    let workspace = crate::Workspace::builder().root(directory.path()).build().unwrap();
    let builtins = crate::Builtins::new(workspace).shell(ShellParams::default());
    let pool =
        ToolPool::builder().install(builtins).argument_matcher(ShellMatcher).build().unwrap();
    let restriction = pool.restrict_declared(&DeclaredTools::allow("Bash(echo *)"));
    let cases = [
        ("echo yes", true),
        ("cat /etc/passwd", false),
        ("echo yes; cat /etc/passwd", false),
        ("echo yes && cat /etc/passwd", false),
        ("echo yes | sh", false),
        ("echo $(cat /etc/passwd)", false),
        ("(cat /etc/passwd)", false),
        ("env cat /etc/passwd", false),
        ("echo x | xargs cat", false),
        ("bash -c 'echo yes'", false),
    ];
    for (command, allowed) in cases {
        let result = pool.call(ToolCall::json("Bash", json!({ "command": command }))).await;
        assert_eq!(!result.is_error(), allowed, "{command}: {}", result.observation().to_text());
    }
    drop(restriction);
    tokio::time::timeout(Duration::from_secs(60), pool.close()).await.unwrap();
}
