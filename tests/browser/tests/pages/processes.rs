//! Processes, time, hints.

use crate::support::{Desk, LIMIT, page, params};
use rustix::process::{Pid, Signal};
use serde_json::json;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tool_runtime::CancellationToken;
use tool_runtime::prelude::*;
use tool_runtime_builtins::Sandbox;
use tool_runtime_builtins::browser::BrowserParams;

/// The variable by which the program of a host is found.
const HOST: &str = "BROWSER_TEST_HOST";

/// A program of a path of its own, by which its processes are found.
pub(crate) struct Marked {
    directory: tempfile::TempDir,
    program: PathBuf,
}

impl Marked {
    pub(crate) fn new() -> Self {
        let directory = tempfile::TempDir::new().unwrap();
        let program = directory.path().join("chromium");
        script(&program, "exec chromium \"$@\" \"--mark=$0\"");
        Self { directory, program }
    }

    pub(crate) fn params(&self) -> BrowserParams {
        BrowserParams { program: Some(self.program.clone()), ..params() }
    }

    /// The leader of the browser's session, and the profile.
    fn session(&self) -> (Pid, PathBuf) {
        let (browser, line) = self.browser();
        (session(browser).unwrap(), profile(&line))
    }

    /// The first process of the browser, and its command line.
    fn browser(&self) -> (Pid, String) {
        self.running().expect("no browser runs")
    }

    fn running(&self) -> Option<(Pid, String)> {
        let mark = format!("--mark={}", self.directory.path().display());
        processes().find(|(_, line)| line.contains(&mark) && !line.contains("--type="))
    }
}

/// An executable script. Another process writes it: a file that a process has open for writing cannot be executed, and
/// another test may be about to start a process, which has our descriptors until it executes its program.
fn script(path: &Path, text: &str) {
    let mut write = Command::new("sh");
    write.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""]);
    assert!(write.arg(path).arg(text).status().unwrap().success());
}

/// Ids and command lines of all processes that have not ended.
fn processes() -> impl Iterator<Item = (Pid, String)> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some((Pid::from_raw(id)?, line)).filter(|(_, line)| !line.is_empty())
    })
}

/// `ID (NAME) STATE PARENT GROUP SESSION ..`, where the session of a process that is ending is -1.
fn session(id: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(3)?.parse().ok().filter(|id| *id > 0)?)
}

/// All processes of a session.
fn members(leader: Pid) -> Vec<(Pid, String)> {
    processes().filter(|(id, _)| session(*id) == Some(leader)).collect()
}

fn profile(command: &str) -> PathBuf {
    let at = command.split("--user-data-dir=").nth(1).unwrap();
    at.split(' ').next().unwrap().into()
}

/// Waits for a state of the system, which comes at once.
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "{what}");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn nothing_is_left_after_the_pool_was_closed() {
    let marked = Marked::new();
    let desk = Desk::with(marked.params());
    desk.open("about:blank").await;
    let (leader, profile) = marked.session();
    assert!(profile.exists() && members(leader).len() > 3);
    desk.close().await;
    assert_eq!(members(leader), []);
    assert!(!profile.exists());
}

#[tokio::test]
async fn nothing_is_left_after_the_pool_was_dropped() {
    let marked = Marked::new();
    let desk = Desk::with(marked.params());
    desk.open("about:blank").await;
    let (leader, profile) = marked.session();
    drop(desk);
    tokio::task::spawn_blocking(move || {
        wait("processes are left", || members(leader).is_empty());
        wait("the profile is left", || !profile.exists());
    })
    .await
    .unwrap();
}

/// The program of a process that is killed, or ends at a line of its input without closing its pool; without its variable
/// it does nothing.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "the parent reads it")]
async fn host() {
    let Some(program) = std::env::var_os(HOST) else { return };
    let desk = Desk::with(BrowserParams { program: Some(program.into()), ..params() });
    desk.open("about:blank").await;
    println!("step opened");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    // Dropped with the runtime.
    tokio::spawn(async move {
        let _desk = desk;
        std::future::pending::<()>().await;
    });
}

