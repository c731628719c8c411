//! The commands `run`, `remote status` and `remote serve`, and the option `remote` of `main!`.

use super::processes::{
    CALLER, FLEET, Hub, OTHER, Process, RUNNER, command, free_address, in_time, run,
};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tool_runtime::remote::{Board as _, HttpBoard, HttpBoardOptions, Runner, Topic};
use tool_runtime::{CancellationToken, Tool, ToolCall, ToolPool};

#[tokio::test]
async fn a_runner_waits_for_a_hub_that_starts_later() {
    let address = free_address().await;
    let words =
        ["run", "--connect", &format!("http://{address}"), "--queue", "math", "--allow", "math.*"];
    let mut runner = Process::start(command(FLEET, RUNNER, &words));
    let first = runner.line("; trying again").await;
    assert!(first.starts_with(&format!("warning: cannot reach the hub at http://{address}: ")));
    let hub = Hub::start_at(&address).await;
    let accepted = format!("runner of queue `math` at http://{address}: 1 tool, 16 slots");
    assert_eq!(runner.line("").await, accepted);
    let (code, printed, errors) = run(hub.gateway(&["call", "math.add", "a=2", "b=40"])).await;
    assert_eq!((code, printed.trim()), (Some(0), "42"), "{errors}");
}

#[tokio::test]
async fn a_wrong_token_is_an_error_of_every_command() {
    let hub = Hub::start().await;
    let connect = ["--connect", &hub.url];
    let mut gateway = hub.gateway(&["list"]);
    gateway.env("TOOL_REMOTE_TOKEN", "wrong");
    for (command, code) in [
        (command(FLEET, "wrong", &[&["run"], &connect[..]].concat()), 1),
        (command(FLEET, "wrong", &[&["remote", "status"], &connect[..]].concat()), 1),
        (gateway, 3),
    ] {
        let (ended, printed, errors) = run(command).await;
        assert_eq!((ended, &*printed), (Some(code), ""), "{errors}");
        assert!(errors.contains("the token is not one of the hub's"), "{errors}");
    }
}

#[tokio::test]
async fn a_runner_says_once_that_the_hub_is_away_and_that_it_is_back() {
    let mut hub = Hub::start().await;
    let mut runner = hub.run("math").await;
    hub.restart().await;
    let lost = runner.line("").await;
    let begin = format!("warning: lost the connection to the hub at {}: ", hub.url);
    assert!(lost.starts_with(&begin) && lost.ends_with("; trying again"), "{lost}");
    assert_eq!(runner.line("").await, format!("connected to the hub at {} again", hub.url));
    runner.terminate();
    assert_eq!(runner.rest().await, "");
}

#[tokio::test]
async fn a_token_without_the_scope_of_a_queue_is_told_what_it_lacks() {
    let hub = Hub::start().await;
    for (token, name) in [(CALLER, "gateway"), (OTHER, "other")] {
        let (code, _, errors) = run(command(FLEET, token, &["run", "--connect", &hub.url])).await;
        assert_eq!(code, Some(1));
        let reason =
            format!("`{name}` may not run queue `fleet`; give its token the scope `run:fleet`");
        assert!(errors.contains(&reason), "{errors}");
        assert!(!errors.contains("runner of queue `fleet` at"), "it is not accepted: {errors}");
    }
}

#[tokio::test]
async fn there_is_no_hub_without_tokens() {
    let words = ["remote", "serve", "--listen", "127.0.0.1:0"];
    let (code, _, errors) = run(command(FLEET, CALLER, &words)).await;
    assert_eq!(code, Some(2));
    assert!(errors.contains("`--tokens FILE`"), "{errors}");
}

#[tokio::test]
async fn sigterm_lets_a_runner_answer_its_calls() {
    let hub = Hub::start().await;
    let runner = hub.run("files").await;
    let call = Process::start(hub.gateway(&["call", "files.wait", "name=there"]));
    hub.until_runner(|runner| runner["free"] == 15).await;
    runner.terminate();
    hub.until_runner(|runner| runner["leaves"] == true).await;
    std::fs::write(hub.file("there"), "").unwrap();
    let output = call.output().await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "there is there");
    assert!(runner.ended().await.success());
}

