//! Tests of whole observations, and properties of every text and limit.

use super::OutputLimits;
use super::notice::Notice;
use super::spill::Spill;
use crate::tool::results::observation::Observation;
use crate::vocabulary::content::{ContentBlock, ResourceContents};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

/// A temporary directory, deleted on drop.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        let name = format!("tool-runtime-{:016x}", RandomState::new().hash_one(0));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn only_file(&self) -> Vec<u8> {
        let files: Vec<PathBuf> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::read(&files[0]).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn observation(texts: &[String]) -> Observation {
    let add = |all: Observation, text: &String| all.with_content(ContentBlock::text(text));
    texts.iter().fold(Observation::default(), add)
}

fn text_limit(characters: usize) -> OutputLimits {
    OutputLimits::none().text(characters)
}

/// Blocks of text with lines of up to 30 characters, ASCII and multi-byte.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof!["[a-z]{0,30}", "[äπ字😀]{0,30}", any::<String>()];
    let text = prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"));
    prop::collection::vec(text, 1..4)
}

/// The text before and after the only notice.
fn around_notice(text: &str) -> (&str, &str) {
    let start = text.find("[cut here: ").expect("a notice");
    let end = start + text[start..].find(']').expect("its end") + 1;
    let head = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
    (head, text[end..].strip_prefix('\n').unwrap_or(&text[end..]))
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn cut_text_keeps_head_and_tail(texts in texts(), limit in 0..600_usize) {
        let (limits, before) = (text_limit(limit), observation(&texts));
        let after = limits.cut(before.clone(), "t");
        let (whole, left) = (before.to_text(), after.to_text());
        let most = limit.max(Notice::longest(limit, &Spill::new(None, "t")));
        prop_assert!(left.chars().count() <= most);
        if whole.chars().count() <= limit {
            prop_assert!(!limits.are_exceeded_by(&before));
        }
        if whole.chars().count() <= most {
            prop_assert_eq!(&after, &before);
        } else {
            let (head, tail) = around_notice(&left);
            prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
        }
        prop_assert_eq!(limits.cut(after.clone(), "t"), after);
    }

    #[test]
    fn the_file_holds_the_whole_text(text in "[a-z😀\n]{700,900}", limit in 0..600_usize) {
        let folder = Folder::new();
        let limits = text_limit(limit).spill_to(folder.path());
        let after = limits.cut(Observation::text(&text), "t");
        prop_assert_eq!(folder.only_file(), text.as_bytes());
        let (again, left) = (limits.cut(after.clone(), "t"), after.to_text());
        prop_assert_eq!(again, after);
        let longest = Notice::longest(limit, &Spill::new(Some(folder.path()), "t"));
        prop_assert!(left.chars().count() <= limit.max(longest));
        prop_assert!(left.contains("read on from"));
        let (head, tail) = around_notice(&left);
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
    }

    #[test]
    fn a_resource_keeps_its_ends_within_any_limit(texts in texts(), limit in 0..600_usize) {
        let limits = OutputLimits::none().resource(limit);
        let before = Observation::from(ContentBlock::resource("a:b", texts.join("\n")));
        let after = limits.cut(before, "t");
        let ContentBlock::Resource(resource) = &after.content()[0] else { panic!("no resource") };
        let length = resource.resource.text.as_deref().expect("text").chars().count();
        prop_assert!(length <= limit.max(Notice::longest(limit, &Spill::new(None, "t"))));
        prop_assert_eq!(limits.cut(after.clone(), "t"), after);
    }
}

#[test]
fn the_notice_names_the_position_to_continue_at() {
    let folder = Folder::new();
    let lines: Vec<String> = (1..=1000).map(|line| format!("line {line}")).collect();
    let limits = text_limit(1000).spill_to(folder.path());
    let text = limits.cut(Observation::text(lines.join("\n")), "t").to_text();
    let (head, _) = around_notice(&text);
    let next = head.lines().count() + 1;
    assert!(text.contains(&format!("read on from line {next}]")), "{text}");
    assert!(text.contains(&format!("`{}", folder.path().join("").display())), "{text}");
}

#[test]
fn a_text_of_one_line_continues_by_character() {
    let folder = Folder::new();
    let limits = text_limit(400).spill_to(folder.path());
    let text = limits.cut(Observation::text("ä".repeat(1000)), "t").to_text();
    let next = around_notice(&text).0.chars().count() + 1;
    assert!(text.contains(&format!("read on from character {next}]")), "{text}");
}

#[test]
fn media_and_structured_values_are_spilled_too() {
    let limits = |folder: &Folder| {
        OutputLimits::none().media(2).resource(2).structured(2).spill_to(folder.path())
    };
    let folder = Folder::new();
    let image = limits(&folder).cut(ContentBlock::image("Zm9v", "image/png").into(), "t");
    assert!(image.to_text().contains(".png`]"), "{}", image.to_text());
    assert_eq!(folder.only_file(), b"foo");

    let folder = Folder::new();
    let broken = limits(&folder).cut(ContentBlock::image("!!!!", "image/png").into(), "t");
    assert!(broken.to_text().contains(".base64`]"));
    assert_eq!(folder.only_file(), b"!!!!");

    let folder = Folder::new();
    let value = limits(&folder).cut(Observation::json(&[1]).unwrap(), "t");
    assert!(value.is_error() && value.to_text().contains(".json`"), "{}", value.to_text());
    assert_eq!(folder.only_file(), b"[1]");
}