#[tokio::test]
async fn nothing_is_left_after_the_host_has_ended() {
    for is_killed in [true, false] {
        let marked = Marked::new();
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::host", "--nocapture"])
            .env(HOST, &marked.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(host.stdout.take().unwrap()).lines();
        let opened = lines.map_while(Result::ok).find(|line| line.contains("step opened"));
        opened.expect("it has ended");
        let (leader, profile) = marked.session();
        match is_killed {
            true => host.kill().unwrap(),
            false => host.stdin.take().unwrap().write_all(b"\n").unwrap(),
        }
        host.wait().unwrap();
        wait("processes are left", || members(leader).is_empty());
        assert!(!profile.exists(), "killed: {is_killed}");
    }
}

#[tokio::test]
async fn a_browser_that_crashed_is_started_again() {
    let marked = Marked::new();
    let site = page("<title>Page</title>").await;
    let desk = Desk::with(marked.params());
    desk.open(&site.url("/")).await;
    let (leader, profile) = marked.session();
    rustix::process::kill_process(marked.browser().0, Signal::KILL).unwrap();
    // The call may be the one that notices it.
    let first = desk.call("browser_navigate", json!({"url": site.url("/")})).await;
    let mut text = first.observation().to_text();
    if first.is_error() {
        assert!(text.contains("starts a new one"), "{text}");
        text = desk.text("browser_navigate", json!({"url": site.url("/")})).await;
    }
    assert!(text.contains("was restarted") && text.contains("\"Page\""), "{text}");
    assert!(!profile.exists());
    assert_eq!(members(leader), []);
    desk.close().await;
}

#[tokio::test]
async fn a_page_that_crashed_loses_its_tab_alone() {
    let marked = Marked::new();
    let site = page("<title>Page</title>").await;
    let desk = Desk::with(marked.params());
    desk.open(&site.url("/")).await;
    let renderers = members(marked.session().0);
    for (id, _) in renderers.iter().filter(|(_, line)| line.contains("--type=renderer")) {
        rustix::process::kill_process(*id, Signal::KILL).unwrap();
    }
    let first = desk.call("browser_get_state", json!({})).await;
    let mut text = first.observation().to_text();
    if first.is_error() {
        text.push_str(&desk.text("browser_list_tabs", json!({})).await);
    }
    assert!(text.contains("the page of tab 1 crashed"), "{text}");
    assert_eq!(desk.open(&site.url("/")).await["title"], "Page");
    desk.close().await;
}

#[tokio::test]
async fn a_page_that_does_not_respond_is_an_error_and_then_the_browser_is_replaced() {
    let site = page("<title>Busy</title><button onclick='for(;;);'>Hang</button>").await;
    let desk = Desk::with(BrowserParams { action_seconds: 10, ..params() });
    desk.open(&site.url("/")).await;
    let index = desk.index("Hang").await;
    let mut errors = vec![desk.error("browser_click", json!({"index": index})).await];
    while !errors.last().unwrap().contains("was ended") {
        assert!(errors.len() < 4, "{errors:?}");
        errors.push(desk.error("browser_get_state", json!({})).await);
    }
    assert!(errors[0].contains("did not respond in time"), "{errors:?}");
    let page = desk.open(&site.url("/")).await;
    assert!(page["notices"].to_string().contains("was restarted"), "{page}");
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_an_error_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let desk = Desk::with(BrowserParams { action_seconds: 10, ..params() });
    let error = desk.error("browser_navigate", json!({"url": url})).await;
    assert!(error.contains("did not answer within 10 seconds"), "{error}");
    assert_eq!(desk.open("about:blank").await["url"], "about:blank");
    desk.close().await;
}

#[tokio::test]
async fn a_page_that_redirects_without_end_is_an_error_in_time() {
    let site = page("<script>location.replace('/' + Math.random())</script>").await;
    let desk = Desk::with(BrowserParams { action_seconds: 10, ..params() });
    let error = desk.error("browser_navigate", json!({"url": site.url("/")})).await;
    assert!(error.contains("was not ready within 20 seconds and was left"), "{error}");
    assert_eq!(desk.open("about:blank").await["url"], "about:blank");
    desk.close().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_browser_stays() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let desk = Desk::with(BrowserParams { action_seconds: 3600, ..params() });
    desk.open("about:blank").await;
    let token = CancellationToken::new();
    let context = ToolContext::default().with_cancellation(token.clone());
    let call = ToolCall::json("browser_navigate", json!({"url": url}));
    let cancel = async {
        // The browser has asked the server.
        let connection = listener.accept().await.unwrap();
        token.cancel();
        connection
    };
    let ended = async { tokio::join!(desk.pool.call_with(call, &context), cancel) };
    let ended = tokio::time::timeout(LIMIT, ended).await;
    let (result, _connection) = ended.expect("the call goes on");
    assert!(result.is_error());
    let text = desk.text("browser_list_tabs", json!({})).await;
    assert!(!text.contains("was restarted"), "{text}");
    desk.close().await;
}

#[tokio::test]
async fn an_idle_browser_is_closed() {
    let marked = Marked::new();
    let desk = Desk::with(BrowserParams { idle_seconds: 1, ..marked.params() });
    desk.open("about:blank").await;
    let closed = async {
        while marked.running().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, closed).await.expect("the browser stays");
    let page = desk.open("about:blank").await;
    assert!(page["notices"].to_string().contains("was restarted"), "{page}");
    desk.close().await;
}

#[tokio::test]
async fn more_browsers_than_allowed_are_an_error() {
    let desk = Desk::with(BrowserParams { max_browsers: 1, ..params() });
    desk.open("about:blank").await;
    let session = desk.pool.session();
    let call = ToolCall::json("browser_list_tabs", json!({}));
    let result = session.pool().call(call).await;
    assert!(result.is_error());
    let text = result.observation().to_text();
    assert!(text.contains("1 browsers are in use"), "{text}");
    desk.close().await;
}

#[tokio::test]
async fn a_program_that_is_no_browser_is_an_error() {
    let desk = Desk::with(BrowserParams { program: Some("false".into()), ..params() });
    for _ in 0..3 {
        let error = desk.error("browser_list_tabs", json!({})).await;
        assert!(error.contains("it ended when it was started"), "{error}");
    }
    let error = desk.error("browser_list_tabs", json!({})).await;
    assert!(error.contains("wait half a minute"), "{error}");
    desk.close().await;
}

#[test]
fn hints_are_stated_and_outputs_have_schemas() {
    let desk = Desk::new();
    let mut read_only = Vec::new();
    for tool in desk.pool.tools().iter() {
        let definition = tool.definition();
        let hints = &definition.annotations;
        assert!(hints.destructive_hint.is_some() && hints.idempotent_hint.is_some());
        assert_eq!(hints.open_world_hint, Some(true), "{}", tool.name());
        assert_eq!(definition.tags, ["specialist"]);
        let has_text_alone = tool.name() == "browser_set_storage";
        assert!(definition.output_schema.is_some() || has_text_alone, "{}", tool.name());
        if hints.read_only_hint == Some(true) {
            read_only.push(tool.name().to_owned());
        }
    }
    read_only.sort();
    assert_eq!(
        read_only,
        ["browser_get_content", "browser_get_state", "browser_get_storage", "browser_list_tabs"]
    );
    assert_eq!(desk.pool.tools().len(), 12);
}

/// Another program of the machine would read files and cookies by it.
#[tokio::test]
async fn no_port_controls_the_browser_and_its_profile_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let marked = Marked::new();
    let desk = Desk::with(marked.params());
    desk.open("about:blank").await;
    let (leader, profile) = marked.session();
    let sockets: Vec<String> = members(leader).iter().flat_map(|(id, _)| sockets(*id)).collect();
    assert!(!sockets.is_empty(), "a browser has sockets");
    let listening: Vec<String> = ["tcp", "tcp6"].into_iter().flat_map(listening).collect();
    assert!(!listening.iter().any(|inode| sockets.contains(inode)), "{listening:?}");
    for directory in [&profile, profile.parent().unwrap()] {
        let mode = directory.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", directory.display());
    }
    assert!(!profile.starts_with(std::env::temp_dir()));
    desk.close().await;
}

