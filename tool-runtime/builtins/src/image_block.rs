//! Images as blocks, not larger than models look at.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageError, ImageFormat, ImageReader, Limits};
use std::io::Cursor;
use tool_runtime::ContentBlock;

/// Limit on width and height. APIs of models scale larger images down themselves.
const MAX_SIDE: u32 = 1568;

/// Limit on the bytes of an image that is passed on as it is.
const MAX_BYTES: usize = 3 * 1024 * 1024;

/// Limit on the memory of a decoded image: a small file can have billions of pixels.
const MAX_DECODED: u64 = 256 * 1024 * 1024;

/// An image for a model.
pub(crate) struct Image {
    pub(crate) block: ContentBlock,
    /// Size, and whether it was reduced.
    pub(crate) notice: String,
    pub(crate) is_smaller: bool,
}

/// The MIME type of an image, if models see images of it.
pub(crate) fn supported(format: &str) -> Option<&'static str> {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    known.into_iter().find(|known| *known == format)
}

pub(crate) fn block(bytes: &[u8], format: &'static str) -> Result<Image, ImageError> {
    let (width, height) = reader(bytes)?.into_dimensions()?;
    let size = format!("{format}, {width} x {height} pixels");
    if width.max(height) <= MAX_SIDE && bytes.len() <= MAX_BYTES {
        let block = ContentBlock::image(STANDARD.encode(bytes), format);
        return Ok(Image { block, notice: size, is_smaller: false });
    }
    let decoded = reader(bytes)?.decode()?;
    let smaller = decoded.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle);
    let smaller = if width.max(height) <= MAX_SIDE { decoded } else { smaller };
    let notice = format!("{size}, shown as {} x {}", smaller.width(), smaller.height());
    Ok(Image { block: encode(&smaller)?, notice, is_smaller: true })
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    Ok(reader)
}

/// PNG for images with transparency, else JPEG.
fn encode(image: &DynamicImage) -> Result<ContentBlock, ImageError> {
    let mut bytes = Vec::new();
    let (image, format, name) = if image.color().has_alpha() {
        (image.clone(), ImageFormat::Png, "image/png")
    } else {
        (image.to_rgb8().into(), ImageFormat::Jpeg, "image/jpeg")
    };
    image.write_to(&mut Cursor::new(&mut bytes), format)?;
    Ok(ContentBlock::image(STANDARD.encode(&bytes), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let image = DynamicImage::new_rgb8(width, height);
        image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        bytes
    }

    #[test]
    fn small_images_are_unchanged_and_large_ones_reduced() {
        let bytes = png(4, 2);
        let small = block(&bytes, "image/png").unwrap();
        assert_eq!(small.notice, "image/png, 4 x 2 pixels");
        assert_eq!(small.block, ContentBlock::image(STANDARD.encode(&bytes), "image/png"));
        let large = block(&png(3136, 100), "image/png").unwrap();
        assert_eq!(large.notice, "image/png, 3136 x 100 pixels, shown as 1568 x 50");
        assert!(large.is_smaller);
    }

    #[test]
    fn damaged_images_are_errors() {
        assert!(block(&png(4, 2)[..20], "image/png").is_err());
    }
}
