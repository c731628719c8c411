//! Values serialized from a type match its schema, and so do values that decode.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::{NonZeroI8, NonZeroU32};
use std::time::Duration;

use proptest::collection::{btree_map, btree_set, hash_set, vec};
use proptest::option;
use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::check;

// The types below have no documentation: it would be part of their schemas.

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scalars {
    signed: (i8, i16, i32, i64),
    unsigned: (u8, u16, u32, u64, usize),
    wide: (i128, u128),
    floats: (f32, f64),
    letter: char,
    text: Option<String>,
    flag: bool,
    nonzero: (NonZeroI8, NonZeroU32),
    duration: Duration,
    nothing: (),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct Collections {
    array: [u8; 4],
    #[serde(default)]
    set: HashSet<i64>,
    by_name: BTreeMap<String, Option<bool>>,
    by_number: BTreeMap<i16, String>,
    by_unit: BTreeMap<Unit, u8>,
    units: BTreeSet<Unit>,
    #[schemars(length(min = 1, max = 3), inner(range(min = 1, max = 5)))]
    bounded: Vec<u8>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    First,
    /// With a description.
    Second,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    New(Unit),
    Tuple(u8, Option<String>),
    Struct { a: Option<u8>, next: Option<Box<External>> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Internal {
    Unit,
    Leaf { value: i64 },
    Node { left: Box<Internal>, right: Option<Box<Internal>> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(Vec<External>),
    Struct { inner: Internal },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Named { name: String },
    Pair((u8, bool)),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Outer {
    id: u8,
    #[serde(flatten)]
    inner: Internal,
    #[serde(skip_serializing_if = "Option::is_none")]
    any: Option<Untagged>,
    adjacent: Adjacent,
}

/// Any unit variant.
fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::First), Just(Unit::Second)]
}

/// Any float that JSON has, those without a fraction among them.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no others", |float| float.is_finite()),
        Just(1.0),
        Just(-0.0)
    ]
}

/// Any scalars.
fn scalars() -> impl Strategy<Value = Scalars> {
    let numbers =
        (any::<(i8, i16, i32, i64)>(), any::<(u8, u16, u32, u64, usize)>(), any::<(i64, u64)>());
    let others = (
        float(),
        any::<char>(),
        any::<Option<String>>(),
        any::<bool>(),
        any::<(NonZeroI8, NonZeroU32)>(),
    );
    (numbers, others, any::<Duration>()).prop_map(|((signed, unsigned, wide), others, duration)| {
        Scalars {
            signed,
            unsigned,
            wide: (wide.0.into(), wide.1.into()),
            floats: ((others.0 as f32).clamp(f32::MIN, f32::MAX), others.0),
            letter: others.1,
            text: others.2,
            flag: others.3,
            nonzero: others.4,
            duration,
            nothing: (),
        }
    })
}

/// Any small collections.
fn collections() -> impl Strategy<Value = Collections> {
    (
        any::<[u8; 4]>(),
        hash_set(any::<i64>(), 0..4),
        btree_map(any::<String>(), any::<Option<bool>>(), 0..4),
        btree_map(any::<i16>(), any::<String>(), 0..4),
        btree_map(unit(), any::<u8>(), 0..3),
        btree_set(unit(), 0..3),
        vec(1..=5_u8, 1..=3),
    )
        .prop_map(|(array, set, by_name, by_number, by_unit, units, bounded)| Collections {
            array,
            set,
            by_name,
            by_number,
            by_unit,
            units,
            bounded,
        })
}

/// Any externally tagged enum.
fn external() -> impl Strategy<Value = External> {
    let leaf = prop_oneof![
        Just(External::Unit),
        unit().prop_map(External::New),
        any::<(u8, Option<String>)>().prop_map(|(a, b)| External::Tuple(a, b)),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        (any::<Option<u8>>(), option::of(inner.prop_map(Box::new)))
            .prop_map(|(a, next)| External::Struct { a, next })
    })
}

