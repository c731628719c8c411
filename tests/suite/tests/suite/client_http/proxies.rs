//! Requests to loopback servers ignore the proxies of the environment.

use std::process::Command;
use std::time::Duration;
use suite::process::run;

const LIMIT: Duration = Duration::from_secs(300);

/// Another test, in a process with other environment variables.
#[test]
fn token_requests_to_loopback_ignore_proxies() {
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "client_http::oauth::a_client_authenticates_with_its_own_credentials"]);
    // A port without a listener.
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:1");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let ended = run(&mut command, LIMIT).expect("it starts");
    assert!(ended.output.contains("1 passed"), "{}", ended.described());
}
