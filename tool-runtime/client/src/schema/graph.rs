//! A schema as a graph: subschemas that check the same value, and subschemas that check its members and items. References
//! are followed, so that the cost of a short schema with many references is known.

use super::references::References;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;

/// The subschemas in topological order: a part that passes a value on precedes the parts that receive it.
pub(super) struct Graph {
    pub(super) parts: Vec<Part>,
    /// Index of the schema itself.
    pub(super) root: usize,
    /// Whether a part passes a value on to itself.
    pub(super) is_endless: bool,
    /// Maximum number of paths on which one value reaches parts.
    pub(super) paths: u64,
    /// Maximum length of such a path.
    pub(super) height: u64,
}

/// A subschema.
#[derive(Default)]
pub(super) struct Part {
    /// Number of values to compare with.
    pub(super) own: u64,
    pub(super) has_pattern: bool,
    pub(super) is_unique: bool,
    /// Whether the part has `unevaluatedProperties` or `unevaluatedItems`, which depend on other parts.
    pub(super) is_unevaluated: bool,
    /// Parts that get the value itself.
    pub(super) same: Vec<usize>,
    pub(super) properties: HashMap<Box<str>, usize>,
    /// Parts that get members whose names match patterns.
    pub(super) matching: Vec<usize>,
    /// Parts that get all other members.
    pub(super) others: Vec<usize>,
    pub(super) names: Vec<usize>,
    /// Parts that get the first items.
    pub(super) first: Vec<usize>,
    pub(super) items: Vec<usize>,
}

impl Graph {
    pub(super) fn of(schema: &Map<String, Value>) -> Self {
        let mut builder = Builder::new(schema);
        builder.number(schema);
        let mut parts = Vec::new();
        while let Some(next) = builder.found.get(parts.len()).copied() {
            let part = builder.part(next);
            parts.push(part);
        }
        Self::measured(parts)
    }

    fn measured(parts: Vec<Part>) -> Self {
        let (order, is_endless) = topological_order(&parts);
        let root = order.iter().position(|part| *part == 0).unwrap_or(0);
        let mut graph =
            Self { parts: reorder(parts, &order), root, is_endless, paths: 0, height: 0 };
        if !is_endless {
            graph.measure();
        }
        graph
    }

    fn measure(&mut self) {
        let count = self.parts.len();
        let (mut paths, mut heights) = (vec![1_u64; count], vec![1_u64; count]);
        for (index, part) in self.parts.iter().enumerate().rev() {
            paths[index] = part.same.iter().fold(1, |sum, at| sum.saturating_add(paths[*at]));
            heights[index] = 1 + part.same.iter().map(|at| heights[*at]).max().unwrap_or(0);
        }
        self.paths = paths.into_iter().max().unwrap_or(0);
        self.height = heights.into_iter().max().unwrap_or(0);
    }
}

impl Part {
    /// Whether the part looks into values.
    pub(super) fn looks_in(&self) -> bool {
        let lists = [&self.matching, &self.others, &self.names, &self.first, &self.items];
        !self.properties.is_empty() || lists.iter().any(|list| !list.is_empty())
    }

    fn renumber(&mut self, numbers: &[usize]) {
        let Self { same, properties, matching, others, names, first, items, .. } = self;
        let lists = [same, matching, others, names, first, items];
        let listed = lists.into_iter().flatten().chain(properties.values_mut());
        listed.for_each(|at| *at = numbers[*at]);
    }
}

/// The parts in topological order of `same`, and whether there is a cycle.
fn topological_order(parts: &[Part]) -> (Vec<usize>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let (mut seen, mut order, mut is_cyclic) = (vec![Seen::No; parts.len()], Vec::new(), false);
    for start in 0..parts.len() {
        if seen[start] != Seen::No {
            continue;
        }
        seen[start] = Seen::Open;
        let mut open = vec![(start, parts[start].same.clone())];
        // Without recursion, since chains of references may be long.
        while let Some((part, rest)) = open.last_mut() {
            match rest.pop() {
                Some(to) if seen[to] == Seen::No => {
                    seen[to] = Seen::Open;
                    open.push((to, parts[to].same.clone()));
                }
                Some(to) => is_cyclic |= seen[to] == Seen::Open,
                None => {
                    seen[*part] = Seen::Done;
                    order.push(*part);
                    open.pop();
                }
            }
        }
    }
    order.reverse();
    (order, is_cyclic)
}

