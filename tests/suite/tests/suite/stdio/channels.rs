//! Pipes, sockets, files and terminals: only protocol messages are written to any of them.

use super::host::{Channel, Host, call, greeted, greeting, messages, misbehaving_tools};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use suite::limit::Limit;

/// Tools that print, tools that read, invalid lines, and many concurrent calls.
fn converse(channel: Channel) {
    let mut host = Host::start(channel).greeted();
    let answer = host.ask(&call(1, "print_line", &json!({})));
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{channel:?}");
    let answer = host.ask(&call(2, "print_everywhere", &json!({})));
    assert_eq!(answer["result"]["content"][0]["text"], "0", "{channel:?}: {answer}");
    host.write("not json");
    assert_eq!(host.read()["error"]["code"], -32700);
    for id in 10..110 {
        host.write(call(id, "sleepy", &json!({ "millis": id % 3 })).to_string());
    }
    let mut ids: Vec<_> = (10..110).map(|_| host.read()["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (10..110).map(Some).collect::<Vec<_>>());
    assert_eq!(host.finish(), [] as [Value; 0]);
}

#[test]
fn pipes() {
    converse(Channel::Pipes);
}

#[test]
fn sockets() {
    converse(Channel::Sockets);
}

#[test]
fn one_socket_for_both_directions() {
    converse(Channel::OneSocket);
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn files() {
    let script = [
        greeting().to_string(),
        greeted().to_string(),
        call(1, "print_everywhere", &json!({})).to_string(),
        "not json".to_owned(),
        call(2, "sleepy", &json!({ "millis": 50 })).to_string(),
    ];
    let (input, output) = (temporary("stdio-input.jsonl"), temporary("stdio-output.jsonl"));
    std::fs::write(&input, script.join("\n")).expect("a file");
    let input = File::open(input).expect("the file");
    let answers = File::create(&output).expect("a file");
    let mut server = misbehaving_tools(input.into(), answers.into()).spawn().expect("it starts");
    let _limit = Limit::of(&server);
    assert!(server.wait().expect("it ends").success());
    let printed = messages(&std::fs::read_to_string(output).expect("the file"));
    let mut ids: Vec<_> = printed.iter().map(|message| message["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [None, Some(0), Some(1), Some(2)], "{printed:?}");
}

/// A user at a terminal, which echoes every line and ends the input at Ctrl-D.
#[test]
fn a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it may be opened");
    let name = ptsname(&ours, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
    let theirs = || -> Stdio {
        File::options().read(true).write(true).open(&name).expect("the other end").into()
    };
    let mut server = misbehaving_tools(theirs(), theirs()).spawn().expect("it starts");
    let _limit = Limit::of(&server);
    let mut keys = File::from(ours);
    let mut screen = BufReader::new(keys.try_clone().expect("a duplicate"));
    let mut type_in = |line: String| {
        writeln!(keys, "{line}").expect("the terminal takes it");
        let mut shown = String::new();
        screen.read_line(&mut shown).expect("UTF-8");
        assert_eq!(shown.trim_end(), line, "a terminal repeats what is typed");
        shown.clear();
        screen.read_line(&mut shown).expect("UTF-8");
        serde_json::from_str::<Value>(&shown).unwrap_or_else(|e| panic!("{e}: {shown:?}"))
    };
    assert_eq!(type_in(greeting().to_string())["id"], 0);
    assert_eq!(type_in(call(1, "print_everywhere", &json!({})).to_string())["id"], 1);
    assert_eq!(type_in("hello".to_owned())["error"]["code"], -32700);
    keys.write_all(b"\x04").expect("the terminal takes it");
    assert!(server.wait().expect("it ends").success());
}
