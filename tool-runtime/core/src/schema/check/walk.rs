//! The walk over pairs of a subschema and a value.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::{DocumentKind, Location};
use crate::schema::check::secrets::Secrets;
use crate::schema::check::survey::{self, Survey};
use crate::schema::check::{array, combine, kind, literal, number, object, text, unevaluated};
use crate::schema::engine::{Engine, Pattern};
use crate::schema::format;
use crate::vocabulary::error::Issue;

/// Limit on the subschemas tried per part of the value, on average: alternatives may multiply at each level.
const TRIES_PER_PART: u64 = 1_000;

/// Number of subschemas that may be tried on any value.
const FREE_TRIES: u64 = 100_000;

/// The state of a walk: the document, secrets, compiled patterns, the remaining work.
pub(super) struct Walker<'s> {
    root: &'s Value,
    engine: Option<&'static Engine>,
    survey: Survey,
    secrets: Secrets,
    patterns: RefCell<HashMap<&'s str, Option<Pattern>>>,
    needs_formats: bool,
    attempts_left: Cell<u64>,
    gave_up: RefCell<Option<Issue>>,
}

impl<'s> Walker<'s> {
    /// A walker for `value` by the schema `root`, where references start. Without an engine, patterns and formats cannot
    /// be checked, which is an issue where the schema has any.
    pub(super) fn new(root: &'s Value, value: &Value, engine: Option<&'static Engine>) -> Self {
        let survey = Survey::of(root);
        let tries = FREE_TRIES.saturating_add(TRIES_PER_PART.saturating_mul(survey::size(value)));
        Self {
            root,
            engine,
            secrets: if survey.write_only {
                Secrets::find(root, value, engine)
            } else {
                Secrets::default()
            },
            survey,
            patterns: RefCell::default(),
            needs_formats: true,
            attempts_left: Cell::new(tries),
            gave_up: RefCell::default(),
        }
    }

    /// Sets what the value is. A result has the formats of its type, so that they need no engine.
    pub(super) fn of(self, whole: DocumentKind) -> Self {
        let needs_formats = !matches!(whole, DocumentKind::Result);
        Self { needs_formats, ..self }
    }

    /// The location at which the walk begins.
    pub(super) fn start(&self, whole: DocumentKind, value: &Value) -> Location<'static> {
        Location::start(whole, self.is_secret(value))
    }

    /// The document that references are resolved in.
    pub(super) fn root(&self) -> &'s Value {
        self.root
    }

    /// Whether `unevaluatedProperties` needs to know which properties were evaluated.
    pub(super) fn tracks_evaluated(&self) -> bool {
        self.survey.unevaluated
    }

    /// Whether a schema marks this value as secret.
    pub(super) fn is_secret(&self, value: &Value) -> bool {
        self.secrets.contain(value)
    }

    /// Checks one value against one subschema.
    pub(super) fn walk<'v>(
        &self,
        schema: &'s Value,
        value: &'v Value,
        at: &Location<'_>,
        found: &mut Findings<'v>,
    ) {
        match schema {
            _ if found.is_full() || !self.may_descend(at) => {}
            Value::Bool(false) => {
                let message = format!("{} {} not allowed", at.subject(), at.verb());
                found.add(Issue::new(at.path(), "false", message));
            }
            Value::Object(schema) => self.walk_keywords(schema, value, at, found),
            // `true` allows everything, and so does a value that is not a schema.
            _ => {}
        }
    }

    /// The findings of one subschema for one value.
    pub(super) fn probe<'v>(
        &self,
        schema: &'s Value,
        value: &'v Value,
        at: &Location<'_>,
    ) -> Findings<'v> {
        let mut found = Findings::default();
        self.walk(schema, value, at, &mut found);
        found
    }

    /// Checks one value against the keywords of a schema.
    fn walk_keywords<'v>(
        &self,
        schema: &'s Map<String, Value>,
        value: &'v Value,
        at: &Location<'_>,
        found: &mut Findings<'v>,
    ) {
        // More issues of a value of the wrong type would not help.
        let other = literal::check(schema, value, at).or_else(|| kind::check(schema, value, at));
        if let Some(issue) = other {
            return found.add(issue);
        }
        // `unevaluatedProperties` depends on adjacent keywords, not on those around it.
        let outer = std::mem::take(&mut found.evaluated);
        match value {
            Value::Number(number) => number::check(schema, number, at, found),
            Value::String(text) => text::check(self, schema, text, at, found),
            Value::Array(items) => array::check(self, schema, items, at, found),
            Value::Object(object) => object::check(self, schema, object, at, found),
            Value::Null | Value::Bool(_) => {}
        }
        combine::check(self, schema, value, at, found);
        if let Value::Object(object) = value {
            unevaluated::check(self, schema, object, at, found);
        }
        found.evaluated.extend(outer);
    }

    /// The pattern, compiled once for the walk; `None` if it does not compile.
    pub(super) fn regex(&self, pattern: &'s str) -> Option<Pattern> {
        let engine = self.engine()?;
        let mut patterns = self.patterns.borrow_mut();
        patterns.entry(pattern).or_insert_with(|| engine.compile(pattern).ok()).clone()
    }

    /// Whether the text has the form; `None` for a format that is not enforced.
    pub(super) fn conforms(&self, format: &str, text: &str) -> Option<bool> {
        let is_left_out = self.engine.is_none() && !self.needs_formats;
        if is_left_out || !format::ENFORCED.contains(&format) {
            return None;
        }
        self.engine()?.conforms(format, text)
    }

    /// The engine for patterns and formats. A missing one becomes an issue.
    fn engine(&self) -> Option<&'static Engine> {
        if self.engine.is_none() {
            let message = "patterns and formats cannot be checked: nothing in this program links what checks them";
            self.gave_up.borrow_mut().get_or_insert_with(|| Issue::new("", "pattern", message));
        }
        self.engine
    }

    /// Whether the walk may continue at this location. If not, the reason becomes an issue.
    fn may_descend(&self, at: &Location<'_>) -> bool {
        if at.is_too_deep() {
            self.give_up(at, "nested too deeply");
            return false;
        }
        let Some(tries) = self.attempts_left.get().checked_sub(1) else {
            self.give_up(&at.all(), "too large or too ambiguous");
            return false;
        };
        self.attempts_left.set(tries);
        true
    }

    /// Records that a value was not checked to its end, and why.
    pub(super) fn give_up(&self, at: &Location<'_>, why: &str) {
        let mut gave_up = self.gave_up.borrow_mut();
        if gave_up.is_none() {
            let (subject, verb) = (at.subject(), at.verb());
            let message = format!("{subject} {verb} {why} to be checked; send something simpler");
            *gave_up = Some(Issue::new(at.path(), "depth", message));
        }
    }

    /// The issue about a walk that stopped early.
    pub(super) fn gave_up(self) -> Option<Issue> {
        self.gave_up.into_inner()
    }
}
