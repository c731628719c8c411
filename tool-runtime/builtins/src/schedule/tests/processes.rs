//! Several processes with one file. The test program starts itself: `child` is the other process.

use super::*;
use crate::schedule::RunState;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use tool_runtime::hook::{Before, Hook, HookCall};

const FILE: &str = "TOOL_RUNTIME_TEST_SCHEDULE";

/// Lines of a child that are meant for its parent.
const MARK: &str = "child: ";

/// A host in another process, which advances by one step for each time that it reads,
/// and waits for its runs by `wait`.
struct Host {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Host {
    fn start(file: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "schedule::tests::processes::child",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, lines }
    }

    fn tick(&mut self, time: &str) {
        writeln!(self.input, "{time}").unwrap();
    }

    fn line(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("the child ended").unwrap();
            // The test harness prints the name of the test before it.
            if let Some((_, line)) = line.split_once(MARK) {
                return line.to_owned();
            }
        }
    }

    /// The news of one step.
    fn lines_of_tick(&mut self) -> Vec<String> {
        std::iter::repeat_with(|| self.line()).take_while(|line| line != "ticked").collect()
    }

    fn wait_for(&mut self, expected: &str) {
        while self.line() != expected {}
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(text: &str) {
    // Not `println`: the harness would keep it.
    let _ = writeln!(std::io::stdout(), "{MARK}{text}");
}

/// Tools that tell their calls. `stuck` and `safe` never end, `held` is held back by a hook.
fn child_setup(file: &Path) -> Setup {
    let stuck = |name: &str, is_safe: bool| {
        let name = name.to_owned();
        Tool::builder(name.clone(), "Never end.").idempotent(is_safe).handler(move || {
            say(&format!("called {name}"));
            std::future::pending::<String>()
        })
    };
    let hold = Hook::before("held", |_: HookCall| async {
        say("held back");
        std::future::pending::<Before>().await
    });
    Setup::with(
        |builder| builder.file(file),
        |pool| {
            pool.add(stuck("stuck", false))
                .add(stuck("safe", true))
                .add(stuck("held", false))
                .hook(hold)
        },
    )
}

/// Does nothing in the parent.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let setup = child_setup(Path::new(&file));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut host = setup.schedule.host(&setup.pool).on_event(|event| say(&event.to_string()));
        for line in std::io::stdin().lines() {
            let line = line.unwrap();
            let (time, waits) = match line.strip_prefix("wait ") {
                Some(time) => (time, true),
                None => (line.as_str(), false),
            };
            setup.time.set(time);
            host.tick().await.unwrap();
            if waits {
                host.idle().await;
            }
            say("ticked");
        }
    });
}

/// A file with a job of the tool at the full minutes, and a host in another process that has begun.
async fn one_job(tool: &str) -> (tempfile::TempDir, Setup, Host) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("schedule.db");
    let setup = child_setup(&file);
    setup.minutely(json!({ "tool": tool, "arguments": {} })).await;
    let mut host = Host::start(&file);
    host.tick(BEGINNING);
    host.wait_for("ticked");
    (directory, setup, host)
}

#[tokio::test]
async fn two_hosts_make_each_run_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("schedule.db");
    let setup = child_setup(&file);
    for name in ["a", "b", "c"] {
        setup.minutely(json!({ "name": name })).await;
    }
    let mut hosts = [Host::start(&file), Host::start(&file)];
    for minute in 0..10 {
        let time = format!("wait 2026-06-01T08:{minute:02}:00Z");
        hosts.iter_mut().for_each(|host| host.tick(&time));
        let lines: Vec<String> = hosts.iter_mut().flat_map(Host::lines_of_tick).collect();
        let mut ended: Vec<&String> = lines.iter().filter(|it| it.contains("succeeded")).collect();
        ended.sort();
        ended.dedup();
        assert_eq!((ended.len(), lines.len()), (3, 6), "{lines:#?}");
    }
}

#[tokio::test]
async fn a_call_whose_host_was_killed_is_shown_and_not_repeated() {
    for (tool, line) in [("stuck", "called stuck"), ("held", "held back")] {
        let (_directory, setup, mut host) = one_job(tool).await;
        host.tick("2026-06-01T08:00:00Z");
        host.wait_for(line);
        let (mut own, events) = setup.host();
        setup.time.set("2026-06-01T08:00:10Z");
        own.tick().await.unwrap();
        assert_eq!(setup.runs().await, ["running 08:00 x1"], "its host lives");
        assert_eq!(setup.list().await["host"]["process"], host.child.id());
        drop(host);
        assert_eq!(setup.list().await["host"], Value::Null);
        setup.time.set("2026-06-01T08:00:31Z");
        own.tick().await.unwrap();
        assert_eq!(setup.runs().await, ["interrupted 08:00 x1"]);
        let text = events.lock().unwrap()[0].to_string();
        assert!(text.contains("interrupted") && text.contains("may have had its effect"), "{text}");
        // The job continues.
        setup.time.set("2026-06-01T08:01:00Z");
        own.tick().await.unwrap();
        assert_eq!(setup.runs().await, ["running 08:01 x1", "interrupted 08:00 x1"]);
    }
}

#[tokio::test]
async fn a_call_that_is_safe_to_repeat_is_repeated_three_times() {
    let (directory, setup, mut host) = one_job("safe").await;
    host.tick("2026-06-01T08:00:00Z");
    host.wait_for("called safe");
    drop(host);
    for (attempt, time) in [(2, "2026-06-01T08:00:31Z"), (3, "2026-06-01T08:01:02Z")] {
        let mut next = Host::start(&directory.path().join("schedule.db"));
        next.tick(time);
        next.wait_for("called safe");
        setup.time.set(time);
        let runs = setup.list().await["jobs"][0]["runs"].clone();
        let first = runs.as_array().unwrap().last().unwrap().clone();
        assert_eq!((&first["state"], &first["attempts"]), (&json!("running"), &json!(attempt)));
    }
    let (mut own, events) = setup.host();
    setup.time.set("2026-06-01T08:01:40Z");
    own.tick().await.unwrap();
    let state = events.lock().unwrap()[0].state;
    assert_eq!(state, RunState::Interrupted);
}

#[test]
fn a_child_is_killed_before_its_file_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = Host::start(&directory.path().join("schedule.db"));
    host.tick(BEGINNING);
    host.wait_for("ticked");
    assert!(host.child.try_wait().unwrap().is_none());
}
