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

/// Positions of scripts that may run commands: all but sequences of `s` and of commands without arguments.
pub(crate) fn code_positions(words: &[String]) -> Vec<usize> {
    let mut rejected = Vec::new();
    let (mut is_next, mut has_script) = (false, false);
    for (at, word) in words.iter().enumerate() {
        let option = word.strip_prefix('-').filter(|_| !is_next);
        let attached = option.and_then(|option| {
            let long = option.strip_prefix("-expression=");
            // The value of `-i` is a suffix.
            let short =
                |(letters, rest): (&'_ str, _)| (!letters.contains(['i', '-'])).then_some(rest);
            long.or_else(|| option.split_once('e').and_then(short))
        });
        let script = match option {
            Some("-expression") => Some(""),
            Some(option) if option.starts_with(['f', '-']) => {
                has_script |= option.starts_with('f') || option.starts_with("-file");
                attached
            }
            Some(_) => attached,
            None if is_next || !has_script => Some(word.as_str()),
            None => None,
        };
        is_next = option.is_some() && script == Some("");
        has_script |= script.is_some();
        if script.is_some_and(|script| !runs_nothing(script)) {
            rejected.push(at);
        }
    }
    rejected
}

/// Whether a script consists of `s` with harmless flags and commands without arguments, none of which is `e`.
fn runs_nothing(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(command) = after_addresses(rest) else { return false };
        let after = match command.strip_prefix(['s', 'y']) {
            Some(substitution) => after_substitution(substitution),
            None => command.strip_prefix([
                '=', 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'q', 'x',
            ]),
        };
        match after.map(|after| after.trim_start_matches(' ')) {
            Some(after) if after.is_empty() || after.starts_with([';', '{', '}']) => rest = after,
            _ => return false,
        }
    }
}

/// The text after numbers, `$`, `/EXPRESSION/` and the characters between them.
fn after_addresses(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let is_plain =
            |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '~' | '+' | '!' | ' ');
        rest = rest.trim_start_matches(is_plain);
        match rest.strip_prefix('/') {
            Some(expression) => rest = after_field(expression, '/')?.trim_start_matches('I'),
            None => return Some(rest.trim_start_matches(['{', ' '])),
        }
    }
}

/// The text after `/EXPRESSION/REPLACEMENT/FLAGS`.
fn after_substitution(text: &str) -> Option<&str> {
    let delimiter = text.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let rest = after_field(&text[1..], delimiter)?;
    let rest = after_field(rest, delimiter)?;
    Some(rest.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
    }))
}

/// The text after the first delimiter without a backslash.
fn after_field(text: &str, delimiter: char) -> Option<&str> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let is_end = c == delimiter && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(&text[end + delimiter.len_utf8()..])
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
