//! The end of the input ends the server, even with calls in flight.

use super::host::{Channel, Host, call};
use serde_json::json;

#[test]
fn calls_in_flight_get_a_grace_period() {
    for channel in [Channel::Pipes, Channel::Sockets, Channel::OneSocket] {
        let mut host = Host::start(channel).greeted();
        // The server waits a second for it.
        host.write(call(1, "sleepy", &json!({ "millis": 20 })).to_string());
        host.write(call(2, "print_line", &json!({})).to_string());
        let mut ids: Vec<_> = host.finish().iter().map(|m| m["id"].as_u64()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [Some(1), Some(2)], "{channel:?}");
    }
}

#[test]
fn endless_calls_do_not_delay_the_exit() {
    let mut host = Host::start(Channel::Pipes).greeted();
    let hour = json!({ "millis": 3_600_000 });
    host.write(call(1, "sleepy", &hour).to_string());
    host.write(call(2, "hang", &json!({})).to_string());
    host.log_until("hanging");
    host.write(call(3, "print_line", &json!({})).to_string());
    host.hang_up();
    host.log_until("dropped");
    // A server that waits for the thread is killed before the hour is over.
    assert_eq!(host.finish().iter().filter(|message| message["id"] == 3).count(), 1);
}

#[test]
fn a_host_that_closes_both_ends_stops_the_server() {
    let hosts = [Channel::Pipes, Channel::Sockets, Channel::OneSocket].map(|channel| {
        let mut host = Host::start(channel).greeted();
        host.write(call(1, "hang", &json!({})).to_string());
        host.log_until("hanging");
        host
    });
    let leaving = hosts.map(Host::leave);
    for mut server in leaving {
        assert!(server.wait().expect("it ends").success());
    }
}
