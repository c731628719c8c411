//! What a gateway says while the hub is away, or no runner is there.

use super::processes::{CALLER, FLEET, GATEWAY, Hub, OTHER, Server, command, free_address, run};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// A command of the gateway to a hub at this address.
async fn gateway(address: &str, token: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command(GATEWAY, token, words);
    command.env("FLEET_HUB", format!("http://{address}"));
    run(command).await
}

const CALL: [&str; 4] = ["call", "math.add", "a=2", "b=40"];

#[tokio::test]
async fn every_command_names_the_hub_that_is_away() {
    let address = free_address().await;
    let reason = format!("cannot reach the hub at http://{address}: Connection refused");
    let is_told =
        |text: &str| text.contains(&reason) && text.contains("; start it, or correct the address");

    let (code, printed, errors) = gateway(&address, CALLER, &CALL).await;
    assert_eq!((code, &*printed), (Some(1), ""), "{errors}");
    assert_eq!(errors.matches(&reason).count(), 1, "it is told once: {errors}");
    let error = errors.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(error.contains("`math.add` is not there") && is_told(error), "{errors}");

    let (code, _, errors) = gateway(&address, CALLER, &["list"]).await;
    assert_eq!(code, Some(0));
    assert!(
        errors.contains("warning: runner:* is not connected: ") && is_told(&errors),
        "{errors}"
    );

    let (_, printed, errors) = gateway(&address, CALLER, &["report"]).await;
    assert!(printed.contains("runner:* is not connected: ") && is_told(&printed), "{printed}");
    assert_eq!(errors, "");

    let (_, printed, _) = gateway(&address, CALLER, &["report", "--json"]).await;
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["absent"][0]["source"], "runner:*");
    assert!(is_told(report["absent"][0]["reason"].as_str().unwrap()), "{printed}");
}

#[tokio::test]
async fn every_command_says_that_no_runner_is_there() {
    let hub = Hub::start().await;
    let reason = format!("no runner is there ({}); start one", hub.url);
    let (code, _, errors) = run(hub.gateway(&CALL)).await;
    assert_eq!(code, Some(1));
    assert!(
        errors.contains(&format!(
            "`math.add` is not there, and the tools of remote runners are missing: {reason}"
        )),
        "{errors}"
    );
    let (_, _, errors) = run(hub.gateway(&["list"])).await;
    assert!(errors.contains(&format!("warning: runner:* is not connected: {reason}")), "{errors}");
    let (_, printed, _) = run(hub.gateway(&["report"])).await;
    assert!(printed.contains(&format!("runner:* is not connected: {reason}")), "{printed}");
}

#[tokio::test]
async fn a_served_gateway_says_that_the_hub_is_away_until_it_is_there() {
    let address = free_address().await;
    let mut command = command(GATEWAY, CALLER, &["serve"]);
    command.env("FLEET_HUB", format!("http://{address}"));
    let mut server = Server::start(command).await;
    let call = json!({ "name": "math.add", "arguments": { "a": 2, "b": 40 } });
    let result = server.request("tools/call", call.clone()).await;
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("cannot reach the hub at http://{address}: ")), "{text}");
    server.line(&format!("cannot reach the hub at http://{address}: ")).await;

    let mut hub = Hub::start_at(&address).await;
    let _runner = hub.run("math").await;
    server.line(&format!("connected to the hub at http://{address}")).await;
    server.until_listed("math.add").await;
    let result = server.request("tools/call", call).await;
    assert_eq!(result["content"][0]["text"], "42", "{result}");

    hub.restart().await;
    server.line(&format!("lost the connection to the hub at http://{address}: ")).await;
    server.line(&format!("connected to the hub at http://{address} again")).await;
}

#[tokio::test]
async fn a_hub_that_does_not_answer_does_not_delay_a_server() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut command = command(GATEWAY, CALLER, &["serve"]);
    command.env("FLEET_HUB", format!("http://{}", silent.local_addr().unwrap()));
    let began = Instant::now();
    let mut server = Server::start(command).await;
    // A request to a hub has 10 seconds.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let result = server.request("tools/call", json!({ "name": "math.add" })).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("the hub is still being connected to, or no runner has announced its tools"),
        "{text}"
    );
}

#[tokio::test]
async fn a_token_that_may_call_no_queue_is_reported() {
    let hub = Hub::start().await;
    let _runner = hub.run("math").await;
    let address = hub.url.trim_start_matches("http://");
    let reason =
        "the token of `other` may call no queue; give it the scope `call:QUEUE` at the hub";
    let (code, _, errors) = gateway(address, OTHER, &CALL).await;
    assert_eq!(code, Some(1));
    assert!(
        errors.contains(&format!("the tools of remote runners are missing: {reason}")),
        "{errors}"
    );
    let (_, printed, _) = gateway(address, OTHER, &["report"]).await;
    assert!(printed.contains(&format!("runner:* is not connected: {reason}")), "{printed}");
    let status = command(FLEET, OTHER, &["remote", "status", "--connect", &hub.url]);
    let (code, printed, _) = run(status).await;
    assert_eq!(code, Some(1));
    assert!(printed.contains(&format!("problem: {reason}")), "{printed}");
}
