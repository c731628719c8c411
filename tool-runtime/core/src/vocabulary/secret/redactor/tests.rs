//! Secrets in every form that programs repeat them in.

use super::*;
use crate::vocabulary::hex::hex;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::json;

fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    Redactor::new(secrets.iter().map(|(name, secret)| ((*name).into(), (*secret).into())))
}

#[test]
fn a_line_has_neither_secrets_nor_control_characters() {
    let redactor = redactor(&[("${KEY}", "s3cret-key")]);
    let text = "bad s3cret-key\n\u{1b}[2Jall is well\u{7}";
    assert_eq!(redactor.line(text, 100), "bad ${KEY} all is well\\u{7}");
    assert_eq!(redactor.line(&"é".repeat(3000), 2000).chars().count(), 2002);
}

#[test]
fn the_longer_of_overlapping_secrets_is_replaced() {
    let (short, long) = (("${SHORT}", "s3cret-key"), ("${LONG}", "s3cret-key-2"));
    let around = ("${AROUND}", "my-s3cret-key-3");
    for all in [[short, long, around], [around, long, short]] {
        let text = "s3cret-key-2, my-s3cret-key-3, s3cret-key, s3cret-key-3";
        let redacted = "${LONG}, ${AROUND}, ${SHORT}, ${SHORT}-3";
        assert_eq!(redactor(&all).text(text), redacted);
        assert_eq!(redactor(&all).line(text, 100), redacted);
    }
}

/// A prefix of one secret may be the end of another, in each form.
#[test]
fn overlapping_secrets_leave_no_tail() {
    let secrets = [("${A}", "abcdef-01234"), ("${B}", "1234+defghi"), ("${C}", "efghi+jkl")];
    let all = "abcdef-01234+defghi+jkl";
    let redactor = redactor(&secrets);
    for (form, text) in [
        ("verbatim", all.to_owned()),
        ("percent-encoded", all.replace('+', "%2B")),
        ("escaped", all.replace('+', r"\u002b")),
        ("hex", hex(all.as_bytes())),
        ("base64", STANDARD.encode(all)),
    ] {
        let redacted = redactor.text(&text);
        assert_eq!(redacted.trim_end_matches('='), "${A}", "{form}");
    }
    assert_eq!(redactor.text("1234+defghi, efghi+jkl"), "${B}, ${C}");
    let parts = redactor.split(&["abcdef-0", "1234+def", "ghi+jkl."]).unwrap();
    assert_eq!(parts, ["${A}", "", "."]);
}

#[test]
fn replacements_are_not_redacted_again() {
    let redactor = redactor(&[("${SECRET_KEY}", "0123456789"), ("${OTHER}", "SECRET_KEY")]);
    assert_eq!(redactor.text("0123456789"), "${SECRET_KEY}");
}

/// Control characters are replaced before a string is shown, and in the secret likewise.
#[test]
fn a_secret_is_replaced_in_its_printable_form() {
    let secret = "\u{1b}[1ms3cret\u{7}key\u{1b}[0m";
    let one = redactor(&[("${KEY}", secret)]);
    assert_eq!(one.line(&format!("bad {secret}!"), 100), "bad ${KEY}!");
    assert_eq!(one.line("bad s3cret\u{7}key!", 100), "bad ${KEY}!");
    let lines = redactor(&[("${PEM}", "first line\r\nsecond line\r\n")]);
    assert_eq!(lines.line("of second line", 100), "of ${PEM}");
}

#[test]
fn a_secret_with_spaces_is_replaced_in_a_line() {
    let spaced = redactor(&[("${KEY}", "two  spaces")]);
    assert_eq!(spaced.line("a  two  spaces", 100), "a ${KEY}");
}

#[test]
fn a_redacted_value_is_valid_json() {
    let secret = "a\"b\\c-s3cret";
    let mut value = json!({ secret: [1, { "in": format!("<{secret}>") }], "short": "abc" });
    value["text"] = json!({ "key": secret }).to_string().into();
    redactor(&[("${KEY}", secret)]).value(&mut value);
    assert_eq!(
        value,
        json!({
            "${KEY}": [1, { "in": "<${KEY}>" }],
            "short": "abc",
            "text": r#"{"key":"${KEY}"}"#,
        })
    );
}

#[test]
fn short_values_are_not_secrets() {
    let redactor = redactor(&[("${ONE}", "debug"), ("${TWO}", "")]);
    assert_eq!(redactor.text("debug: x"), "debug: x");
    assert_eq!(redactor.longest(), 0);
}

/// Has characters that each encoding writes differently.
const KEY: &str = "p@ss/w0rd+\"q\" \u{e9}?k=1";

