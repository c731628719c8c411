//! Text blocks, treated as one text with a line break between two blocks.

use super::cut::{Cut, join_parts};
use super::spill::Spill;
use crate::vocabulary::content::{ContentBlock, TextContent};

/// Whether the blocks have more characters than that.
pub(super) fn exceeds(blocks: &[ContentBlock], limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| {
        length(blocks, str::len) > limit && length(blocks, |text| text.chars().count()) > limit
    })
}

fn length(blocks: &[ContentBlock], measure: fn(&str) -> usize) -> usize {
    let lengths = texts(blocks).map(|text| measure(text) + 1);
    lengths.sum::<usize>().saturating_sub(1)
}

fn texts(blocks: &[ContentBlock]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(ContentBlock::as_text)
}

/// The blocks with the middle of their text cut out, if it is too long.
pub(super) fn apply_limit(
    blocks: Vec<ContentBlock>,
    limit: Option<usize>,
    spill: &Spill<'_>,
) -> Vec<ContentBlock> {
    let Some(limit) = limit.filter(|limit| exceeds(&blocks, Some(*limit))) else {
        return blocks;
    };
    let whole = texts(&blocks).collect::<Vec<_>>().join("\n");
    match Cut::new(&whole, limit, spill) {
        Some(cut) => without_middle(blocks, &cut),
        None => blocks,
    }
}

fn without_middle(blocks: Vec<ContentBlock>, cut: &Cut) -> Vec<ContentBlock> {
    let (mut start, mut is_noticed) = (0, false);
    let remains = |block| match block {
        ContentBlock::Text(content) => {
            let begin = start;
            start += content.text().len() + 1;
            remaining_text(content, begin, cut, &mut is_noticed).map(ContentBlock::Text)
        }
        other => Some(other),
    };
    blocks.into_iter().filter_map(remains).collect()
}

/// The rest of the block that begins at `start` of the whole. The notice is put into the block
/// in which the head ends.
fn remaining_text(
    content: TextContent,
    start: usize,
    cut: &Cut,
    is_noticed: &mut bool,
) -> Option<TextContent> {
    let text = content.text();
    let end = start + text.len();
    let is_whole = if *is_noticed { start >= cut.tail } else { end < cut.head };
    if is_whole {
        return Some(content);
    }
    let tail = &text[cut.tail.min(end) - start..];
    let text_left = if *is_noticed {
        tail.to_owned()
    } else {
        *is_noticed = true;
        join_parts(&text[..cut.head - start], &cut.notice, tail)
    };
    (!text_left.is_empty()).then(|| TextContent::new(text_left).with_extra(content.extra))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::results::observation::Observation;
    use crate::vocabulary::content::ContentExtra;

    fn cut(texts: &[&str], limit: usize) -> Vec<String> {
        let blocks = texts.iter().map(|text| ContentBlock::text(*text)).collect();
        let limited = apply_limit(blocks, Some(limit), &Spill::new(None, "t"));
        limited.iter().map(|block| block.as_text().expect("text").to_owned()).collect()
    }

    #[test]
    fn blocks_in_the_middle_are_left_out() {
        let long = "x".repeat(50);
        let blocks = cut(&["first", &long, &long, &long, &long, "last"], 150);
        assert_eq!(blocks.len(), 4, "{blocks:?}");
        assert_eq!(blocks[0], "first");
        assert!(blocks[1].contains("\n[cut here: "), "{blocks:?}");
        assert_eq!(blocks[3], "last");
    }

    #[test]
    fn line_breaks_between_blocks_count() {
        let empty = vec![""; 300];
        assert!(exceeds(
            &empty.iter().map(|t| ContentBlock::text(*t)).collect::<Vec<_>>(),
            Some(298)
        ));
        assert!(!exceeds(
            &empty.iter().map(|t| ContentBlock::text(*t)).collect::<Vec<_>>(),
            Some(299)
        ));
        assert!(cut(&empty, 200).len() < 200);
    }

    #[test]
    fn non_text_blocks_keep_their_position_and_annotations() {
        let mut text = TextContent::new("y".repeat(400));
        text.extra = Some(Box::new(ContentExtra::default()));
        let observation = Observation::text("a")
            .with_content(ContentBlock::link("a:b", "b"))
            .with_content(ContentBlock::Text(text));
        let limited =
            apply_limit(observation.content().to_vec(), Some(200), &Spill::new(None, "t"));
        assert_eq!(limited[..2], observation.content()[..2]);
        let ContentBlock::Text(last) = &limited[2] else { panic!("no text") };
        assert!(last.extra.is_some());
    }
}
