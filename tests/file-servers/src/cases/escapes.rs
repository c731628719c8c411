//! Ways out of the root.

use crate::case::{Arena, Case, Outcome};
use futures_util::FutureExt as _;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounds of calls while links change.
const ROUNDS: usize = 300;

pub(super) fn cases() -> Vec<Case> {
    let escape = |name, path: fn(&Arena) -> PathBuf| {
        Case::new(name, move |arena| attempt(arena, path).boxed())
    };
    vec![
        escape("escape by a link to a file", |arena| link(arena, "../out/secret", "link")),
        escape("escape by an absolute link", |arena| {
            let target = arena.path("out/secret");
            link(arena, target.to_str().unwrap_or_default(), "link")
        }),
        escape("escape by a link in the middle of a path", |arena| {
            link(arena, "../out", "dir").join("secret")
        }),
        escape("escape by a chain of links", |arena| {
            link(arena, "../out/secret", "second");
            link(arena, "second", "first")
        }),
        escape("escape by a link to a file that does not exist yet", |arena| {
            link(arena, "../out/new", "link")
        }),
        escape("escape by `..`", |arena| arena.path("root/../out/secret")),
        escape("escape by an absolute path", |arena| arena.path("out/secret")),
        escape("escape to a directory whose name begins like the root's", |arena| {
            arena.put("root-2/secret", "secret\n")
        }),
        Case::new("escape by a link that is swapped during 1200 calls", |arena| {
            swapped(arena).boxed()
        }),
    ]
}

/// A link in the root.
fn link(arena: &Arena, target: &str, name: &str) -> PathBuf {
    let path = arena.path("root").join(name);
    symlink(target, &path).expect("room for a link");
    path
}

/// Reads, edits and writes through a path that leads to a secret.
async fn attempt(arena: &Arena, path: fn(&Arena) -> PathBuf) -> Outcome {
    arena.put("out/secret", "secret\n");
    let path = path(arena);
    let connection = arena.connect().await;
    let read = connection.read(&path).await;
    drop(connection.edit(&path, "secret", "changed").await);
    drop(connection.write(&path, "changed\n").await);
    connection.close().await;
    match read {
        Ok(text) if text.contains("secret") => Outcome::Broken("it is read"),
        _ => outside(arena, &["root", "out", "root-2"]),
    }
}

/// Whether all that lies outside is as it was.
fn outside(arena: &Arena, known: &[&str]) -> Outcome {
    let is_secret = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text == "secret\n");
    let others = ["out", "root-2"].map(|name| arena.path(name));
    let names = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    for directory in others.iter().filter(|directory| directory.exists()) {
        if !is_secret(&directory.join("secret")) {
            return Outcome::Broken("it is written");
        }
        if names(directory).len() != 1 {
            return Outcome::Broken("a file is created outside");
        }
    }
    let is_known = |name: &String| known.contains(&name.as_str());
    match names(&arena.path("")).iter().all(is_known) {
        true => Outcome::Kept,
        false => Outcome::Broken("a file is created outside"),
    }
}

/// A directory and a link out of the root change places all the time, each by one operation.
async fn swapped(arena: &Arena) -> Outcome {
    arena.put("out/secret", "secret\n");
    arena.put("root/current/secret", "inside\n");
    link(arena, "../out", "evil");
    let is_done = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (current, evil) = (arena.path("root/current"), arena.path("root/evil"));
        let is_done = Arc::clone(&is_done);
        std::thread::spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                renameat_with(CWD, &current, CWD, &evil, RenameFlags::EXCHANGE).expect("a rename");
                std::thread::yield_now();
            }
        })
    };
    let connection = arena.connect().await;
    let path = arena.path("root/current/secret");
    let mut is_read = false;
    for round in 0..ROUNDS {
        is_read |= connection.read(&path).await.is_ok_and(|text| text.contains("secret\n"));
        drop(connection.edit(&path, "inside", "inside, too").await);
        drop(connection.write(&path, "inside\n").await);
        let new = arena.path(&format!("root/current/new-{round}"));
        drop(connection.write(&new, "x").await);
    }
    is_done.store(true, Ordering::Relaxed);
    swapper.join().expect("the thread ends");
    connection.close().await;
    match outside(arena, &["root", "out"]) {
        Outcome::Kept if is_read => Outcome::Broken("it is read"),
        outcome => outcome,
    }
}