/// A program in place of the browser, which has been taken over by a page.
#[tokio::test]
async fn a_browser_in_a_sandbox_writes_its_profile_and_downloads_alone() {
    let tools = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (program, outside) = (tools.path().join("chromium"), tools.path().join("outside"));
    script(&program, "");
    for sandbox in [Sandbox::Landlock, Sandbox::Bubblewrap] {
        let params = BrowserParams {
            program: Some(program.clone()),
            downloads: Some("files".into()),
            ..params()
        };
        let desk = Desk::confined(sandbox, params);
        let root = desk.directory.path();
        let files = ["files/new", "inside"].map(|name| root.join(name));
        let [downloaded, inside] = files.each_ref().map(|file| file.display());
        let text = format!(
            "for f in {} {inside} {downloaded} ./profile; do echo x > $f; done; test -f ./profile && echo written >&2",
            outside.display()
        );
        script(&program, &text);
        let error = desk.error("browser_navigate", json!({"url": "about:blank"})).await;
        assert!(
            error.contains("it ended when it was started") && error.contains("written"),
            "{error}"
        );
        assert_eq!(files.map(|file| file.exists()), [true, false]);
        assert!(!outside.exists());
        desk.close().await;
    }
}

/// The inodes of a process's sockets.
fn sockets(id: Pid) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{}/fd", id.as_raw_nonzero())).into_iter().flatten();
    let targets = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |target: PathBuf| {
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    targets.filter_map(inode).collect()
}

/// The inodes of sockets that listen.
fn listening(protocol: &str) -> Vec<String> {
    let table = fs::read_to_string(format!("/proc/net/{protocol}")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == "0A").map(|row| row[9].to_owned()).collect()
}
