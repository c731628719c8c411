//! Replaces a structured value that is too large.

use super::spill::Spill;
use crate::tool::results::observation::Observation;
use crate::vocabulary::content::ContentBlock;
use std::path::Path;

/// Whether the value's JSON has more bytes than that.
pub(super) fn exceeds(observation: &Observation, limit: Option<usize>) -> bool {
    let length = observation.structured_json().map(str::len);
    length.zip(limit).is_some_and(|(length, limit)| length > limit)
}

/// An error instead of a value that is too large; separate content stays.
pub(super) fn apply_limit(
    observation: Observation,
    limit: Option<usize>,
    spill: &Spill<'_>,
) -> Observation {
    let (Some(json), Some(limit)) = (observation.structured_json(), limit) else {
        return observation;
    };
    if json.len() <= limit {
        return observation;
    }
    let file = spill.store(json.as_bytes(), "json");
    let outcome = if observation.is_error() { "failed, and" } else { "succeeded, but" };
    let text = format!(
        "`{}` {outcome} its structured result has {} bytes, and at most {limit} are passed on; {}",
        spill.tool(),
        json.len(),
        remedy(file.as_deref())
    );
    observation.without_structured().with_error(true).map_content(|mut blocks| {
        blocks.insert(0, ContentBlock::text(text));
        blocks
    })
}

fn remedy(file: Option<&Path>) -> String {
    let less = "ask for less, by a filter or a page for instance";
    match file {
        Some(file) => format!("the whole of it is in `{}`, or {less}", file.display()),
        None => less.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_too_large_becomes_an_error() {
        let value = Observation::json(&[1, 2, 3]).expect("a value").with_meta("k", 1);
        let spill = Spill::new(None, "list");
        assert_eq!(apply_limit(value.clone(), Some(7), &spill), value);
        let error = apply_limit(value.clone(), Some(6), &spill);
        assert!(error.is_error() && error.structured_json().is_none());
        assert_eq!(error.meta(), value.meta());
        assert_eq!(
            error.to_text(),
            "`list` succeeded, but its structured result has 7 bytes, and at most 6 are passed on; ask for less, by a filter or a page for instance"
        );
    }

    #[test]
    fn other_content_follows_the_error() {
        let value = Observation::json(&"long").expect("a value");
        let value = value.with_content(ContentBlock::text("four")).with_error(true);
        let error = apply_limit(value, Some(1), &Spill::new(None, "list"));
        assert_eq!(error.content().len(), 2);
        assert!(error.to_text().starts_with("`list` failed, and its"));
        assert!(error.to_text().ends_with("\nfour"));
    }
}
