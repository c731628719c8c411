//! For random schemas and values, the walk ends and agrees with the `jsonschema` crate.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::check;
use crate::schema::check::asserts_more_than_types;

/// Names that schemas and values share.
const NAMES: &[&str] = &["a", "b", "ab", "c"];

/// Numbers for bounds and values; those with a fraction are exact in binary.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3_i64..4).prop_map(Value::from),
        select(vec![json!(0.5), json!(-1.5), json!(u64::MAX), json!(i64::MIN)])
    ]
}

/// A value without nulls in objects, because the two treat these nulls differently.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        number(),
        any::<bool>().prop_map(Value::from),
        select(NAMES).prop_map(Value::from),
        Just(json!("")),
        Just(json!("éé")),
    ];
    let leaf = prop_oneof![4 => scalar, 1 => Just(Value::Null)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let entry = inner.clone().prop_filter("no nulls", |value| !value.is_null());
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            btree_map(select(NAMES), entry, 0..4).prop_map(|object| object
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// An object without nulls.
fn arguments() -> impl Strategy<Value = Value> {
    btree_map(select(NAMES), value().prop_filter("no nulls", |value| !value.is_null()), 0..4)
        .prop_map(|object| {
            object
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()
        })
}

/// One keyword with a value that asserts something by itself.
fn assertion() -> BoxedStrategy<(&'static str, Value)> {
    let types = select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let number_keywords =
        select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
    let count_keywords = select(vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ]);
    let names = || subsequence(NAMES, 1..3).prop_map(Value::from);
    prop_oneof![
        4 => types.clone().prop_map(|name| ("type", json!(name))),
        2 => vec(types, 1..4).prop_map(|mut names| { names.sort_unstable(); names.dedup(); ("type", json!(names)) }),
        1 => value().prop_map(|value| ("const", value)),
        1 => vec(value(), 1..4).prop_map(|values| ("enum", json!(values))),
        2 => (number_keywords, number()),
        1 => select(vec![json!(1), json!(2), json!(0.5)]).prop_map(|step| ("multipleOf", step)),
        2 => (count_keywords, (0..4_u8).prop_map(Value::from)),
        1 => select(vec!["a", "^b", "c$", "^$"]).prop_map(|pattern| ("pattern", json!(pattern))),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        3 => names().prop_map(|names| ("required", names)),
    ]
    .boxed()
}

/// One keyword that holds schemas.
fn applicator(schema: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let one = select(vec![
        "not",
        "if",
        "then",
        "else",
        "items",
        "additionalProperties",
        "unevaluatedProperties",
    ]);
    let list = select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
    let named = Just("properties");
    prop_oneof![
        3 => (one, schema.clone()),
        1 => Just(("additionalProperties", json!(false))),
        1 => Just(("unevaluatedProperties", json!(false))),
        4 => (list, vec(schema.clone(), 1..4).prop_map(Value::from)),
        4 => (named, btree_map(select(NAMES), schema.clone(), 1..4).prop_map(|schemas| json!(schemas))),
        1 => btree_map(select(vec!["a", "^b", "c$"]), schema, 1..3).prop_map(|schemas| ("patternProperties", json!(schemas))),
    ]
    .boxed()
}

/// A schema of a few keywords, some of them with nested schemas.
fn schema() -> impl Strategy<Value = Value> {
    let reference =
        select(vec!["#/$defs/x", "#/$defs/y"]).prop_map(|target| json!({ "$ref": target }));
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        6 => vec(assertion(), 1..3).prop_map(collected),
        1 => reference,
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let inner = inner.boxed();
        (vec(assertion(), 0..2), vec(applicator(inner), 1..4))
            .prop_map(|(assertions, applicators)| collected([assertions, applicators].concat()))
    })
}

/// The schema of these keywords.
fn collected(keywords: Vec<(&'static str, Value)>) -> Value {
    keywords
        .into_iter()
        .map(|(keyword, value)| (keyword.to_owned(), value))
        .collect::<Map<_, _>>()
        .into()
}

/// A document: a schema and the targets of its references. The targets contain no references, so that none is circular.
fn document() -> impl Strategy<Value = Value> {
    let target = vec(assertion(), 0..3).prop_map(collected);
    (schema(), target.clone(), target).prop_filter_map("an object", |(mut schema, x, y)| {
        schema.as_object_mut()?.insert("$defs".to_owned(), json!({ "x": x, "y": y }));
        Some(schema)
    })
}

/// Random JSON similar to a schema, with keywords at the wrong positions, cycles and formats.
fn schema_like() -> impl Strategy<Value = Value> {
    let words = select(vec![
        "#",
        "#/$defs/a",
        "#a",
        "#/%",
        "(",
        "^a",
        "string",
        "integer",
        "object",
        "uint8",
        "date",
        "email",
        "a",
        "",
    ]);
    let keywords = select(vec![
        "$ref",
        "$anchor",
        "$defs",
        "type",
        "enum",
        "const",
        "minimum",
        "multipleOf",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "items",
        "prefixItems",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedProperties",
        "unevaluatedItems",
        "writeOnly",
        "description",
        "a",
        "b",
    ]);
    let leaf = prop_oneof![value(), words.prop_map(Value::from), number()];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => btree_map(keywords.clone(), inner, 0..5)
                .prop_map(|object| json!(object)),
        ]
    })
}

proptest! {
    #![proptest_config(crate::property::cases(512))]

    #[test]
    fn any_schema_and_value_ends_without_a_panic(schema in schema_like(), arguments in prop_oneof![arguments(), value(), schema_like()]) {
        let issues = check(&schema, &arguments);
        prop_assert!(issues.len() <= 32);
        prop_assert_eq!(&issues, &check(&schema, &arguments));
        for (index, issue) in issues.iter().enumerate() {
            prop_assert!(!issues[..index].contains(issue), "{} twice", issue);
            prop_assert!(!issue.message().is_empty() && !issue.message().ends_with('.'), "{}", issue);
        }
        asserts_more_than_types(&schema, &schema);
    }

    #[test]
    fn agrees_with_the_jsonschema_crate(document in document(), arguments in arguments()) {
        let validator = jsonschema::draft202012::new(&document);
        prop_assume!(validator.is_ok());
        let expected = validator.unwrap().is_valid(&arguments);
        let issues = check(&document, &arguments);
        prop_assert_eq!(issues.is_empty(), expected, "{:?}: {} by {:#}", issues, arguments, document);
    }
}
