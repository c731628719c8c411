//! Prose in front matter that lacks the quotation marks of YAML.

/// The keys whose values are prose. Others have a meaning that a repair could change.
const PROSE: [&str; 6] =
    ["name", "description", "argument-hint", "when_to_use", "license", "compatibility"];

/// Those of them in which `#` begins a word, not a comment.
const SENTENCES: [&str; 3] = ["description", "argument-hint", "when_to_use"];

/// The YAML with quotation marks around prose that is not valid without them, and the keys of that prose.
pub(crate) fn quote_prose(yaml: &str) -> (String, Vec<&'static str>) {
    let (mut quoted, mut repaired) = (String::new(), Vec::new());
    for entry in entries(yaml) {
        match quote(&entry) {
            Some((key, entry)) => {
                quoted.push_str(&entry);
                repaired.push(key);
            }
            None => quoted.push_str(&entry),
        }
    }
    (quoted, repaired)
}

/// The top-level entries, each with its indented lines.
fn entries(yaml: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in yaml.split_inclusive('\n') {
        let is_continued = line.starts_with([' ', '\t']) || line.trim().is_empty();
        match entries.last_mut() {
            Some(entry) if is_continued => entry.push_str(line),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// An entry of prose with its value on one line in quotation marks, unless it is valid and whole as it is.
fn quote(entry: &str) -> Option<(&'static str, String)> {
    let (key, value) = entry.split_once(':')?;
    let key = PROSE.into_iter().find(|known| *known == key)?;
    let value = value.trim_start();
    let is_block = value.starts_with(['|', '>']);
    let is_valid = serde_norway::from_str::<serde_norway::Value>(entry).is_ok();
    if is_block || is_valid && !(SENTENCES.contains(&key) && has_number_sign(value)) {
        return None;
    }
    let words: Vec<&str> = value.split_whitespace().collect();
    let value = serde_json::Value::from(words.join(" "));
    Some((key, format!("{key}: {value}\n")))
}

/// Whether a value without quotation marks has a word such as `#12`, at which YAML would cut it.
fn has_number_sign(value: &str) -> bool {
    let is_plain = !value.starts_with(['"', '\'']);
    let is_word = |word: &str| word.strip_prefix('#').is_some_and(|rest| !rest.is_empty());
    is_plain && value.split_whitespace().any(is_word)
}