#[tokio::test]
async fn status_shows_queues_and_runners() {
    let hub = Hub::start().await;
    let mut command = hub.runner("math", "math.*");
    command.args(["--slots", "3", "--label", "region=eu"]);
    let mut runner = Process::start(command);
    runner.line("runner of queue").await;
    let (code, printed) = hub.status().await;
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("queue math: 1 runner, 1 tool, 0 queued, 0 running"), "{printed}");
    assert!(printed.contains("3 of 3 slots free  region=eu"), "{printed}");

    let status = hub.status_json().await;
    let queue = &status["queues"][0];
    assert_eq!(queue["queue"], "math");
    assert_eq!(queue["depth"]["queued"], 0);
    assert_eq!(queue["tools"][0], "math.add");
    assert_eq!(queue["runners"][0]["labels"]["region"], "eu");
    assert_eq!(status["problems"].as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn status_fails_if_something_is_wrong() {
    let hub = Hub::start().await;
    let (code, printed) = hub.status().await;
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("problem: no runner is there"), "{printed}");

    let _runner = hub.run("math").await;
    let mut other = hub.start_runner("other", "math.*");
    other.line("runner of queue").await;
    let (code, printed) = hub.status().await;
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("its tool `math.add` is left out: queue `"), "{printed}");
}

#[tokio::test]
async fn runners_and_callers_survive_a_restart_of_the_hub() {
    let mut hub = Hub::start().await;
    let _runner = hub.run("math").await;
    let (pool, remote) = hub.connect().await;
    let add = async || {
        let call = ToolCall::new("math.add", r#"{"a": 2, "b": 40}"#);
        in_time(pool.call(call)).await.observation().to_text()
    };
    assert_eq!(add().await, "42");
    let mut changes = pool.changes();
    hub.restart().await;
    assert_eq!(add().await, "42");
    assert!(changes.try_next().is_none());
    remote.close().await;
}

#[tokio::test]
async fn wrong_options_are_errors_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (tokens, scopes) = (file("tokens", "a:b scopes=call:*"), file("scopes", "a:b scopes=sing"));
    let names = file("names", "b c:d scopes=call:*");
    let (empty, split) = (file("empty", ""), file("split", "one\ntwo"));
    let url = "http://127.0.0.1:1";
    for (line, reason) in [
        ("remote status", "name the hub by `--connect URL`"),
        ("remote status --connect nowhere", "is not a URL"),
        ("remote status --connect ftp://h", "is not the address of a hub"),
        (&format!("remote status --connect {url} --token-file missing"), "`missing`"),
        (
            &format!("remote status --connect {url} --token-file {split}"),
            "the token has characters",
        ),
        ("run --connect nowhere", "is not a URL"),
        ("run --connect http://ada:b@h", "has a user"),
        (&format!("run --connect {url} --token-file {empty}"), "is empty"),
        (&format!("run --connect {url} --queue a.b"), "--queue: "),
        (&format!("run --connect {url} --slots 0"), "--slots: "),
        (&format!("run --connect {url} --label eu"), "--label: "),
        ("remote serve --tokens missing", "`missing`"),
        (&format!("remote serve --tokens {scopes}"), "the scope `sing`"),
        (&format!("remote serve --tokens {names}"), "`b c` is not a valid name"),
        (
            &format!("remote serve --tokens {tokens} --listen nowhere"),
            "`nowhere` is not an address",
        ),
        ("serve --http nowhere", "`nowhere` is not an address"),
        ("remote status --connect nats://h --token-file x", "a NATS server takes `--credentials`"),
        ("remote status --connect nats://h --credentials missing", "cannot read `missing`"),
        ("remote status --connect nats://a.b@h", "`a.b` is not a valid name of a caller"),
        (&format!("remote status --connect {url} --credentials x"), "a hub takes `--token-file`"),
        ("remote keep --connect nats://h", "name each queue"),
        ("remote nats-config --caller a", "name each caller"),
        ("remote nats-config --caller a --queue b.c", "--queue: "),
        ("remote nats-config --caller a --queue b --listen nowhere", "--listen: "),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (code, printed, errors) = run(command(FLEET, RUNNER, &words)).await;
        assert_eq!((code, &*printed), (Some(2), ""), "{line}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(reason), "{line}: {errors}");
    }
}

#[tokio::test]
async fn nats_config_writes_a_configuration_once_and_keeps_keys() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap().to_owned() + "/nats";
    let words = ["remote", "nats-config", "--dir", &dir, "--caller", "gateway", "--queue", "math"];
    let words = [&words[..], &["--queue", "math", "--queue", "files"]].concat();
    let (code, printed, errors) = run(command(FLEET, RUNNER, &words)).await;
    assert_eq!((code, &*errors), (Some(0), ""));
    for line in
        ["nats-server -c ", "remote keep --connect nats://127.0.0.1:4222", "nats://gateway@"]
    {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let read = |name: &str| std::fs::read_to_string(format!("{dir}/{name}")).unwrap();
    let config = read("nats.conf");
    assert!(config.contains("sync_interval: always"), "{config}");
    assert_eq!(config.matches("  RUNNER_math: {").count(), 1, "{config}");
    let key = read("runner-math.nk");
    let (code, _, errors) = run(command(FLEET, RUNNER, &words)).await;
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("exists; remove it to write it anew"), "{errors}");
    std::fs::remove_file(format!("{dir}/nats.conf")).unwrap();
    let (code, ..) = run(command(FLEET, RUNNER, &words)).await;
    assert_eq!((code, read("runner-math.nk"), read("nats.conf")), (Some(0), key, config));
}

