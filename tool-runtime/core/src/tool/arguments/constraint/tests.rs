//! A constraint and the walker over the schema it describes agree on every value.

use super::{
    Constraint, Range,
    size::length,
    text::{format, pattern},
};
use crate::schema::check;
use proptest::prelude::*;
use schemars::Schema;
use serde::Serialize;
use serde_json::json;
use std::ops::Bound;

fn agree<T: Serialize>(constraint: &impl Constraint<T>, value: &T) -> Result<(), TestCaseError> {
    let mut schema = Schema::default();
    constraint.describe(&mut schema);
    let schema = json!({ "type": "object", "properties": { "x": schema }, "required": ["x"] });
    let issues = check::check(&schema, &json!({ "x": value }));
    prop_assert_eq!(constraint.admits(value), issues.is_empty(), "{:?}", issues);
    Ok(())
}

fn bound<T: std::fmt::Debug + Clone + 'static>(
    end: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Bound<T>> {
    (end, 0..3_u8).prop_map(|(end, kind)| match kind {
        0 => Bound::Included(end),
        1 => Bound::Excluded(end),
        _ => Bound::Unbounded,
    })
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn integers_in_a_range(low in bound(-20..20_i64), high in bound(-20..20_i64), x in -25..25_i64) {
        agree(&Range::<i64>::new(low, high), &x)?;
    }

    #[test]
    fn huge_integers_in_a_range(low in bound(any::<u64>()), high in bound(any::<u64>()), x in any::<u64>()) {
        agree(&Range::<u64>::new(low, high), &x)?;
    }

    #[test]
    fn floats_in_a_range(low in bound(-2.0..2.0_f64), high in bound(-2.0..2.0_f64), x in -3.0..3.0_f64) {
        agree(&Range::<f64>::new(low, high), &x)?;
    }

    #[test]
    fn characters_of_a_text(low in bound(0..5_usize), high in bound(1..6_usize), x in ".{0,6}") {
        agree(&length::<String>(low, high), &x)?;
    }

    #[test]
    fn items_of_a_list(low in bound(0..5_usize), high in bound(1..6_usize), x in proptest::collection::vec(any::<u8>(), 0..7)) {
        agree(&length::<Vec<u8>>(low, high), &x)?;
    }

    #[test]
    fn texts_with_a_pattern(x in "[a-c]{0,4}") {
        agree(&pattern::<String>("^a+b?$"), &x)?;
    }

    #[test]
    fn texts_in_a_format(x in "[0-9]{4}-[0-9]{2}-[0-3][0-9]") {
        agree(&format::<String>("date"), &x)?;
        agree(&format::<String>("of my own"), &x)?;
    }
}
