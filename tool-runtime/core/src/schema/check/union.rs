//! The keywords `anyOf` and `oneOf`.

use serde_json::{Map, Value};

use crate::schema::check::explain::{Failure, Outcomes};
use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::variants::Variant;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, wording};
use crate::vocabulary::error::Issue;

/// Checks a value against the alternatives of a schema.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    for rule in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get(rule)
            && !branches.is_empty()
        {
            let variants: Vec<_> =
                branches.iter().map(|branch| Variant::new(walker.root(), branch)).collect();
            alternatives(walker, rule, &variants, value, at, found);
        }
    }
}

/// Whether an alternative matches.
fn fits(outcome: &Option<Findings<'_>>) -> bool {
    outcome.as_ref().is_some_and(Findings::is_clean)
}

/// Tries the alternatives, and adds an issue if none or too many match.
fn alternatives<'s, 'v>(
    walker: &Walker<'s>,
    rule: &'static str,
    variants: &[Variant<'s>],
    value: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let one_is_enough = rule == "anyOf" && !walker.tracks_evaluated();
    let mut outcomes = Outcomes::with_capacity(variants.len());
    for variant in variants {
        let tried = !variant.cannot_match(value);
        outcomes.push(tried.then(|| walker.probe(variant.schema(), value, &at.same())));
        if one_is_enough && outcomes.last().is_some_and(fits) {
            return;
        }
    }
    match outcomes.iter().filter(|outcome| fits(outcome)).count() {
        0 => {
            let mut failure = Failure::new(walker, rule, variants, outcomes, value, at);
            found.add_all(failure.issues());
            // A property that any alternative declares is not reported as unknown as well.
            return merge(failure.outcomes, found);
        }
        2.. if rule == "oneOf" => found.add(too_many(walker, variants, &outcomes, at)),
        _ => {}
    }
    outcomes.retain(fits);
    merge(outcomes, found);
}

/// Adds the properties that the alternatives have evaluated.
fn merge<'v>(outcomes: Outcomes<'v>, found: &mut Findings<'v>) {
    for outcome in outcomes.into_iter().flatten() {
        found.evaluated.extend(outcome.evaluated);
    }
}

/// The issue about several fitting alternatives of `oneOf`.
fn too_many(
    walker: &Walker<'_>,
    variants: &[Variant<'_>],
    outcomes: &[Option<Findings<'_>>],
    at: &Location<'_>,
) -> Issue {
    let fitting = variants.iter().zip(outcomes).filter(|(_, outcome)| fits(outcome));
    let words: Vec<String> = fitting
        .filter_map(|(variant, _)| describe::phrase(walker.root(), variant.schema()))
        .collect();
    let which = if words.is_empty() || at.is_secret() {
        String::new()
    } else {
        format!(": {}", wording::both(&words))
    };
    let message = format!(
        "{} must fit exactly one of the allowed forms, but fits several{which}",
        at.subject()
    );
    Issue::new(at.path(), "oneOf", message)
}