#[test]
fn a_secret_is_replaced_in_each_encoding() {
    for (encoding, encoded) in [
        ("verbatim", KEY),
        ("within words", "xxp@ss/w0rd+\"q\" \u{e9}?k=1xx"),
        ("JSON", r#"p@ss/w0rd+\"q\" é?k=1"#),
        ("JSON in ASCII", r#"p@ss/w0rd+\"q\" \u00e9?k=1"#),
        ("JSON in ASCII, capital digits", r#"p@ss/w0rd+\"q\" \u00E9?k=1"#),
        ("JSON with escaped slashes", r#"p@ss\/w0rd+\"q\" é?k=1"#),
        ("JSON with escaped quotes", r"p@ss/w0rd+\u0022q\u0022 é?k=1"),
        ("JSON for scripts in HTML", r"p@ss/w0rd\u002b\u0022q\u0022 é?k\u003d1"),
        ("JSON, one letter escaped", r#"p\u0040ss/w0rd+\"q\" é?k=1"#),
        ("JSON in JSON", r#"p@ss/w0rd+\\\"q\\\" é?k=1"#),
        ("JSON in JSON in JSON", r#"p@ss/w0rd+\\\\\\\"q\\\\\\\" é?k=1"#),
        ("JSON in ASCII in JSON", r#"p@ss/w0rd+\\\"q\\\" \\u00e9?k=1"#),
        ("a component of a URL", "p%40ss%2Fw0rd%2B%22q%22%20%C3%A9%3Fk%3D1"),
        ("a component of a URL, small digits", "p%40ss%2fw0rd%2b%22q%22%20%c3%a9%3fk%3d1"),
        ("a path of a URL", "p@ss/w0rd+%22q%22%20%C3%A9%3Fk=1"),
        ("a URL, few escapes", "p@ss/w0rd+%22q%22%20é?k=1"),
        ("a form", "p%40ss%2Fw0rd%2B%22q%22+%C3%A9%3Fk%3D1"),
        ("percent-encoding twice", "p%2540ss%252Fw0rd%252B%2522q%2522%2520%25C3%25A9%253Fk%253D1"),
        ("percent-encoding of all", "%70%40%73%73%2F%77%30%72%64%2B%22%71%22%20%C3%A9%3F%6B%3D%31"),
        ("base64", "cEBzcy93MHJkKyJxIiDDqT9rPTE="),
        ("base64 without padding", "cEBzcy93MHJkKyJxIiDDqT9rPTE"),
        ("base64 after one byte", "eHBAc3MvdzByZCsicSIgw6k/az0x"),
        ("base64 after two bytes", "eHhwQHNzL3cwcmQrInEiIMOpP2s9MQ=="),
        ("base64 before other bytes", "cEBzcy93MHJkKyJxIiDDqT9rPTF4eHg="),
        ("base64 within other bytes", "eHhwQHNzL3cwcmQrInEiIMOpP2s9MXh4eA=="),
        ("base64 of URLs", "eHBAc3MvdzByZCsicSIgw6k_az0x"),
        ("base64 in a URL", "eHBAc3MvdzByZCsicSIgw6k%2Faz0x"),
        ("base64 in JSON", r"eHBAc3MvdzByZCsicSIgw6k\/az0x"),
        ("credentials of a user", "YWRhOnBAc3MvdzByZCsicSIgw6k/az0x"),
        ("hex digits", "704073732f773072642b22712220c3a93f6b3d31"),
        ("capital hex digits", "704073732F773072642B22712220C3A93F6B3D31"),
        ("hex digits within others", "00704073732f773072642b22712220c3a93f6b3d31ff"),
    ] {
        let redactor = redactor(&[("${KEY}", KEY)]);
        let redacted = redactor.text(encoded);
        assert!(redacted.contains("${KEY}") && redacted.len() < 20, "{encoding}: {redacted}");
        let text = format!("{{\"is\": \"{encoded}\"}} and {encoded}");
        assert_eq!(redactor.text(&text).matches("${KEY}").count(), 2, "{encoding}");
    }
}

#[test]
fn text_without_secrets_is_not_copied() {
    let redactor = redactor(&[("${KEY}", KEY)]);
    for text in [
        "",
        "p@ss/w0rd",
        "100% of it, 5%40, %C3%A9",
        r"C:\users\ada \u00e9 \ud83d\ude00 \ud83d \u12",
        "cEBzcy93MHJk",
        "704073732f7730",
        "aGVsbG8gd29ybGQ=",
        "é\u{1f600}%",
    ] {
        assert!(matches!(redactor.text(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn short_secrets_are_not_searched_in_encodings() {
    let redactor = redactor(&[("${KEY}", "s3cret!")]);
    assert_eq!(
        redactor.text("czNjcmV0IQ== 7333637265742 s3cret!"),
        "czNjcmV0IQ== 7333637265742 ${KEY}"
    );
}

#[test]
fn a_number_is_a_secret_as_well() {
    let mut value = json!({ "pin": 48_151_623, "in": [481_516_234, 7, 1.5] });
    redactor(&[("${PIN}", "48151623")]).value(&mut value);
    assert_eq!(value, json!({ "pin": "${PIN}", "in": ["${PIN}4", 7, 1.5] }));
}

#[test]
fn a_secret_is_replaced_in_blocks_that_split_it() {
    let mut content = json!([
        { "type": "text", "text": "the key is p@ss/w0" },
        { "type": "text", "text": "rd+\"q\"" },
        { "type": "image", "data": "AAAA", "mimeType": "image/png" },
        { "type": "resource", "resource": { "uri": "a:b", "text": " \u{e9}?k=1, keep it" } },
    ]);
    redactor(&[("${KEY}", KEY)]).blocks(&mut content);
    assert_eq!(content[0]["text"], "the key is ${KEY}");
    assert_eq!(content[1]["text"], "");
    assert_eq!(content[3]["resource"]["text"], ", keep it");
}

#[test]
fn data_in_base64_stays_decodable() {
    let data = STANDARD.encode(format!("before {KEY} after"));
    let mut content = json!([{ "type": "resource", "resource": { "uri": "a:b", "blob": data } }]);
    redactor(&[("${KEY}", KEY)]).blocks(&mut content);
    let blob = content[0]["resource"]["blob"].as_str().unwrap();
    let decoded = STANDARD.decode(blob).expect("base64");
    assert_eq!(decoded.len(), "before  after".len() + KEY.len());
    assert!(decoded.starts_with(b"before") && decoded.ends_with(b"after"));
    assert!(!String::from_utf8_lossy(&decoded).contains("w0rd"));
}

/// Escapes the secret as JSON; `seed` selects the spelling of each character.
fn escaped(secret: &str, seed: &[u8]) -> String {
    let mut choices = seed.iter().copied().cycle();
    let in_json = |c: char, n: u8| match n % 3 {
        0 => {
            let text = Value::from(c.to_string()).to_string();
            text[1..text.len() - 1].to_owned()
        }
        n => {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            let unit = |u: &u16| if n == 1 { format!("\\u{u:04x}") } else { format!("\\u{u:04X}") };
            units.iter().map(unit).collect()
        }
    };
    secret.chars().map(|c| in_json(c, choices.next().unwrap_or(0))).collect()
}

fn percent_encoded(secret: &str, seed: &[u8]) -> String {
    let mut choices = seed.iter().copied().cycle();
    let byte = |byte: u8| match (choices.next().unwrap_or(0) % 3, byte) {
        (0, b) if b.is_ascii_alphanumeric() => char::from(b).to_string(),
        (1, b) => format!("%{b:02x}"),
        (_, b) => format!("%{b:02X}"),
    };
    secret.bytes().map(byte).collect()
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    /// No encoding of a secret of eight characters or more remains, with any text around it.
    #[test]
    fn no_secret_survives_in_any_encoding(
        secret in "[!-~é]{4}[ -~é😀]{3,40}[!-~é]",
        before in "[a-z ]{0,7}",
        after in "[a-z ]{0,7}",
        seed in proptest::collection::vec(any::<u8>(), 1..20),
    ) {
        let redactor = Redactor::new([("█".to_owned(), secret.clone())]);
        let whole = format!("{before}{secret}{after}");
        let json = Value::from(&*whole).to_string();
        let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
        for (text, leaked) in [
            (whole.clone(), secret.clone()),
            (json.clone(), secret.clone()),
            (Value::from(&*json).to_string(), secret.clone()),
            (format!("{before}{}{after}", escaped(&secret, &seed)), escaped(&secret, &seed)),
            (format!("{before}{}", percent_encoded(&secret, &seed)), percent_encoded(&secret, &seed)),
            (STANDARD.encode(&whole), String::new()),
            (URL_SAFE_NO_PAD.encode(&whole), String::new()),
            (percent_encoded(&STANDARD.encode(&whole), &seed), String::new()),
            (format!("{before}{hex}{}", hex.to_uppercase()), hex.clone()),
        ] {
            let redacted = redactor.text(&text);
            prop_assert!(redacted.contains('█'), "{text} became {redacted}");
            prop_assert!(leaked.is_empty() || !redacted.contains(&leaked), "{text}: {redacted}");
            let again = redactor.text(&redacted).into_owned();
            prop_assert!(again.len() <= redacted.len(), "{redacted} became {again}");
        }
    }

    /// A secret that is cut at any position does not appear in the text that a client joins again.
    #[test]
    fn no_secret_survives_split_over_texts(
        secret in "[!-~]{8,30}",
        cuts in proptest::collection::vec(0_usize..60, 1..6),
    ) {
        let whole = format!("begin {secret} end");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let parts: Vec<&str> = cuts.windows(2).map(|cut| &whole[cut[0]..cut[1]]).collect();
        let redactor = Redactor::new([("..".to_owned(), secret.clone())]);
        let redacted = redactor.split(&parts).expect("a secret").concat();
        prop_assert_eq!(redacted, whole.replace(&secret, ".."));
    }

    #[test]
    fn any_text_is_searched(text in "\\PC{0,40}|[%u\\\\0-9a-f]{0,60}", secret in "\\PC{6,12}") {
        let redactor = Redactor::new([("..".to_owned(), secret)]);
        redactor.text(&text);
    }
}
