//! The text of a page in any encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes in which a page may state its encoding.
const HEAD: usize = 1024;

/// Decodes a page: by its byte order mark, else by the header, else by itself, else by a guess.
pub(super) fn decode(bytes: &[u8], content_type: &str) -> String {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = marked
        .or_else(|| parameter(content_type, "charset").and_then(of_label))
        .or_else(|| declared_encoding(bytes))
        .unwrap_or_else(|| guess(bytes));
    encoding.decode(bytes).0.into_owned()
}

/// A parameter of a content type.
fn parameter<'a>(content_type: &'a str, name: &str) -> Option<&'a str> {
    let parameters = content_type.split(';').skip(1).filter_map(|pair| pair.split_once('='));
    let mut named = parameters.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim().trim_matches(['"', '\'']))
}

fn of_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
}

/// The encoding that `<meta>` or `<?xml ..?>` states. A page that can be read so far is not in UTF-16.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let xml = head.strip_prefix("<?xml").and_then(|rest| rest.split("?>").next());
    let xml = xml.and_then(|declaration| after(declaration, "encoding"));
    let metas = head.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
    let mut metas = metas.filter_map(|meta| after(meta, "charset"));
    let encoding = xml.and_then(of_label).or_else(|| metas.find_map(of_label))?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The value that follows a name and `=`.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    value.split(['"', '\'', ';', '/', ' ', '\t', '\n', '\r']).next()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if is_utf8(bytes) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether bytes are UTF-8. The last of several characters outside ASCII may be incomplete, since pages are cut.
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_taken_from_mark_header_page_and_guess_in_this_order() {
        let latin: &[u8] = b"caf\xe9";
        for (bytes, content_type, expected) in [
            (latin, "text/html; charset=ISO-8859-1", "café"),
            (latin, "text/html; Charset=\"windows-1252\"", "café"),
            (latin, "text/html", "café"),
            ("café".as_bytes(), "text/html", "café"),
            ("café".as_bytes(), "text/html; charset=unknown", "café"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=ISO-8859-1", "café"),
            (b"\xff\xfeh\0i\0", "text/plain", "hi"),
            (b"\xfe\xff\0h\0i", "text/plain", "hi"),
            (b"<meta charset=shift_jis>\x93\xfa", "text/html", "<meta charset=shift_jis>日"),
            (
                b"<META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc4\xc1",
                "text/html",
                "<META http-equiv=Content-Type content='text/html; charset=koi8-r'>да",
            ),
            (
                b"<?xml version='1.0' encoding='windows-1251'?>\xe4\xe0",
                "text/xml",
                "<?xml version='1.0' encoding='windows-1251'?>да",
            ),
            (b"<meta charset=utf-16>x", "text/html", "<meta charset=utf-16>x"),
            // The header is right, and the page is not.
            (b"<meta charset=utf-8>\xe9", "text/html; charset=latin1", "<meta charset=utf-8>é"),
            // Cut within a character.
            (b"\xc3\xa9 caf\xc3", "text/plain", "é caf\u{fffd}"),
        ] {
            assert_eq!(decode(bytes, content_type), expected, "{content_type}");
        }
    }
}