/// Reorders the parts.
fn reorder(mut parts: Vec<Part>, order: &[usize]) -> Vec<Part> {
    let mut numbers = vec![0; parts.len()];
    order.iter().enumerate().for_each(|(new, old)| numbers[*old] = new);
    parts.iter_mut().for_each(|part| part.renumber(&numbers));
    let mut parts: Vec<(usize, Part)> = numbers.iter().copied().zip(parts).collect();
    parts.sort_by_key(|(number, _)| *number);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Collects the parts, starting with the schema itself.
struct Builder<'a> {
    references: References<'a>,
    found: Vec<&'a Map<String, Value>>,
    numbers: HashMap<*const Map<String, Value>, usize>,
}

impl<'a> Builder<'a> {
    fn new(schema: &'a Map<String, Value>) -> Self {
        let references = References::of(schema);
        Self { references, found: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, schema: &'a Map<String, Value>) -> usize {
        *self.numbers.entry(ptr::from_ref(schema)).or_insert_with(|| {
            self.found.push(schema);
            self.found.len() - 1
        })
    }

    /// The schemas of a keyword with one schema or a list. `true` and `false` cost nothing.
    fn numbered(&mut self, value: &'a Value) -> Vec<usize> {
        match value {
            Value::Object(schema) => vec![self.number(schema)],
            Value::Array(list) => {
                list.iter().filter_map(Value::as_object).map(|schema| self.number(schema)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn members(&mut self, value: &'a Value) -> Vec<(&'a str, usize)> {
        let members = value.as_object().into_iter().flatten();
        let schemas = members.filter_map(|(name, value)| Some((&**name, value.as_object()?)));
        schemas.map(|(name, schema)| (name, self.number(schema))).collect()
    }

    fn part(&mut self, schema: &'a Map<String, Value>) -> Part {
        let mut part = Part::default();
        for (keyword, value) in schema {
            self.keyword(keyword, value, &mut part);
        }
        part
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value, part: &mut Part) {
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => {
                part.same.extend(self.numbered(value));
            }
            "dependentSchemas" | "dependencies" => {
                part.own += size(value);
                part.same.extend(self.members(value).into_iter().map(|(_, number)| number));
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                for target in value.as_str().map(|to| self.references.find(to)).unwrap_or_default()
                {
                    part.same.push(self.number(target));
                }
            }
            "properties" => {
                let members = self.members(value);
                part.own += members.len() as u64;
                part.properties = members.into_iter().map(|(name, at)| (name.into(), at)).collect();
            }
            "patternProperties" => {
                let members = self.members(value);
                part.has_pattern = true;
                part.matching = members.into_iter().map(|(_, number)| number).collect();
            }
            "additionalProperties" => part.others.extend(self.numbered(value)),
            "unevaluatedProperties" => {
                part.is_unevaluated = true;
                part.others.extend(self.numbered(value));
            }
            "propertyNames" => part.names.extend(self.numbered(value)),
            "prefixItems" => part.first.extend(self.numbered(value)),
            // Newer drafts call a list `prefixItems`.
            "items" if value.is_array() => part.first.extend(self.numbered(value)),
            "items" | "additionalItems" | "contains" => part.items.extend(self.numbered(value)),
            "unevaluatedItems" => {
                part.is_unevaluated = true;
                part.items.extend(self.numbered(value));
            }
            "enum" | "const" | "required" | "dependentRequired" => part.own += size(value),
            "pattern" | "format" => part.has_pattern = true,
            "uniqueItems" => part.is_unique = *value == Value::Bool(true),
            _ => {}
        }
    }
}

/// Number of values in a value.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<u64>(),
        _ => 1,
    }
}
