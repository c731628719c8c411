//! The keywords `anyOf` and `oneOf`.

use serde_json::{Map, Value};

use crate::schema::Issue;
use crate::schema::check::explain::Failure;
use crate::schema::check::findings::Findings;
use crate::schema::check::place::Place;
use crate::schema::check::variants::Variant;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, wording};

/// Checks a value against the alternatives of a schema.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    for rule in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get(rule)
            && !branches.is_empty()
        {
            let variants: Vec<_> = branches
                .iter()
                .map(|branch| Variant::new(walker.root(), branch))
                .collect();
            alternatives(walker, rule, &variants, value, at, found);
        }
    }
}

/// Tries the alternatives, and says what is wrong if none fits, or too many do.
fn alternatives<'s, 'v>(
    walker: &Walker<'s>,
    rule: &'static str,
    variants: &[Variant<'s>],
    value: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let mut outcomes = Vec::with_capacity(variants.len());
    for variant in variants {
        let tried = !variant.is_ruled_out(value);
        let outcome = tried.then(|| walker.probe(variant.schema(), value, &at.same()));
        let fits = outcome.as_ref().is_some_and(Findings::is_clean);
        if fits && rule == "anyOf" && !walker.tracks_seen() {
            return;
        }
        outcomes.push(outcome);
    }
    let fits = |outcome: &Option<Findings<'_>>| outcome.as_ref().is_some_and(Findings::is_clean);
    let fitting = outcomes.iter().filter(|outcome| fits(outcome)).count();
    if fitting == 0 {
        let mut failure = Failure {
            walker,
            rule,
            variants,
            outcomes,
            value,
            at,
        };
        found.add_all(failure.issues());
        // The value is wrong anyway: what any alternative knows shall not be called unknown on top of that.
        failure
            .outcomes
            .into_iter()
            .flatten()
            .for_each(|outcome| found.seen.merge(outcome.seen));
        return;
    }
    if fitting > 1 && rule == "oneOf" {
        found.add(too_many(walker, variants, &outcomes, at));
    }
    outcomes
        .into_iter()
        .filter(fits)
        .flatten()
        .for_each(|outcome| found.seen.merge(outcome.seen));
}

/// The issue that several alternatives fit of which only one may.
fn too_many(
    walker: &Walker<'_>,
    variants: &[Variant<'_>],
    outcomes: &[Option<Findings<'_>>],
    at: &Place<'_>,
) -> Issue {
    let fitting = variants
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| outcome.as_ref().is_some_and(Findings::is_clean));
    let words: Vec<String> = fitting
        .filter_map(|(variant, _)| describe::phrase(walker.root(), variant.schema()))
        .collect();
    let which = if words.is_empty() {
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