#[test]
fn an_unwritable_directory_does_not_affect_the_result() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let limits = text_limit(300).spill_to(&file);
    let text = limits.cut(Observation::text("x".repeat(500)), "t").to_text();
    assert!(text.contains("ask for less]") && text.len() <= 300, "{text}");
}

#[test]
fn an_error_stays_an_error_and_metadata_stays() {
    let before = Observation::error("x".repeat(500)).with_meta("k", 1).with_visual("seen");
    let after = text_limit(300).cut(before, "t");
    assert!(after.is_error());
    assert_eq!(after.meta().unwrap()["k"], 1);
    assert_eq!(after.visualize(), "seen");
}

#[test]
fn all_large_parts_are_limited_together() {
    let limits = text_limit(400).structured(10).media(10).resource(10);
    let before = Observation::json(&"a long string")
        .unwrap()
        .with_content(ContentBlock::text("x".repeat(500)))
        .with_content(ContentBlock::image("A".repeat(100), "image/png"))
        .with_content(ContentBlock::resource("a:b", "y".repeat(500)));
    let after = limits.cut(before, "t");
    assert!(after.is_error() && after.structured_json().is_none());
    // Text of a resource has a separate limit.
    let texts: Vec<&str> = after.content().iter().filter_map(ContentBlock::as_text).collect();
    let text = texts.join("\n");
    assert!(text.chars().count() <= 400, "{text}");
    assert!(text.starts_with("`t` succeeded, but"));
    assert!(text.ends_with("ask for something smaller]"));
    assert_eq!(limits.cut(after.clone(), "t"), after);
}

#[tokio::test]
async fn files_are_written_on_the_blocking_pool() {
    let folder = Folder::new();
    let limits = text_limit(300).spill_to(folder.path());
    let mut apply = Box::pin(limits.apply(Observation::text("x".repeat(500)), "t"));
    let at_once = apply.as_mut().now_or_never();
    assert!(at_once.is_none(), "it waits for another thread");
    assert!(apply.await.to_text().contains("the whole text is in"));
    assert_eq!(folder.only_file(), "x".repeat(500).as_bytes());
}

#[test]
fn files_are_written_without_a_runtime() {
    let folder = Folder::new();
    let limits = text_limit(300).spill_to(folder.path());
    let applied = limits.apply(Observation::text("x".repeat(500)), "t").now_or_never();
    assert!(applied.expect("ready").to_text().contains("the whole text is in"));
}

#[test]
fn observations_within_the_limits_are_unchanged() {
    let before = Observation::text("x".repeat(30_000));
    let after = OutputLimits::default().apply(before.clone(), "t").now_or_never().expect("ready");
    assert_eq!(after, before);
    assert!(!OutputLimits::none().are_exceeded_by(&Observation::text("x".repeat(1 << 20))));
}

#[test]
fn each_kind_of_content_is_limited_on_its_own() {
    let limits = OutputLimits::none().text(400).structured(6).media(6).resource(400);
    let text = || ContentBlock::text("x".repeat(400));
    let resource = |contents: ResourceContents| ContentBlock::from(contents);
    let bytes = "A".repeat(540);
    let too_large: [(&str, Observation); 7] = [
        ("one text", Observation::text("x".repeat(401))),
        ("two texts", Observation::from(text()).with_content(ContentBlock::text(""))),
        ("a value", Observation::json(&"12345").unwrap()),
        ("an image", ContentBlock::image("AAAAAAAAAA==", "image/png").into()),
        ("a sound", ContentBlock::audio("AAAAAAAAAA==", "audio/wav").into()),
        ("a text resource", resource(ResourceContents::text("a:b", "x".repeat(401))).into()),
        ("a blob", resource(ResourceContents::blob("a:b", bytes.clone())).into()),
    ];
    for (kind, before) in too_large {
        assert!(limits.are_exceeded_by(&before), "{kind}");
        let after = limits.apply(before.clone(), "t").now_or_never().expect("ready");
        assert_ne!(after, before, "{kind}");
        let behind = limits.apply(before.with_content(ContentBlock::text("")), "t");
        assert!(!limits.are_exceeded_by(&behind.now_or_never().expect("ready")), "{kind}");
    }
    let allowed = [
        Observation::from(text()),
        Observation::json(&"1234").unwrap(),
        ContentBlock::image("AAAAAAAA", "image/png").into(),
        ContentBlock::audio("AAAAAAAA", "audio/wav").into(),
        resource(ResourceContents::text("a:b", "x".repeat(400))).into(),
        resource(ResourceContents::blob("a:b", &bytes[..532])).into(),
    ];
    for before in allowed {
        assert!(!limits.are_exceeded_by(&before), "{before:?}");
    }
}
