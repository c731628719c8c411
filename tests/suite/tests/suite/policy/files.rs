//! Files and folders that change while the pool runs.

use super::{builder, fate, reading};
use crate::support::Directory;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::policy::LivePolicy;

const ALLOW: &str = "rules: [{id: all, when: {tools: ['fs.*']}, then: allow}]\n";
const DENY: &str = "rules: [{id: none, then: deny}]\n";

#[tokio::test]
async fn a_new_version_counts_and_a_broken_one_does_not() {
    let directory = Directory::new();
    let path = directory.write("policy.yaml", DENY);
    let policy = LivePolicy::open(&path).unwrap();
    let pool = builder().install(policy.clone()).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied");
    assert!(!policy.reload_if_changed().unwrap());
    directory.write("policy.yaml", ALLOW);
    assert!(policy.reload_if_changed().unwrap());
    assert_eq!(fate(&pool, reading("a")).await, "ran");

    directory.write("policy.yaml", "rules: [{id: broken, thn: deny}]");
    let error = policy.reload_if_changed().unwrap_err();
    assert!(error.to_string().contains("policy.yaml:1: `rules[0].thn`"), "{error}");
    assert_eq!(policy.last_error(), Some(error));
    assert_eq!(fate(&pool, reading("a")).await, "ran", "the version before stays");
    fs::remove_file(&path).unwrap();
    assert!(policy.reload_if_changed().is_err());
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    directory.write("policy.yaml", DENY);
    policy.reload().unwrap();
    assert_eq!(policy.last_error(), None);
    assert_eq!(fate(&pool, reading("a")).await, "denied");
}

#[tokio::test]
async fn a_policy_that_was_never_read_denies_everything_and_says_so() {
    let directory = Directory::new();
    let path = directory.write("policy.yaml", "rules: nonsense");
    assert!(LivePolicy::open(&path).is_err());
    let policy = LivePolicy::open_or_deny(&path);
    let pool = builder().install(policy.clone()).build().unwrap();
    let text = pool.call(reading("a")).await.observation().to_text();
    assert!(text.contains("the policy cannot be read"), "{text}");
    directory.write("policy.yaml", ALLOW);
    policy.reload().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "ran");
}

#[tokio::test]
async fn a_watched_file_is_read_again() {
    let directory = Directory::new();
    let path = directory.write("policy.yaml", DENY);
    let policy = LivePolicy::open(&path).unwrap();
    policy.watch(std::time::Duration::from_millis(5));
    let pool = builder().install(policy.clone()).build().unwrap();
    directory.write("policy.yaml", ALLOW);
    let allowed = async {
        while fate(&pool, reading("a")).await != "ran" {
            tokio::task::yield_now().await;
        }
    };
    suite::limit::limited(allowed).await;
}

#[test]
fn calls_between_two_versions_are_decided_by_one_of_them() {
    let directory = Directory::new();
    let rules = |id: &str| {
        format!("default: allow\nrules: [{{id: {id}, when: {{tools: [fs.read]}}, then: deny}}]\n")
    };
    let path = directory.write("policy.yaml", &rules("first"));
    let policy = LivePolicy::open(&path).unwrap();
    let pool = Arc::new(builder().install(policy.clone()).build().unwrap());
    let is_done = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let (pool, is_done) = (Arc::clone(&pool), Arc::clone(&is_done));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let mut count = 0;
                while !is_done.load(Ordering::Relaxed) || count == 0 {
                    let result = runtime.block_on(pool.call(reading("a")));
                    let text = result.observation().to_text();
                    assert!(
                        text.contains("rule `first`") ^ text.contains("rule `second`"),
                        "{text}"
                    );
                    count += 1;
                }
            })
        })
        .collect();
    for number in 0..200 {
        let id = if number % 2 == 0 { "second" } else { "first" };
        // Every third version is broken.
        let text = if number % 3 == 0 { "rules: [".to_owned() } else { rules(id) };
        directory.write("policy.yaml", &text);
        let _ = policy.reload();
    }
    is_done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.join().unwrap();
    }
}
