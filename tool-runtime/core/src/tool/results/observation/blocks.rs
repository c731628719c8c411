//! The content of an observation: most have one block, which then needs no list.

use crate::vocabulary::content::ContentBlock;
use std::ops::Deref;

#[derive(Clone, Debug)]
pub(super) enum Blocks {
    One(ContentBlock),
    Many(Vec<ContentBlock>),
}

impl Blocks {
    pub(super) fn push(&mut self, block: ContentBlock) {
        match std::mem::take(self) {
            Self::Many(blocks) if blocks.is_empty() => *self = Self::One(block),
            Self::Many(mut blocks) => {
                blocks.push(block);
                *self = Self::Many(blocks);
            }
            Self::One(first) => *self = Self::Many(vec![first, block]),
        }
    }

    pub(super) fn into_vec(self) -> Vec<ContentBlock> {
        match self {
            Self::One(block) => vec![block],
            Self::Many(blocks) => blocks,
        }
    }
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Deref for Blocks {
    type Target = [ContentBlock];

    fn deref(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}
