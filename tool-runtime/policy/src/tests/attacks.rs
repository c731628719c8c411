//! Calls that try to pass a policy which means to stop them, and honest calls next to them.

use super::{effect, yaml};
use crate::{Policy, SampleCall};
use std::sync::atomic::Ordering;
use tool_runtime_core::govern::Effect::{self, Allow, Ask, Deny};
use tool_runtime_core::govern::Risk;
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::{Principal, ToolAnnotations};

/// A policy, and calls with the decision about each.
struct Table {
    rules: &'static str,
    tool: &'static str,
    cases: &'static [(&'static str, Effect)],
}

const DENY_PATTERN: Table = Table {
    rules: "
default: allow
rules:
  - {id: no-rm, when: {arguments: [{field: command, pattern: 'rm -rf'}]}, then: deny}",
    tool: "shell",
    cases: &[
        (r#"{"command": "ls"}"#, Allow),
        (r#"{"command": "rm -rf /"}"#, Deny),
        (r#"{"command": "r\u006d -rf /"}"#, Deny),
        (r#"{"command": ["rm -rf /"]}"#, Deny),
        (r#"{"command": {"cmd": "rm -rf /"}}"#, Deny),
        (r#"{"command": 5}"#, Deny),
        (r#"{"command": true}"#, Deny),
        (r#"{"command": null}"#, Deny),
        (r"{}", Deny),
        (r"", Deny),
        (r"[]", Deny),
        (r#""rm -rf /""#, Deny),
        (r"null", Deny),
        (r#"{"command": "ls", "command": "rm -rf /"}"#, Deny),
        (r#"{"command": "rm -rf /", "command": "ls"}"#, Deny),
        (r#"{"command": "ls", "com\u006dand": "rm -rf /"}"#, Deny),
        (r#"{"command": "ls""#, Deny),
        (r#"{"command": "ls"} {"command": "rm -rf /"}"#, Deny),
        (r#"{"command": "rm\u200b -rf /"}"#, Deny),
        (r#"{"command": "r\u00adm -rf /"}"#, Deny),
        (r#"{"command": "ｒｍ -rf /"}"#, Deny),
        (r#"{"command": "rm\u2060 -rf /"}"#, Deny),
        (r#"{"command": "rm\u00a0-rf /"}"#, Deny),
        (r#"{"command": "rm -\u202erf /"}"#, Deny),
        (r#"{"command": "rm -r\u0000f /"}"#, Deny),
        (r#"{"command": "rm -r\ufe0ff /"}"#, Deny),
        (r#"{"command": "rm -r\udb40\udc66f /"}"#, Deny),
        (r#"{"command": "echo Grüße 👨‍👩‍👧"}"#, Allow),
        (r#"{"command": "ls", "Command": "rm -rf /"}"#, Deny),
        (r#"{"COMMAND": "rm -rf /", "command": "ls"}"#, Deny),
        (r#"{"command": "ls", "directory": "/", "Directory": "/"}"#, Allow),
        (r#"{"Command": "rm -rf /"}"#, Deny),
        (r#"{"command ": "rm -rf /"}"#, Deny),
    ],
};

const ALLOW_PATTERN: Table = Table {
    rules: "
rules:
  - {id: git, when: {arguments: [{field: command, matches: 'git (status|log)'}]}, then: allow}",
    tool: "shell",
    cases: &[
        (r#"{"command": "git status"}"#, Allow),
        (r#"{"command": "git log"}"#, Allow),
        (r#"{"command": "git status; rm -rf ~"}"#, Deny),
        (r#"{"command": "git status\nrm -rf ~"}"#, Deny),
        (r#"{"command": "git status\n"}"#, Deny),
        (r#"{"command": "x git status"}"#, Deny),
        (r#"{"command": "git\u200b status"}"#, Deny),
        (r#"{"command": "ｇｉｔ status"}"#, Deny),
        (r#"{"command": ["git status"]}"#, Deny),
        (r#"{"command": {"": "git status"}}"#, Deny),
        (r#"{"command": null}"#, Deny),
        (r"{}", Deny),
        (r"", Deny),
        (r"not json", Deny),
        (r#"{"command": "rm", "command": "git status"}"#, Deny),
        (r#"{"COMMAND": "git status"}"#, Deny),
        (r#"{"command": "GIT STATUS"}"#, Deny),
    ],
};

const DENY_NUMBER: Table = Table {
    rules: "
default: allow
rules:
  - {id: dear, when: {arguments: [{field: amount, min: 100}]}, then: deny}",
    tool: "pay",
    cases: &[
        (r#"{"amount": 99}"#, Allow),
        (r#"{"amount": 99.999}"#, Allow),
        (r#"{"amount": 100}"#, Deny),
        (r#"{"amount": 100.0}"#, Deny),
        (r#"{"amount": 1e2}"#, Deny),
        (r#"{"amount": 1E+3}"#, Deny),
        (r#"{"amount": 18446744073709551615}"#, Deny),
        (r#"{"amount": 1e308}"#, Deny),
        (r#"{"amount": 1e999}"#, Deny),
        (r#"{"amount": "5"}"#, Deny),
        (r#"{"amount": "500"}"#, Deny),
        (r#"{"amount": [5]}"#, Deny),
        (r#"{"amount": {"value": 5}}"#, Deny),
        (r#"{"amount": true}"#, Deny),
        (r#"{"amount": null}"#, Deny),
        (r#"{"amount": NaN}"#, Deny),
        (r#"{"amount": 0x64}"#, Deny),
        (r#"{"amount": -1}"#, Allow),
        (r#"{"amount": -0.0}"#, Allow),
        (r#"{"amount": 5, "amount": 500}"#, Deny),
    ],
};

const ALLOW_NUMBER: Table = Table {
    rules: "
rules:
  - {id: cheap, when: {arguments: [{field: amount, min: 0, max: 100}]}, then: allow}",
    tool: "pay",
    cases: &[
        (r#"{"amount": 0}"#, Allow),
        (r#"{"amount": -0.0}"#, Allow),
        (r#"{"amount": 100}"#, Allow),
        (r#"{"amount": 100.0000001}"#, Deny),
        (r#"{"amount": -1}"#, Deny),
        (r#"{"amount": "50"}"#, Deny),
        (r#"{"amount": [50]}"#, Deny),
        (r"{}", Deny),
        (r#"{"amount": null}"#, Deny),
    ],
};

const NESTED: Table = Table {
    rules: "
default: allow
rules:
  - {id: inner, when: {arguments: {target.host: {equals: prod}}}, then: deny}",
    tool: "deploy",
    cases: &[
        (r#"{"target": {"host": "dev"}}"#, Allow),
        (r#"{"target": {"host": "prod"}}"#, Deny),
        (r#"{"target": {"host": "pr\u200bod"}}"#, Deny),
        (r#"{"target": "prod"}"#, Deny),
        (r#"{"target": [{"host": "prod"}]}"#, Deny),
        (r#"{"target": {"host": ["dev", "prod"]}}"#, Deny),
        (r#"{"target": {}}"#, Deny),
        (r#"{"target": {"host": null}}"#, Deny),
        (r#"{"target": {"host": 1}}"#, Deny),
        (r#"{"target.host": "dev"}"#, Deny),
        (r#"{"target": {"host": "dev"}, "target": {"host": "prod"}}"#, Deny),
        (r#"{"target": {"host": "dev", "host": "prod"}}"#, Deny),
        (r#"{"target": {"host": "dev"}, "host": "prod"}"#, Allow),
    ],
};

const EACH: Table = Table {
    rules: "
default: allow
rules:
  - {id: keys, when: {arguments: {'files[*].path': {matches: '.*\\.pem'}}}, then: deny}",
    tool: "read",
    cases: &[
        (r#"{"files": [{"path": "a.txt"}]}"#, Allow),
        (r#"{"files": [{"path": "a.txt"}, {"path": "b.txt"}]}"#, Allow),
        (r#"{"files": [{"path": "a.pem"}]}"#, Deny),
        (r#"{"files": [{"path": "a.txt"}, {"path": "a.pem"}]}"#, Deny),
        (r#"{"files": []}"#, Deny),
        (r#"{"files": [{}]}"#, Deny),
        (r#"{"files": [{"path": "a.txt"}, {}]}"#, Deny),
        (r#"{"files": [{"path": "a.txt"}, null]}"#, Deny),
        (r#"{"files": {"path": "a.txt"}}"#, Deny),
        (r#"{"files": [[{"path": "a.txt"}]]}"#, Deny),
        (r#"{"files": "a.txt"}"#, Deny),
        (r#"{"files": [{"path": "a.txt", "path": "a.pem"}]}"#, Deny),
    ],
};

const ALLOW_EACH: Table = Table {
    rules: "
rules:
  - {id: own, when: {arguments: {'paths[*]': {inside: /work}}}, then: allow}",
    tool: "read",
    cases: &[
        (r#"{"paths": ["/work/a"]}"#, Allow),
        (r#"{"paths": ["/work/a", "/work/b/c"]}"#, Allow),
        (r#"{"paths": ["/work/a", "/etc/passwd"]}"#, Deny),
        (r#"{"paths": ["/work/../etc/passwd"]}"#, Deny),
        (r#"{"paths": []}"#, Deny),
        (r#"{"paths": "/work/a"}"#, Deny),
        (r#"{"paths": [["/work/a"]]}"#, Deny),
    ],
};

const INSIDE: Table = Table {
    rules: "
rules:
  - {id: own, when: {arguments: {path: {inside: /work, relative_to: /work}}}, then: allow}",
    tool: "read",
    cases: &[
        (r#"{"path": "/work/a/b.txt"}"#, Allow),
        (r#"{"path": "/work"}"#, Allow),
        (r#"{"path": "a.txt"}"#, Allow),
        (r#"{"path": "./a//b.txt"}"#, Allow),
        (r#"{"path": "/work/../etc/passwd"}"#, Deny),
        (r#"{"path": "../etc/passwd"}"#, Deny),
        (r#"{"path": "/work2/a"}"#, Deny),
        (r#"{"path": "/Work/a"}"#, Deny),
        (r#"{"path": "~/a"}"#, Deny),
        (r#"{"path": "~root/a"}"#, Deny),
        (r#"{"path": "/work\\..\\etc"}"#, Deny),
        (r#"{"path": "/work/a\u0000.txt"}"#, Deny),
        (r#"{"path": "file:///etc/passwd"}"#, Deny),
        (r#"{"path": "file:/etc/passwd"}"#, Deny),
        (r#"{"path": "File:/etc/passwd"}"#, Deny),
        (r#"{"path": "file.txt"}"#, Allow),
        (r#"{"path": "/work/né.txt"}"#, Allow),
        (r#"{"path": "/wo\u200brk/a"}"#, Deny),
        (r#"{"path": ""}"#, Deny),
        (r#"{"path": ["/work/a"]}"#, Deny),
    ],
};

const OUTSIDE: Table = Table {
    rules: "
default: allow
rules:
  - {id: etc, when: {arguments: {path: {inside: [/etc, /root, /clé]}}}, then: deny}",
    tool: "read",
    cases: &[
        (r#"{"path": "/work/a"}"#, Allow),
        (r#"{"path": "/etc"}"#, Deny),
        (r#"{"path": "/etc/passwd"}"#, Deny),
        (r#"{"path": "//etc/passwd"}"#, Deny),
        (r#"{"path": "/./etc/passwd"}"#, Deny),
        (r#"{"path": "/ETC/passwd"}"#, Deny),
        (r#"{"path": "/work/../etc/passwd"}"#, Deny),
        (r#"{"path": "etc/passwd"}"#, Deny),
        (r#"{"path": "~/x"}"#, Deny),
        (r#"{"path": "/etcetera"}"#, Allow),
        (r#"{"path": "/cle/a"}"#, Allow),
        (r#"{"path": "/clé/a"}"#, Deny),
        (r#"{"path": "/cle\u0301/a"}"#, Deny),
        (r#"{"path": "/e\u200btc/passwd"}"#, Deny),
    ],
};

const URLS: Table = Table {
    rules: "
rules:
  - {id: docs, when: {arguments: {url: {host: [docs.rs, '*.example.com'], scheme: https}}}, then: allow}",
    tool: "fetch",
    cases: &[
        (r#"{"url": "https://docs.rs/serde"}"#, Allow),
        (r#"{"url": "https://DOCS.RS./serde"}"#, Allow),
        (r#"{"url": "https://a.example.com"}"#, Allow),
        (r#"{"url": "https://example.com"}"#, Deny),
        (r#"{"url": "http://docs.rs"}"#, Deny),
        (r#"{"url": "https://docs.rs.evil.com"}"#, Deny),
        (r#"{"url": "https://docs.rs@evil.com"}"#, Deny),
        (r#"{"url": "https://evil.com/?u=https://docs.rs"}"#, Deny),
        (r#"{"url": "https://evil.com#https://docs.rs"}"#, Deny),
        (r#"{"url": "https://docs.rs:8443"}"#, Deny),
        (r#"{"url": "https:\\docs.rs"}"#, Deny),
        (r#"{"url": "https://docs。rs"}"#, Deny),
        (r#"{"url": " https://docs.rs"}"#, Deny),
        (r#"{"url": "//docs.rs"}"#, Deny),
        (r#"{"url": "javascript:alert(1)"}"#, Deny),
        (r#"{"url": "https://evilexample.com"}"#, Deny),
    ],
};

#[cfg(feature = "shell")]
const COMMANDS: Table = Table {
    rules:
        "
rules:
  - {id: no-push, priority: 1, when: {arguments: {command: {command: 'git push *'}}}, then: deny}
  - {id: git, priority: 2, when: {arguments: {command: {command: ['git *', 'ls *']}}}, then: allow}",
    tool: "shell",
    cases: &[
        (r#"{"command": "git status"}"#, Allow),
        (r#"{"command": "ls -la"}"#, Allow),
        (r#"{"command": "git push"}"#, Deny),
        (r#"{"command": "git push --force"}"#, Deny),
        (r#"{"command": "'git' \"push\""}"#, Deny),
        (r#"{"command": "git status; git push"}"#, Deny),
        (r#"{"command": "git status && rm -rf ~"}"#, Deny),
        (r#"{"command": "git log | sh"}"#, Deny),
        (r#"{"command": "git log $(rm x)"}"#, Deny),
        (r#"{"command": "git log `rm x`"}"#, Deny),
        (r#"{"command": "ls > /etc/passwd"}"#, Deny),
        (r#"{"command": "g\\it status"}"#, Deny),
        (r#"{"command": "env git status"}"#, Deny),
        (r#"{"command": "git -c core.pager=sh log"}"#, Deny),
        (r#"{"command": "git status\nrm x"}"#, Deny),
        (r#"{"command": "bash -c 'git status'"}"#, Deny),
        (r#"{"command": "git {status,push}"}"#, Deny),
        (r#"{"command": "FOO=1 git status"}"#, Deny),
        (r#"{"command": "git status &"}"#, Deny),
        (r#"{"command": "git 'open"}"#, Deny),
        (r#"{"command": ""}"#, Deny),
        (r#"{"command": ["git", "status"]}"#, Deny),
    ],
};

#[cfg(feature = "shell")]
const DENIED_COMMANDS: Table = Table {
    rules: "
default: allow
rules:
  - {id: no-rm, when: {arguments: {command: {command: ['rm *', 'git push *']}}}, then: deny}",
    tool: "shell",
    cases: &[
        (r#"{"command": "ls rm"}"#, Allow),
        (r#"{"command": "git rm x"}"#, Allow),
        (r#"{"command": "cargo build --release"}"#, Allow),
        (r#"{"command": "rm x"}"#, Deny),
        (r#"{"command": "/usr/bin/../bin/rm x"}"#, Deny),
        (r#"{"command": "command rm x"}"#, Deny),
        (r#"{"command": "/lib64/ld-linux-x86-64.so.2 /bin/rm x"}"#, Deny),
        (r#"{"command": "find . -exec rm x ';'"}"#, Deny),
        (r#"{"command": "tar xf a --checkpoint-action=exec=rm"}"#, Deny),
        (r#"{"command": "sed 1e x"}"#, Deny),
        (r#"{"command": "python3 -c 1"}"#, Deny),
        (r#"{"command": "git --no-pager push"}"#, Deny),
    ],
};

const ASKING: Table = Table {
    rules: "
rules:
  - {id: big, when: {arguments: {size: {min: 10}}}, then: ask}
  - {id: all, when: {tools: ['*']}, then: allow}",
    tool: "send",
    cases: &[
        (r#"{"size": 1}"#, Allow),
        (r#"{"size": 10}"#, Ask),
        (r#"{"size": "10"}"#, Ask),
        (r"{}", Ask),
        (r#"{"size": [1]}"#, Ask),
    ],
};

const EQUALS: Table = Table {
    rules: "
default: allow
rules:
  - {id: admin, when: {arguments: {role: {one_of: [admin, root], ignore_case: true}}}, then: deny}
  - {id: force, when: {arguments: {force: {equals: true, if_absent: no_match}}}, then: deny}
  - {id: seven, when: {arguments: {n: {equals: 7, if_absent: no_match}}}, then: deny}",
    tool: "grant",
    cases: &[
        (r#"{"role": "reader"}"#, Allow),
        (r#"{"role": "admin"}"#, Deny),
        (r#"{"role": "ADMIN"}"#, Deny),
        (r#"{"role": "Ａdmin"}"#, Deny),
        (r#"{"role": "admin\u200d"}"#, Deny),
        (r#"{"role": "ro\u0000ot"}"#, Deny),
        (r#"{"role": "reader", "force": true}"#, Deny),
        (r#"{"role": "reader", "force": false}"#, Allow),
        (r#"{"role": "reader", "force": "true"}"#, Deny),
        (r#"{"role": "reader", "force": 1}"#, Deny),
        (r#"{"role": "reader", "force": null}"#, Allow),
        (r#"{"role": "reader", "n": 7.0}"#, Deny),
        (r#"{"role": "reader", "n": "7"}"#, Deny),
        (r#"{"role": "reader", "n": 8}"#, Allow),
        (r#"{"role": "reader", "n": 70e-1}"#, Deny),
    ],
};

const NOT: Table = Table {
    rules: "
default: allow
rules:
  - {id: only-dev, when: {arguments: {env: {not: {one_of: [dev, test]}}}}, then: deny}",
    tool: "deploy",
    cases: &[
        (r#"{"env": "dev"}"#, Allow),
        (r#"{"env": "test"}"#, Allow),
        (r#"{"env": "prod"}"#, Deny),
        (r#"{"env": "dev "}"#, Deny),
        (r#"{"env": "dev\u200b"}"#, Deny),
        (r#"{"env": ["dev"]}"#, Deny),
        (r"{}", Deny),
    ],
};

const PATHS_AS_TEXT: Table = Table {
    rules: "
rules:
  - {id: keys, when: {arguments: [{field: file, matches: '.*\\.key'}]}, then: deny}
  - {id: one, when: {arguments: [{field: file, equals: secret/a}]}, then: deny}
  - {id: public, when: {arguments: [{field: file, matches: 'pub/.*'}]}, then: allow}",
    tool: "read",
    cases: &[
        (r#"{"file": "pub/a"}"#, Allow),
        (r#"{"file": "pub/a/"}"#, Allow),
        (r#"{"file": "pub/a.key"}"#, Deny),
        (r#"{"file": "pub/a.key/"}"#, Deny),
        (r#"{"file": "pub/a.key/."}"#, Deny),
        (r#"{"file": "pub/../secret/a"}"#, Deny),
        (r#"{"file": "pub/../other"}"#, Deny),
        (r#"{"file": "pub/../../pub/a"}"#, Deny),
        (r#"{"file": "pub//a"}"#, Allow),
        (r#"{"file": "./pub/a"}"#, Deny),
        (r#"{"file": "pub/x://../../../secret/a"}"#, Deny),
        (r#"{"file": "pub/link/../a"}"#, Deny),
    ],
};

const WRITTEN_PATHS: Table = Table {
    rules: "
rules:
  - {id: run, when: {arguments: [{field: file, one_of: [./run.sh, /work/]}]}, then: allow}",
    tool: "start",
    cases: &[
        (r#"{"file": "./run.sh"}"#, Allow),
        (r#"{"file": "/work/"}"#, Allow),
        (r#"{"file": "run.sh"}"#, Deny),
        (r#"{"file": "/work"}"#, Deny),
    ],
};

const LENGTHS: Table = Table {
    rules: "
rules:
  - {id: short, when: {arguments: [{field: text, required: true, max_length: 3}]}, then: allow}",
    tool: "say",
    cases: &[
        (r#"{"text": "abc"}"#, Allow),
        (r#"{"text": "äöü"}"#, Allow),
        (r#"{"text": "日本語"}"#, Allow),
        (r#"{"text": "abcd"}"#, Deny),
        (r#"{"text": ""}"#, Deny),
        (r#"{"text": ["a"]}"#, Deny),
        (r#"{"text": 12}"#, Deny),
    ],
};

#[test]
fn attacks_on_conditions_about_arguments_are_held() {
    let tables = [
        DENY_PATTERN,
        ALLOW_PATTERN,
        DENY_NUMBER,
        ALLOW_NUMBER,
        NESTED,
        EACH,
        ALLOW_EACH,
        INSIDE,
        OUTSIDE,
        URLS,
        #[cfg(feature = "shell")]
        COMMANDS,
        #[cfg(feature = "shell")]
        DENIED_COMMANDS,
        ASKING,
        EQUALS,
        NOT,
        LENGTHS,
        PATHS_AS_TEXT,
        WRITTEN_PATHS,
    ];
    let (mut count, mut wrong) = (0, Vec::new());
    for Table { rules, tool, cases } in tables {
        let policy = yaml(rules);
        for (arguments, expected) in cases {
            count += 1;
            let got = effect(&policy, tool, arguments);
            if got != *expected {
                wrong.push(format!("{tool} {arguments}: {got:?} instead of {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 170, "{count}");
}

#[test]
fn names_of_tools_are_compared_exactly() {
    let policy = yaml(
        "
rules:
  - {id: no, priority: 1, when: {tools: [github.delete, 'admin.*']}, then: deny}
  - {id: yes, priority: 2, when: {tools: ['github.*', fs.read]}, then: allow}",
    );
    for (tool, expected) in [
        ("github.list", Allow),
        ("github.delete", Deny),
        ("github.repo.list", Allow),
        ("github_list", Deny),
        ("github_delete", Deny),
        ("github__list", Deny),
        ("Github.list", Deny),
        ("githubx.list", Deny),
        ("xgithub.list", Deny),
        ("fs.read", Allow),
        ("fs.readx", Deny),
        ("fsxread", Deny),
        ("fs.read ", Deny),
        ("ｆs.read", Deny),
        ("admin.x", Deny),
        ("", Deny),
        ("*", Deny),
        ("github.*", Allow),
    ] {
        assert_eq!(effect(&policy, tool, "{}"), expected, "{tool:?}");
    }
}

#[test]
fn claims_of_sources_that_are_not_trusted_allow_nothing() {
    let policy = yaml(
        "
rules:
  - {id: tagged, when: {tags: [safe]}, then: allow}
  - {id: reads, when: {annotations: {read_only: true}}, then: allow}
  - {id: own, when: {sources: [linked, 'mcp:git*'], trusted: true}, then: allow}
  - {id: calm, when: {risk: low}, then: allow}",
    );
    let hints = || ToolAnnotations::default().with_read_only(true);
    let call = || SampleCall::new("t");
    let untrusted = || SampleCall { is_trusted: Some(false), ..call() };
    for (call, expected) in [
        (call().tags(["safe"]), Allow),
        (untrusted().tags(["safe"]), Deny),
        (call().tags(["Safe"]), Deny),
        (call().annotations(hints()), Allow),
        (untrusted().annotations(hints()), Deny),
        (call().source(Source::Linked), Allow),
        (untrusted().source(Source::Linked), Deny),
        (call().source(Source::mcp("github")), Allow),
        (call().source(Source::mcp("evil-github")), Deny),
        (call().source(Source::owner("linked")), Deny),
        (call().source(Source::mcp("linked")), Deny),
        (call(), Deny),
        (call().risk(Risk::Low), Allow),
        (call().risk(Risk::Unknown), Deny),
        (call().risk(Risk::High), Deny),
    ] {
        assert_eq!(policy.try_call(&call).effect(), expected, "{call:?}");
    }
}

#[test]
fn callers_are_who_they_are() {
    let policy = yaml(
        "
rules:
  - {id: ops, when: {principals: ['ops-*'], scopes: [write]}, then: allow}
  - {id: team, when: {claims: {team: red, level: 3}}, then: allow}",
    );
    let call = |principal| SampleCall::new("t").principal(principal);
    let claims = |json: serde_json::Value| {
        Principal::new("x").with_claims(json.as_object().cloned().unwrap_or_default())
    };
    let json = |text: &str| serde_json::from_str(text).unwrap();
    for (principal, expected) in [
        (Principal::new("ops-1").with_scopes(["write"]), Allow),
        (Principal::new("ops-1").with_scopes(["read", "write"]), Allow),
        (Principal::new("ops-1"), Deny),
        (Principal::new("ops-1").with_scopes(["write:all"]), Deny),
        (Principal::new("xops-1").with_scopes(["write"]), Deny),
        (Principal::new("OPS-1").with_scopes(["write"]), Deny),
        (Principal::anonymous().with_scopes(["write"]), Deny),
        (claims(json(r#"{"team": "red", "level": 3}"#)), Allow),
        (claims(json(r#"{"team": "red", "level": "3"}"#)), Deny),
        (claims(json(r#"{"team": ["red"], "level": 3}"#)), Deny),
        (claims(json(r#"{"team": "red"}"#)), Deny),
        (claims(json(r"{}")), Deny),
    ] {
        assert_eq!(policy.try_call(&call(principal.clone())).effect(), expected, "{principal:?}");
    }
}

#[test]
fn expressions_that_explode_are_rejected_or_linear() {
    for bomb in ["(a{1000}){1000}", "((a{100}){100}){100}", r"(\pL{500}){500}"] {
        let rules = format!(
            "rules: [{{id: x, when: {{arguments: {{t: {{pattern: '{bomb}'}}}}}}, then: deny}}]"
        );
        assert!(Policy::parse(&rules, crate::Format::Yaml).is_err(), "{bomb}");
    }
    let deep = format!("{}a{}", "(".repeat(500), ")".repeat(500));
    let rules = format!(
        "rules: [{{id: x, when: {{arguments: {{t: {{pattern: '{deep}'}}}}}}, then: deny}}]"
    );
    assert!(Policy::parse(&rules, crate::Format::Yaml).is_err());
    // A backtracking engine would not end.
    let policy = yaml(
        "default: allow\nrules: [{id: x, when: {arguments: {t: {pattern: '^(a+)+$'}}}, then: deny}]",
    );
    let text = format!(r#"{{"t": "{}!"}}"#, "a".repeat(200_000));
    assert_eq!(effect(&policy, "t", &text), Allow);
}

#[test]
fn arguments_that_nest_deeply_are_uncertain() {
    let policy =
        yaml("default: allow\nrules: [{id: x, when: {arguments: {t: {equals: 1}}}, then: deny}]");
    let text = format!(r#"{{"t": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(effect(&policy, "t", &text), Deny);
}

#[test]
fn documents_that_explode_are_rejected() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for level in 1..40 {
        let before = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}]\n"));
    }
    assert!(Policy::parse(&bomb, crate::Format::Yaml).is_err());
    let deep = "[".repeat(100_000);
    assert!(Policy::parse(&deep, crate::Format::Json).is_err());
    assert!(Policy::parse(&deep, crate::Format::Yaml).is_err());
    assert!(Policy::parse(&format!("rules = {deep}"), crate::Format::Toml).is_err());
}

#[test]
fn ten_thousand_rules_decide_as_one() {
    let mut builder = Policy::builder();
    for number in 0..10_000 {
        builder =
            builder.rule(crate::Rule::allow(format!("r{number}")).tool(&format!("s{number}.*")));
    }
    let policy =
        builder.rule(crate::Rule::deny("last").tool("*.drop").priority(-1)).build().unwrap();
    assert_eq!(effect(&policy, "s9999.read", "{}"), Allow);
    assert_eq!(effect(&policy, "s9999.drop", "{}"), Deny);
    assert_eq!(effect(&policy, "s10000.read", "{}"), Deny);
    // The first call of a tool compares all patterns, later ones do not.
    let compared = || policy.index.compared.load(Ordering::Relaxed);
    assert_eq!(compared(), 3 * 10_001);
    for _ in 0..100 {
        assert_eq!(effect(&policy, "s9999.read", "{}"), Allow);
    }
    assert_eq!(compared(), 3 * 10_001);
}

#[test]
fn a_large_text_with_look_alikes_is_uncertain_and_fast() {
    let rules: String = (0..10)
        .map(|i| format!("  - {{id: r{i}, when: {{arguments: {{text: {{contains: 'secret{i}'}}}}}}, then: deny}}\n"))
        .collect();
    let policy = yaml(&format!("default: allow\nrules:\n{rules}"));
    let decide = |text: String| {
        let call = SampleCall::new("t").arguments(serde_json::json!({ "text": text }));
        policy.try_call(&call)
    };
    let began = std::time::Instant::now();
    assert_eq!(decide("größer ".repeat(500_000)).effect(), Allow);
    let denied = decide("ｓ".repeat(1_500_000));
    assert_eq!(denied.effect(), Deny);
    assert!(denied.reason().contains("is large, and contains characters that look like others"));
    assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
}
