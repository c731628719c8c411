//! The arguments of an action as JSON text, where all of their types serialise.

use super::Parameter;
use serde::Serialize;
use std::fmt::Write as _;

/// An argument's value, by reference.
pub struct JsonOf<'a, T>(
    /// The value.
    pub &'a T,
);

/// Writes a value as JSON, where its type serialises.
pub trait WriteJson {
    /// The text; `None` if serializing the value fails.
    fn json(&self) -> Option<String>;
}

impl<T: Serialize> WriteJson for &JsonOf<'_, T> {
    fn json(&self) -> Option<String> {
        to_json(self.0)
    }
}

/// Writes nothing, where a type does not serialise.
pub trait OmitJson {
    /// Returns `None`.
    fn json(&self) -> Option<String>;
}

impl<T> OmitJson for JsonOf<'_, T> {
    fn json(&self) -> Option<String> {
        None
    }
}

/// A value as JSON; `None` if it cannot be written.
pub fn to_json<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// The object of all arguments under their names in JSON; `None` if one of them has no text.
pub fn json_object(parameters: &[Parameter], values: &[Option<String>]) -> Option<String> {
    let mut object = String::from("{");
    for (parameter, value) in parameters.iter().zip(values) {
        add(&mut object, parameter, value.as_deref()?)?;
    }
    object.push('}');
    Some(object)
}

fn add(object: &mut String, parameter: &Parameter, value: &str) -> Option<()> {
    if value == "null" && (parameter.is_flattened || parameter.is_absent_as_null()) {
        return Some(());
    }
    let fields = match parameter.is_flattened {
        true => value.strip_prefix('{')?.strip_suffix('}')?,
        false => value,
    };
    if fields.is_empty() {
        return Some(());
    }
    if object.len() > 1 {
        object.push(',');
    }
    if !parameter.is_flattened {
        write!(object, "{}:", serde_json::to_string(parameter.name).ok()?).ok()?;
    }
    object.push_str(fields);
    Some(())
}

impl Parameter {
    /// Whether null means the same as leaving the argument out.
    fn is_absent_as_null(&self) -> bool {
        !self.has_default && self.is_optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::arguments::parameter::{argument, defaulted, flattened};
    use std::collections::BTreeMap;

    fn text<T: Serialize>(value: &T) -> Option<String> {
        (&&JsonOf(value)).json()
    }

    #[test]
    fn arguments_are_listed_by_name() {
        let parameters = [
            argument::<String>().parameter("a \"b\"", ""),
            flattened::<BTreeMap<String, i64>>().parameter("rest", "").flattened(),
            argument::<bool>().parameter("c", ""),
        ];
        let rest = BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), 2)]);
        let values = [text(&"é"), text(&rest), text(&true)];
        let json = json_object(&parameters, &values);
        assert_eq!(json.as_deref(), Some(r#"{"a \"b\"":"é","x":1,"y":2,"c":true}"#));
        let values = [text(&"é"), text(&BTreeMap::<String, i64>::new()), text(&true)];
        let json = json_object(&parameters, &values);
        assert_eq!(json.as_deref(), Some(r#"{"a \"b\"":"é","c":true}"#));
        assert_eq!(json_object(&[], &[]).as_deref(), Some("{}"));
    }

    #[test]
    fn absent_values_are_omitted_unless_a_default_would_replace_them() {
        let parameters = [
            argument::<Option<i64>>().parameter("absent", ""),
            defaulted::<Option<i64>>().parameter("null", "").optional(),
        ];
        let nothing = text(&None::<i64>);
        let json = json_object(&parameters, &[nothing.clone(), nothing]);
        assert_eq!(json.as_deref(), Some(r#"{"null":null}"#));
    }

    #[test]
    fn an_absent_value_gives_an_empty_object() {
        struct Opaque;
        let parameters =
            [argument::<i64>().parameter("a", ""), argument::<i64>().parameter("b", "")];
        let values = [text(&1), JsonOf(&Opaque).json()];
        assert_eq!(json_object(&parameters, &values), None);
    }
}
