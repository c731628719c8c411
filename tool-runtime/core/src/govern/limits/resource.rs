//! Embedded resources: text is cut, bytes are left out.

use super::cut::{self, Cut};
use super::spill::Spill;
use super::{media, notice};
use crate::vocabulary::content::{ContentBlock, EmbeddedResource, TextContent};

/// Whether a block is a resource of more characters, or bytes, than the limit.
pub(super) fn exceeds(block: &ContentBlock, limit: Option<usize>) -> bool {
    let (ContentBlock::Resource(resource), Some(limit)) = (block, limit) else {
        return false;
    };
    let text = resource.resource.text.as_deref();
    text.is_some_and(|text| cut::exceeds(text, limit)) || bytes(resource) > limit
}

fn bytes(resource: &EmbeddedResource) -> usize {
    resource.resource.blob.as_deref().map_or(0, media::decoded_length)
}

/// The resource with less text, or a notice instead of one with too many bytes.
pub(super) fn apply_limit(
    block: ContentBlock,
    limit: Option<usize>,
    spill: &Spill<'_>,
) -> ContentBlock {
    match (block, limit) {
        (ContentBlock::Resource(resource), Some(limit)) if bytes(&resource) > limit => {
            notice_block(*resource, limit, spill)
        }
        (ContentBlock::Resource(mut resource), Some(limit)) => {
            shorten(&mut resource, limit, spill);
            ContentBlock::Resource(resource)
        }
        (block, _) => block,
    }
}

fn shorten(resource: &mut EmbeddedResource, limit: usize, spill: &Spill<'_>) {
    if let Some(text) = &mut resource.resource.text
        && let Some(cut) = Cut::new(text, limit, spill)
    {
        *text = cut.apply(text);
    }
}

fn notice_block(resource: EmbeddedResource, limit: usize, spill: &Spill<'_>) -> ContentBlock {
    let bytes = bytes(&resource);
    let contents = resource.resource;
    let mime_type = contents.mime_type.as_deref().unwrap_or("application/octet-stream");
    let file = contents.blob.as_deref().and_then(|blob| media::store(blob, mime_type, spill));
    let subject = format!("resource `{}` of type {mime_type}", contents.uri);
    let text = notice::left_out(&subject, bytes, limit, file.as_deref());
    ContentBlock::Text(TextContent::new(text).with_extra(resource.extra))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_truncated_and_the_uri_kept() {
        let spill = Spill::new(None, "read");
        let block = ContentBlock::resource("notes://1", "x".repeat(500));
        assert_eq!(apply_limit(block.clone(), Some(500), &spill), block);
        let ContentBlock::Resource(cut) = apply_limit(block, Some(200), &spill) else { panic!() };
        assert_eq!(cut.resource.uri, "notes://1");
        let text = cut.resource.text.expect("text");
        assert!(text.contains("[cut here: ") && text.len() <= 200);
    }

    #[test]
    fn bytes_over_the_limit_become_text() {
        let spill = Spill::new(None, "read");
        let block: ContentBlock = serde_json::from_value(json!({
            "type": "resource",
            "resource": { "uri": "a:b", "blob": "AAAA" },
        }))
        .expect("a block");
        assert_eq!(apply_limit(block.clone(), Some(3), &spill), block);
        assert_eq!(
            apply_limit(block, Some(2), &spill).as_text(),
            Some(
                "[left out: resource `a:b` of type application/octet-stream, 3 bytes; at most 2 are passed on, ask for something smaller]"
            )
        );
    }
}
