//! Scripts of sed, whose commands `e`, `w` and `r` run commands, write and read files.

/// Positions of options and scripts that are not known to be harmless.
pub(super) fn positions(words: &[String]) -> Vec<usize> {
    let mut rejected = Vec::new();
    let mut scripts = 0;
    let mut after_expression = false;
    for (at, word) in words.iter().enumerate() {
        if after_expression || (!word.starts_with('-') && scripts == 0) {
            scripts += 1;
            if !is_plain_script(word) {
                rejected.push(at);
            }
            after_expression = false;
        } else if word.starts_with('-') {
            after_expression = word == "-e" || word == "--expression";
            if !(after_expression || is_plain_option(word)) {
                rejected.push(at);
            }
        }
    }
    rejected
}

fn is_plain_option(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(name) => matches!(name, "quiet" | "silent" | "regexp-extended" | "null-data"),
        None => {
            word.len() > 1
                && word[1..].chars().all(|c| matches!(c, 'n' | 'E' | 'r' | 's' | 'u' | 'z'))
        }
    }
}

/// Whether a script is one `s` with harmless flags, or an address with `p`, `d`, `q` or `=`.
fn is_plain_script(script: &str) -> bool {
    match script.strip_prefix('s') {
        Some(rest) => is_plain_substitution(rest),
        None => {
            let address = script.trim_end_matches(['p', 'd', 'q', '=']);
            script.len() == address.len() + 1
                && address.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$'))
        }
    }
}

fn is_plain_substitution(rest: &str) -> bool {
    let mut chars = rest.chars();
    let Some(delimiter) = chars.next().filter(|c| matches!(c, '/' | '|' | '#' | ',' | '@')) else {
        return false;
    };
    let (mut fields, mut escaped) = (0, false);
    for c in chars.by_ref() {
        fields += usize::from(c == delimiter && !escaped);
        escaped = c == '\\' && !escaped;
        if fields == 2 {
            break;
        }
    }
    fields == 2 && chars.all(|flag| flag.is_ascii_digit() || matches!(flag, 'g' | 'p' | 'i' | 'I'))
}
