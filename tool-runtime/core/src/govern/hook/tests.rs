use super::{After, Before, Hook, Hooks};
use crate::vocabulary::matching::pattern::PatternError;
use std::any::TypeId;
use std::future::ready;

fn hooks(list: impl IntoIterator<Item = Hook>) -> Hooks {
    let mut hooks = Hooks::default();
    list.into_iter().for_each(|hook| hooks.push(hook));
    hooks
}

fn before(pattern: &str) -> Hook {
    Hook::before(pattern, |_| ready(Before::proceed()))
}

fn after(pattern: &str) -> Hook {
    Hook::after(pattern, |_, _| ready(After::keep()))
}

#[test]
fn a_list_without_hooks_matches_nothing() {
    assert!(Hooks::default().for_tool("fs.read").is_none());
    let list = hooks([before("fs.*"), after("web.search")]);
    assert!(list.for_tool("fs.read").is_some() && list.for_tool("web.search").is_some());
    assert!(list.for_tool("web.fetch").is_none());
}

#[test]
fn provides_covers_one_type_and_the_matching_tools() {
    let list = hooks([before("*"), before("fs.*").provides::<u8>().provides::<String>()]);
    assert!(list.provides("fs.read", TypeId::of::<u8>()));
    assert!(list.provides("fs.read", TypeId::of::<String>()));
    assert!(!list.provides("fs.read", TypeId::of::<u16>()));
    assert!(!list.provides("web.search", TypeId::of::<u8>()));
}

#[test]
fn an_after_hook_provides_nothing() {
    let list = hooks([after("*").provides::<u8>()]);
    assert!(!list.provides("fs.read", TypeId::of::<u8>()));
}

#[test]
fn invalid_patterns_match_nothing() {
    let list = hooks([before("fs.["), before("*"), after("")]);
    let problems: Vec<&PatternError> = list.problems().collect();
    assert!(
        matches!(problems[..], [PatternError::Unclosed { at: 4, .. }, PatternError::Empty]),
        "{problems:?}"
    );
    assert!(hooks([before("fs.[")]).for_tool("fs.[").is_none());
}

#[test]
fn the_debug_output_of_a_hook_describes_it() {
    let text = format!("{:?}", before("fs.*").provides::<u8>().fails_open());
    assert!(text.starts_with("Hook::before"), "{text}");
    assert!(text.contains("fs.*") && text.contains("fails_open: true") && text.contains("u8"));
}