#[tokio::test]
async fn a_gateway_that_trusts_runners_lists_their_hints_as_its_own() {
    let hub = Hub::start().await;
    let _runner = hub.run("math").await;
    let (_, printed, errors) = run(hub.gateway(&["list"])).await;
    let line = printed.lines().find(|line| line.starts_with("math.add")).expect(&errors);
    assert!(line.contains("read-only") && !line.contains("untrusted"), "{line}");
}

#[tokio::test]
async fn a_call_waits_for_the_queue_of_its_tool() {
    let hub = Hub::start().await;
    let _files = hub.run("files").await;
    let options = HttpBoardOptions::default().token(RUNNER);
    let board = HttpBoard::connect(&hub.url, options).await.unwrap();
    let mut rolls = board.listen(&Topic::Roll).await.unwrap();
    let late = async {
        // The gateway is there, and has the tools of the other queue.
        rolls.next().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let add = Tool::builder("math.add", "Add.").handler(|| async { "late" });
        let pool = ToolPool::builder().add(add).build().unwrap();
        let runner = Runner::new(board).queue("math".parse().unwrap());
        runner.serve_until(&pool, &CancellationToken::new()).await.unwrap();
    };
    let called = run(hub.gateway(&["call", "math.add"]));
    tokio::select! {
        (code, printed, errors) = called => {
            assert_eq!((code, printed.trim()), (Some(0), "late"), "{errors}");
        }
        () = late => panic!("it serves until the end"),
    }
}

#[tokio::test]
async fn a_tool_of_two_queues_is_called_with_a_warning() {
    let hub = Hub::start().await;
    let _math = hub.run("math").await;
    let mut other = hub.start_runner("a-math", "math.*");
    other.line("runner of queue").await;
    for words in [&["call", "math.add", "a=2", "b=40"][..], &["list"]] {
        let (_, _, errors) = run(hub.gateway(words)).await;
        // The first by name has it, or the one that was heard first.
        let warning = |out, has| {
            format!("warning: `math.add` of runner:{out} is left out: queue `{has}` has a tool")
        };
        let is_told = [("math", "a-math"), ("a-math", "math")]
            .into_iter()
            .any(|(out, has)| errors.contains(&warning(out, has)));
        assert!(is_told, "{errors}");
    }
}

#[tokio::test]
async fn a_runner_that_waits_for_a_silent_hub_ends_when_it_is_told() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let runner = Process::start(command(FLEET, RUNNER, &["run", "--connect", &url]));
    let _connection = silent.accept().await.unwrap();
    let began = Instant::now();
    runner.terminate();
    assert!(runner.ended().await.success());
    // A request to a hub has 10 seconds.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_runner_without_tools_says_so() {
    let hub = Hub::start().await;
    let mut command = hub.runner("math", "math.*");
    command.args(["--deny", "math.*"]);
    let mut runner = Process::start(command);
    runner.line("there is no tool to serve; look at `report`").await;
}

#[tokio::test]
async fn the_status_of_a_gateway_is_that_of_its_hub() {
    let hub = Hub::start().await;
    let _runner = hub.run("math").await;
    let (code, printed, errors) = run(hub.gateway(&["remote", "status"])).await;
    assert_eq!(code, Some(0), "{errors}");
    assert!(printed.contains("math"), "{printed}");
}

#[tokio::test]
async fn a_runner_whose_pattern_picks_no_tool_does_not_start() {
    let hub = Hub::start().await;
    let (code, _, errors) = run(hub.runner("math", "nothing.*")).await;
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("the pattern `nothing.*` picks no tool"), "{errors}");
}
