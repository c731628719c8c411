//! Random sequences of calls and commands, against a model of what must be there.

use super::{Fixture, commit, git};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

const NAMES: [&str; 2] = ["a", "b"];

/// A call of a tool, or what a model does by commands.
#[derive(Clone, Debug)]
enum Step {
    Enter,
    Exit { remove: bool, discards: bool },
    Write,
    Commit,
    Merge,
    DeleteDirectory,
}

/// A worktree as it should be.
#[derive(Clone, Debug, Default)]
struct Expected {
    untracked: Vec<String>,
    committed: Vec<String>,
    unmerged: usize,
    is_gone: bool,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let exit = (prop::bool::weighted(0.7), prop::bool::weighted(0.2));
    let step = prop_oneof![
        3 => Just(Step::Enter),
        3 => exit.prop_map(|(remove, discards)| Step::Exit { remove, discards }),
        2 => Just(Step::Write),
        4 => Just(Step::Commit),
        1 => Just(Step::Merge),
        1 => Just(Step::DeleteDirectory),
    ];
    proptest::collection::vec((0..NAMES.len(), step), 8..24)
}

/// The calls of one sequence, and their model.
struct Run {
    fixture: Fixture,
    trees: BTreeMap<&'static str, Expected>,
    files: usize,
}

impl Run {
    async fn step(&mut self, name: &'static str, step: &Step) {
        match (step, self.trees.get_mut(name)) {
            (Step::Enter, _) => self.enter(name).await,
            (Step::Exit { remove, discards }, _) => self.exit(name, *remove, *discards).await,
            (_, None) => {}
            (Step::Write, Some(tree)) if !tree.is_gone => {
                self.files += 1;
                let file = format!("{name}{}", self.files);
                fs::write(self.fixture.tree(name).join(&file), &file).unwrap();
                tree.untracked.push(file);
            }
            (Step::Commit, Some(tree)) if !tree.is_gone => {
                self.files += 1;
                let file = format!("{name}{}", self.files);
                fs::write(self.fixture.tree(name).join(&file), &file).unwrap();
                commit(&self.fixture.tree(name), "work");
                tree.unmerged += 1;
                tree.committed.append(&mut tree.untracked);
                tree.committed.push(file);
            }
            (Step::Merge, Some(tree)) if tree.unmerged > 0 => {
                self.fixture.git(&["merge", "--quiet", "--no-edit", name]);
                tree.unmerged = 0;
            }
            (Step::DeleteDirectory, Some(tree)) if !tree.is_gone => {
                fs::remove_dir_all(self.fixture.tree(name)).unwrap();
                *tree = Expected { is_gone: true, untracked: Vec::new(), ..tree.clone() };
            }
            _ => {}
        }
    }

    async fn enter(&mut self, name: &'static str) {
        let result = self.fixture.enter(name).await;
        match self.trees.get(name) {
            None => {
                assert_eq!(result.unwrap()["created"], true);
                self.trees.insert(name, Expected::default());
            }
            Some(tree) if tree.is_gone => assert!(result.unwrap_err().contains("is gone")),
            Some(_) => assert_eq!(result.unwrap()["created"], false),
        }
    }

    async fn exit(&mut self, name: &'static str, remove: bool, discards: bool) {
        let action = if remove { "remove" } else { "keep" };
        let result = self.fixture.exit(name, action, discards).await;
        let Some(tree) = self.trees.get(name) else {
            assert!(result.unwrap_err().starts_with("there is no worktree"));
            return;
        };
        let has_work = tree.unmerged > 0 || !tree.untracked.is_empty();
        match remove {
            true if has_work && !discards => {
                assert!(result.unwrap_err().contains("would destroy work"));
            }
            true => {
                assert_eq!(result.unwrap()["branch_deleted"], true);
                self.trees.remove(name);
            }
            false => {
                let value = result.unwrap();
                assert_eq!(value["unmerged_commits"], tree.unmerged);
                assert_eq!(value["untracked_files"], tree.untracked.len());
            }
        }
    }

    /// Everything that was not discarded is there.
    fn check(&self) {
        for (name, tree) in &self.trees {
            let ahead =
                self.fixture.git(&["rev-list", "--count", "--no-merges", &format!("main..{name}")]);
            assert_eq!(ahead, tree.unmerged.to_string());
            let files = self.fixture.git(&["ls-tree", "--name-only", name]);
            assert!(tree.committed.iter().all(|file| files.lines().any(|line| line == file)));
            for file in tree.untracked.iter().chain(&tree.committed).filter(|_| !tree.is_gone) {
                assert_eq!(&fs::read_to_string(self.fixture.tree(name).join(file)).unwrap(), file);
            }
        }
        let names: Vec<String> = self.trees.keys().map(|name| (*name).to_owned()).collect();
        let expected: Vec<String> = names.into_iter().chain(["main".to_owned()]).collect();
        assert_eq!(self.fixture.branches(), expected);
        assert_eq!(git(&self.fixture.path(""), &["status", "--porcelain"]), "");
    }
}

proptest! {
    #![proptest_config(crate::property::cases(12))]

    #[test]
    fn nothing_is_lost_that_was_not_discarded(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut run = Run { fixture: Fixture::new(), trees: BTreeMap::new(), files: 0 };
            for (name, step) in &steps {
                run.step(NAMES[*name], step).await;
                run.check();
            }
        });
    }
}
