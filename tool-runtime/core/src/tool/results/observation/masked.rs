//! Results without secrets.

use super::{Blocks, Observation};
use crate::vocabulary::content::{ContentBlock, ResourceContents, TextContent};
use crate::vocabulary::mask::{self, Mask};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::OnceLock;

impl Observation {
    /// Masks secrets in all parts, also those that are split over several blocks.
    pub(crate) fn masked(mut self, mask: &dyn Mask) -> Self {
        self.mask_content(mask);
        self.mask_structured(mask);
        if let Some(extra) = self.extra.as_deref_mut() {
            extra.meta.iter_mut().for_each(|meta| mask::members_in_place(mask, meta));
            extra.visual.iter_mut().for_each(|visual| mask::in_place(mask, visual));
            mask::members_in_place(mask, &mut extra.other);
        }
        self
    }

    fn mask_content(&mut self, mask: &dyn Mask) {
        match &mut self.content {
            Blocks::One(block) => mask_block(mask, block),
            Blocks::Many(blocks) => {
                mask_split(mask, blocks);
                blocks.iter_mut().for_each(|block| mask_block(mask, block));
            }
        }
    }

    /// The text is searched as it is, and parsed only if it has a secret.
    fn mask_structured(&mut self, mask: &dyn Mask) {
        let Some(json) = self.structured_json() else { return };
        if let Cow::Borrowed(_) = mask.text(json) {
            return;
        }
        let mut value = serde_json::from_str(json).unwrap_or(Value::Null);
        mask.value(&mut value);
        self.structured = RawValue::from_string(value.to_string()).ok();
        self.parsed = OnceLock::new();
    }
}

/// The text of a block that models read as a part of a longer one.
fn text_mut(block: &mut ContentBlock) -> Option<Text<'_>> {
    match block {
        ContentBlock::Text(content) => Some(Text::Block(content)),
        ContentBlock::Resource(embedded) => embedded.resource.text.as_mut().map(Text::Resource),
        _ => None,
    }
}

enum Text<'a> {
    Block(&'a mut TextContent),
    Resource(&'a mut String),
}

impl Text<'_> {
    fn as_str(&self) -> &str {
        match self {
            Self::Block(content) => content.text(),
            Self::Resource(text) => text,
        }
    }

    fn set(self, masked: String) {
        match self {
            Self::Block(content) => {
                *content = TextContent::new(masked).with_extra(content.extra.take());
            }
            Self::Resource(text) => *text = masked,
        }
    }
}

fn mask_split(mask: &dyn Mask, blocks: &mut [ContentBlock]) {
    let strings: Vec<Text<'_>> = blocks.iter_mut().filter_map(text_mut).collect();
    if strings.len() < 2 {
        return;
    }
    let joined: Vec<&str> = strings.iter().map(Text::as_str).collect();
    if let Some(masked) = mask.split(&joined) {
        strings.into_iter().zip(masked).for_each(|(text, masked)| text.set(masked));
    }
}

/// Masks all parts of a block.
pub(crate) fn mask_block(mask: &dyn Mask, block: &mut ContentBlock) {
    match block {
        ContentBlock::Text(content) => {
            if let Cow::Owned(masked) = mask.text(content.text()) {
                Text::Block(content).set(masked);
            }
            if content.extra.is_some() {
                mask::as_json_in_place(mask, &mut content.extra);
            }
        }
        ContentBlock::Image(media) | ContentBlock::Audio(media) => {
            mask::base64_in_place(mask, &mut media.data);
            mask::in_place(mask, &mut media.mime_type);
            mask::as_json_in_place(mask, &mut media.extra);
        }
        ContentBlock::Resource(embedded) => {
            mask_contents(mask, &mut embedded.resource);
            mask::as_json_in_place(mask, &mut embedded.extra);
        }
        ContentBlock::ResourceLink(_) => mask::as_json_in_place(mask, block),
        ContentBlock::Other(members) => mask::members_in_place(mask, members),
    }
}

/// Masks the contents of a resource.
pub(crate) fn mask_contents(mask: &dyn Mask, contents: &mut ResourceContents) {
    mask::in_place(mask, &mut contents.uri);
    contents.text.iter_mut().for_each(|text| mask::in_place(mask, text));
    contents.blob.iter_mut().for_each(|blob| mask::base64_in_place(mask, blob));
    contents.mime_type.iter_mut().for_each(|kind| mask::in_place(mask, kind));
    contents.meta.iter_mut().for_each(|meta| mask::members_in_place(mask, meta));
}
