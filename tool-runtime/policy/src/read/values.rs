//! Reads single values.

use super::object::{At, Mistakes, kind};
use super::problem::Fault;
use serde_json::Value;
use std::time::Duration;

impl At<'_> {
    fn wrong<T>(&self, mistakes: &mut Mistakes, help: &str) -> Option<T> {
        mistakes.add(&self.path, format!("this is {}", kind(self.value)), help);
        None
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, mistakes: &mut Mistakes) -> Option<String> {
        match self.value.as_str() {
            Some("") => {
                mistakes.add(&self.path, "the text is empty", "write a string, or remove the key");
                None
            }
            Some(text) => Some(text.to_owned()),
            None => self.wrong(mistakes, "write a string"),
        }
    }

    /// A string, or a list of at least one.
    pub(crate) fn strings(&self, mistakes: &mut Mistakes) -> Vec<(Self, String)> {
        let items = self.one_or_more(mistakes);
        items.into_iter().filter_map(|item| item.text(mistakes).map(|text| (item, text))).collect()
    }

    /// Parses a string, or each of a list of strings.
    pub(crate) fn parsed<T>(
        &self,
        mistakes: &mut Mistakes,
        parse: impl Fn(&str) -> Result<T, Fault>,
    ) -> Vec<T> {
        let strings = self.strings(mistakes).into_iter();
        strings.filter_map(|(at, text)| mistakes.valid(&at.path, parse(&text))).collect()
    }

    pub(crate) fn flag(&self, mistakes: &mut Mistakes) -> Option<bool> {
        self.value.as_bool().or_else(|| self.wrong(mistakes, "write `true` or `false`"))
    }

    pub(crate) fn whole(&self, mistakes: &mut Mistakes) -> Option<u64> {
        let help = "write a whole number, not negative";
        self.value.as_u64().or_else(|| self.wrong(mistakes, help))
    }

    pub(crate) fn integer(&self, mistakes: &mut Mistakes) -> Option<i64> {
        self.value.as_i64().or_else(|| self.wrong(mistakes, "write a whole number"))
    }

    pub(crate) fn number(&self, mistakes: &mut Mistakes) -> Option<serde_json::Number> {
        match self.value {
            Value::Number(number) => Some(number.clone()),
            _ => self.wrong(mistakes, "write a number"),
        }
    }

    /// A time such as `90s`, `5m`, `1h30m`, longer than none.
    pub(crate) fn duration(&self, mistakes: &mut Mistakes) -> Option<Duration> {
        let text = self.text(mistakes)?;
        mistakes.valid(&self.path, duration(&text))
    }
}

pub(crate) fn duration(text: &str) -> Result<Duration, Fault> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) => Err(Fault::new("the time is zero", "write a time such as `90s` or `5m`")),
        Err(_) => Err(Fault::new(
            format!("`{text}` is not a valid time"),
            "write a number and a unit, such as `90s`, `5m` or `1h 30m`",
        )),
    }
}
