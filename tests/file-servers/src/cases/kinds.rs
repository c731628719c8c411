//! Modes and links of the file that is changed.

use crate::case::{Arena, Case, Outcome};
use futures_util::FutureExt as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("an executable stays executable", |arena| mode(arena).boxed()),
        Case::new("a link inside the root stays a link", |arena| link(arena).boxed()),
        Case::new("hard links stay linked", |arena| hard_link(arena).boxed()),
    ]
}

async fn mode(arena: &Arena) -> Outcome {
    let path = arena.put("root/run.sh", "echo one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    let connection = arena.connect().await;
    drop(connection.read(&path).await);
    let edited = connection.edit(&path, "one", "two").await;
    let written = connection.write(&path, "echo three\n").await;
    connection.close().await;
    let mode = fs::metadata(&path).expect("the file is there").permissions().mode() & 0o777;
    match mode {
        0o755 if edited.is_ok() && written.is_ok() => Outcome::Kept,
        0o755 => Outcome::Refused,
        _ => Outcome::Broken("the mode is another"),
    }
}

async fn link(arena: &Arena) -> Outcome {
    let target = arena.put("root/target.txt", "one\n");
    let path = arena.path("root/link.txt");
    symlink("target.txt", &path).expect("room for a link");
    let connection = arena.connect().await;
    drop(connection.read(&path).await);
    let edited = connection.edit(&path, "one", "two").await;
    let written = connection.write(&path, "three\n").await;
    connection.close().await;
    let text = fs::read_to_string(target).expect("the file is there");
    match (edited.is_ok() && written.is_ok(), path.is_symlink()) {
        (_, false) => Outcome::Broken("a file replaces the link"),
        (true, true) if text == "three\n" => Outcome::Kept,
        (false, true) => Outcome::Refused,
        _ => Outcome::Broken("the target is not changed"),
    }
}

async fn hard_link(arena: &Arena) -> Outcome {
    let path = arena.put("root/a.txt", "one\n");
    let other = arena.path("root/b.txt");
    fs::hard_link(&path, &other).expect("room for a link");
    let edited = arena.edit(&path, "one", "two").await;
    let texts = [path, other].map(|path| fs::read_to_string(path).expect("the file is there"));
    match edited {
        Ok(_) if texts == ["two\n", "two\n"] => Outcome::Kept,
        Err(_) if texts == ["one\n", "one\n"] => Outcome::Refused,
        _ => Outcome::Broken("the names are two files now"),
    }
}
