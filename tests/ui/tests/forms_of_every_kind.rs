//! Fields of forms.

#![forbid(unsafe_code, dead_code)]
#![deny(warnings, unused_qualifications)]
#![allow(linker_messages)]

use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use tool_runtime::peer::{FormChoice, FormField, PeerError};
use tool_runtime::{Form, ToolContext};

#[derive(Deserialize, JsonSchema, Form, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Meal {
    Green,
    Red,
    #[serde(skip)]
    Special(Vec<String>),
}

/// Read from a string.
#[derive(Deserialize, JsonSchema)]
pub struct Isbn(pub String);

impl FormField for Isbn {}

#[derive(Deserialize, Default)]
pub struct Foreign(pub Vec<Vec<String>>);

#[derive(Deserialize, JsonSchema)]
pub struct More {
    pub phone: String,
}

#[derive(Deserialize, JsonSchema, Form)]
pub struct Guest {
    pub name: String,
    pub r#type: Option<char>,
    pub nick: Cow<'static, str>,
    #[serde(default)]
    pub others: u8,
    pub seats: std::num::NonZeroU8,
    pub meal: Meal,
    pub second: Option<Box<Meal>>,
    pub meals: Vec<Meal>,
    pub set: BTreeSet<Meal>,
    pub hashed: Option<HashSet<Meal>>,
    pub isbn: Isbn,
    #[schemars(length(min = 1), with = "String")]
    pub foreign: Foreign,
    #[serde(skip)]
    pub skipped: Foreign,
    #[serde(flatten)]
    pub more: More,
    pub address: std::net::IpAddr,
}

#[derive(Deserialize, JsonSchema)]
pub struct Newtype(pub bool);

impl Form for Newtype {}

mod renamed {
    pub use tool_runtime as rt;
}

#[derive(Deserialize, JsonSchema, renamed::rt::Form)]
#[form(crate = crate::renamed::rt)]
pub struct ByPath {
    pub seats: u8,
}

#[derive(Deserialize, JsonSchema, Form)]
#[form(crate = "crate::renamed::rt")]
pub enum ByText {
    One,
}

pub async fn ask(context: &ToolContext) -> Result<(), PeerError> {
    context.ask::<Guest>("guest", "Who is coming?").await?;
    context.ask::<Vec<Meal>>("meals", "Which meals?").await?;
    context.ask::<Newtype>("newtype", "Sure?").await?;
    context.ask::<ByPath>("path", "How many?").await?;
    let _: Option<f64> = context.ask("number", "Which number?").await?.accepted();
    Ok(())
}

const fn is_choice<T: Form + FormField + FormChoice>() {}

#[test]
fn compiles_and_runs() {
    #[derive(Deserialize, JsonSchema, Form)]
    struct Inner {
        sure: Sure,
    }
    #[derive(Deserialize, JsonSchema, Form)]
    enum Sure {
        Yes,
    }
    is_choice::<Meal>();
    is_choice::<ByText>();
    let inner: Inner = serde_json::from_str(r#"{"sure":"Yes"}"#).unwrap();
    assert!(matches!(inner.sure, Sure::Yes));
    let _ = ask;
}
