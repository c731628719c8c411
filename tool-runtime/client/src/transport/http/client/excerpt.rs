//! Bodies that are not MCP, in words.

/// Limit on the characters of a body that are shown.
const MAX_WORDS: usize = 200;

/// The first words of a body with this content type, on one line; empty for an empty one. A page is shown by its text.
pub(super) fn excerpt(kind: &str, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start();
    if text.is_empty() {
        return String::new();
    }
    let begins = |tag: &str| text.get(..tag.len()).is_some_and(|it| it.eq_ignore_ascii_case(tag));
    if kind.contains("html") || begins("<!doctype html") || begins("<html") {
        return format!("an HTML page, \"{}\"", words(&without_tags(text)));
    }
    words(text)
}

/// The text of a page, without tags, styles and scripts.
fn without_tags(page: &str) -> String {
    let (mut text, mut rest) = (String::new(), page);
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        text.push(' ');
        rest = &rest[start..];
        let end = ["script", "style"].into_iter().find_map(|hidden| {
            let tag = rest.get(1..=hidden.len())?;
            tag.eq_ignore_ascii_case(hidden).then(|| rest.find(&format!("</{hidden}")))?
        });
        rest = &rest[end.unwrap_or_default()..];
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
    }
    text + rest
}

fn words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shown_by_its_first_words() {
        let page = "<!DOCTYPE html><html><style>p { color: red }</style><title>Down</title>\n<p>Back <b>soon</b>.";
        for (kind, body, words) in [
            ("text/plain", "oops\n\tagain", "oops again"),
            ("text/html", "<p>ok</p>", "an HTML page, \"ok\""),
            ("", page, "an HTML page, \"Down Back soon .\""),
            ("application/json", "{\"detail\":\"no\"}", "{\"detail\":\"no\"}"),
            ("text/html", "", ""),
        ] {
            assert_eq!(excerpt(kind, body.as_bytes()), words);
        }
        assert!(excerpt("text/plain", "é".repeat(5000).as_bytes()).chars().count() < 210);
    }
}
