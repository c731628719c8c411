//! Explains a value that matches no alternative by the alternative that was probably intended.

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::kind::Kind;
use crate::schema::check::location::Location;
use crate::schema::check::variants::Variant;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, literal, names, wording};
use crate::vocabulary::error::Issue;

/// The findings of each variant; `None` where it was ruled out without a walk.
pub(super) type Outcomes<'v> = Vec<Option<Findings<'v>>>;

/// A value that matches no variant.
pub(super) struct Failure<'a, 's, 'v> {
    walker: &'a Walker<'s>,
    rule: &'static str,
    variants: &'a [Variant<'s>],
    /// The findings of each variant; missing ones are computed on demand.
    pub(super) outcomes: Outcomes<'v>,
    value: &'v Value,
    at: &'a Location<'a>,
}

impl<'a, 's, 'v> Failure<'a, 's, 'v> {
    /// The failure of the value at a path to match the variants of the keyword `rule`.
    pub(super) fn new(
        walker: &'a Walker<'s>,
        rule: &'static str,
        variants: &'a [Variant<'s>],
        outcomes: Outcomes<'v>,
        value: &'v Value,
        at: &'a Location<'a>,
    ) -> Self {
        Self { walker, rule, variants, outcomes, value, at }
    }

    /// The issues that help most.
    pub(super) fn issues(&mut self) -> Vec<Issue> {
        if let Some(values) = self.all_literals() {
            return vec![literal::none_of("enum", &values, self.value, self.at)];
        }
        let kind = Kind::of(self.value);
        let candidates: Vec<usize> =
            (0..self.variants.len()).filter(|&index| self.variants[index].admits(kind)).collect();
        let only_literals =
            candidates.iter().all(|&index| self.variants[index].literals().is_some());
        if only_literals {
            return vec![self.all_forms()];
        }
        if let Value::Object(object) = self.value {
            let by_shape =
                self.by_tag(object, &candidates).or_else(|| self.by_field(object, &candidates));
            if let Some(issues) = by_shape {
                return issues;
            }
        }
        self.by_closeness(&candidates)
    }

    /// The values of all variants, if all of them are lists of values.
    fn all_literals(&self) -> Option<Vec<&'s Value>> {
        let values = self.variants.iter().map(Variant::literals).collect::<Option<Vec<_>>>()?;
        Some(values.into_iter().flatten().collect())
    }

    /// Variants distinguished by the value of a property: serde's internal and adjacent tags.
    fn by_tag(&mut self, object: &Map<String, Value>, candidates: &[usize]) -> Option<Vec<Issue>> {
        let tag = self.common_tag(candidates)?;
        let variants = self.variants;
        let tagged =
            candidates.iter().filter_map(|&index| Some((index, variants[index].tag_values(tag)?)));
        let tagged: Vec<(usize, Vec<&Value>)> = tagged.collect();
        let given = object.get(tag);
        let meant: Vec<usize> = tagged
            .iter()
            .filter(|(_, values)| given.is_some_and(|given| values.contains(&given)))
            .map(|(index, _)| *index)
            .collect();
        if !meant.is_empty() {
            return Some(self.by_closeness(&meant));
        }
        if tagged.len() < candidates.len() {
            return None;
        }
        let mut values: Vec<&Value> = Vec::new();
        for value in tagged.into_iter().flat_map(|(_, values)| values) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Some(vec![self.wrong_tag(tag, &values, given)])
    }

    /// The issue that the tag is missing or names no variant.
    fn wrong_tag(&self, tag: &str, values: &[&Value], given: Option<&Value>) -> Issue {
        match given {
            Some(given) => {
                let at = self.at.property(tag, self.walker.is_secret(given));
                literal::none_of("enum", values, given, &at)
            }
            None => {
                let owned: Vec<Value> = values.iter().copied().cloned().collect();
                let schema = serde_json::json!({ "enum": owned });
                names::missing(self.walker.root(), tag, Some(&schema), self.at)
            }
        }
    }

    /// The property that distinguishes most of the candidates, at least two.
    fn common_tag(&self, candidates: &[usize]) -> Option<&'s str> {
        let tags: Vec<Vec<&str>> =
            candidates.iter().map(|&index| self.variants[index].tags()).collect();
        let mut best: Option<(&str, usize)> = None;
        for tag in tags.iter().flatten() {
            let count = tags.iter().filter(|others| others.contains(tag)).count();
            if count > best.map_or(1, |(_, count)| count) {
                best = Some((*tag, count));
            }
        }
        best.map(|(tag, _)| tag)
    }

    /// Variants distinguished by the name of their only property: serde's external tags.
    fn by_field(
        &mut self,
        object: &Map<String, Value>,
        candidates: &[usize],
    ) -> Option<Vec<Issue>> {
        let fields = candidates.iter().map(|&index| self.variants[index].sole_field());
        let fields: Vec<&str> = fields.collect::<Option<_>>()?;
        if fields.len() < 2 {
            return None;
        }
        let given =
            candidates.iter().zip(&fields).filter(|(_, field)| object.contains_key(**field));
        let given: Vec<usize> = given.map(|(index, _)| *index).collect();
        match given.as_slice() {
            [meant] => Some(self.outcome(*meant)),
            _ => Some(vec![self.wrong_field(object, &fields)]),
        }
    }

    /// The issue that the object has none, or several, of the `fields` of which it needs one.
    fn wrong_field(&self, object: &Map<String, Value>, fields: &[&str]) -> Issue {
        let at = self.at;
        let mut got = String::new();
        if !at.is_secret() && !object.is_empty() {
            let names: Vec<String> = object.keys().map(|name| wording::name(name)).collect();
            got = format!(", got {}", wording::list_of(&names));
        }
        if let (1, false, Some(name)) = (object.len(), at.is_secret(), object.keys().next()) {
            got += &wording::did_you_mean(name, fields.iter().copied(), wording::name);
        }
        let forms = wording::either(&self.forms());
        Issue::new(at.path(), self.rule, format!("{} must be {forms}{got}", at.subject()))
    }

    /// Explains the candidate that is closest to the value, or lists all forms if none is close.
    fn by_closeness(&mut self, candidates: &[usize]) -> Vec<Issue> {
        let mut close: Vec<usize> = candidates.to_vec();
        if let (Value::Object(object), true) = (self.value, candidates.len() > 1) {
            close.retain(|&index| self.shared_names(index, object) > 0);
        }
        let best = close.into_iter().min_by_key(|&index| {
            let shared =
                self.value.as_object().map_or(0, |object| self.shared_names(index, object));
            (self.outcome(index).len(), std::cmp::Reverse(shared))
        });
        match best {
            Some(best) => self.outcome(best),
            None => vec![self.all_forms()],
        }
    }

    /// The number of properties of the object that a variant declares.
    fn shared_names(&self, index: usize, object: &Map<String, Value>) -> usize {
        self.variants[index].properties().filter(|(name, _)| object.contains_key(*name)).count()
    }

    /// The findings of one variant.
    fn outcome(&mut self, index: usize) -> Vec<Issue> {
        let (walker, value, at) = (self.walker, self.value, self.at);
        let schema = self.variants[index].schema();
        let outcome =
            self.outcomes[index].get_or_insert_with(|| walker.probe(schema, value, &at.same()));
        outcome.issues().to_vec()
    }

    /// The issue that lists all allowed forms.
    fn all_forms(&self) -> Issue {
        let literals: Vec<&Value> =
            self.variants.iter().filter_map(Variant::literals).flatten().collect();
        let got = wording::got_kind(self.value, self.at);
        let hint = literal::suggestion(&literals, self.value, self.at);
        let forms = match self.forms() {
            forms if forms.is_empty() => "one of the allowed forms".to_owned(),
            forms => wording::either(&forms),
        };
        Issue::new(
            self.at.path(),
            self.rule,
            format!("{} must be {forms}{got}{hint}", self.at.subject()),
        )
    }

    /// The allowed forms; variants with a single property are listed together.
    fn forms(&self) -> Vec<String> {
        let fields: Vec<&str> = self.variants.iter().filter_map(Variant::sole_field).collect();
        let together = fields.len() > 1;
        let mut forms: Vec<String> = Vec::new();
        for variant in self.variants {
            let words = match variant.sole_field() {
                Some(_) if together => vec![one_field_of(&fields)],
                _ => describe::phrases(self.walker.root(), variant.schema()),
            };
            for words in words {
                if !forms.contains(&words) {
                    forms.push(words);
                }
            }
        }
        forms
    }
}

/// The form of variants with a single property.
fn one_field_of(fields: &[&str]) -> String {
    let names: Vec<String> = fields.iter().map(|name| wording::name(name)).collect();
    format!("an object with exactly one of the fields {}", wording::list_of(&names))
}