/// Any internally tagged enum.
fn internal() -> impl Strategy<Value = Internal> {
    let leaf =
        prop_oneof![Just(Internal::Unit), any::<i64>().prop_map(|value| Internal::Leaf { value })];
    leaf.prop_recursive(4, 16, 2, |inner| {
        (inner.clone().prop_map(Box::new), option::of(inner.prop_map(Box::new)))
            .prop_map(|(left, right)| Internal::Node { left, right })
    })
}

/// Any adjacently tagged enum.
fn adjacent() -> impl Strategy<Value = Adjacent> {
    prop_oneof![
        Just(Adjacent::Unit),
        vec(external(), 0..3).prop_map(Adjacent::New),
        internal().prop_map(|inner| Adjacent::Struct { inner }),
    ]
}

/// Any untagged enum.
fn untagged() -> impl Strategy<Value = Untagged> {
    prop_oneof![
        any::<i64>().prop_map(Untagged::Number),
        any::<String>().prop_map(Untagged::Text),
        any::<String>().prop_map(|name| Untagged::Named { name }),
        any::<(u8, bool)>().prop_map(Untagged::Pair),
    ]
}

/// Any struct with a flattened enum.
fn outer() -> impl Strategy<Value = Outer> {
    (any::<u8>(), internal(), option::of(untagged()), adjacent())
        .prop_map(|(id, inner, any, adjacent)| Outer { id, inner, any, adjacent })
}

/// Whether the value, as the argument `a`, has no issues by the schema of its type.
fn assert_no_issues<T: Serialize + JsonSchema>(value: &T) {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Arguments<T> {
        a: T,
    }
    let schema = schema_for!(Arguments<T>).to_value();
    let arguments = json!({ "a": value });
    assert_eq!(check(&schema, &arguments), [], "{arguments} by {schema:#}");
}

proptest! {
    #![proptest_config(crate::property::cases(128))]

    #[test]
    fn serialized_scalars_match_their_schema(value in scalars()) {
        assert_no_issues(&value);
    }

    #[test]
    fn serialized_collections_match_their_schema(value in collections()) {
        assert_no_issues(&value);
    }

    #[test]
    fn serialized_enums_match_their_schema(external in external(), internal in internal(), adjacent in adjacent(), untagged in untagged()) {
        assert_no_issues(&(external, internal, adjacent, untagged));
    }

    #[test]
    fn serialized_flattened_structs_match_their_schema(value in outer()) {
        assert_no_issues(&value);
        assert_no_issues(&Some(value));
    }

    /// Unless the schema asserts more than types, a value with an issue does not decode.
    #[test]
    fn broken_values_do_not_decode(value in internal(), at in 0..64_usize) {
        let mut changed = serde_json::to_value(&value).unwrap();
        replace_part(&mut changed, at);
        prop_assume!(!has_more_than_a_unit(&changed));
        let schema = schema_for!(Internal).to_value();
        let fits = check(&schema, &changed).is_empty();
        prop_assert_eq!(fits, serde_json::from_value::<Internal>(changed.clone()).is_ok(), "{} by {:#}", changed, schema);
    }
}

/// serde ignores other members next to the tag of a unit variant, even where unknown fields are
/// denied; the schema does not allow it.
fn has_more_than_a_unit(value: &serde_json::Value) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let is_unit = object.get("kind").is_some_and(|kind| kind == "unit");
    (is_unit && object.len() > 1) || object.values().any(has_more_than_a_unit)
}

/// Changes one property of the object, or of a nested object.
fn replace_part(value: &mut serde_json::Value, at: usize) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let names: Vec<String> = object.keys().cloned().collect();
    let name = &names[at % names.len()];
    match at / names.len() % 4 {
        0 => object.insert(name.clone(), json!("spoilt")),
        1 => object.shift_remove(name),
        2 => object.insert("unknown".to_owned(), json!(1)),
        _ => {
            object.values_mut().for_each(|value| replace_part(value, at / 8));
            None
        }
    };
}
