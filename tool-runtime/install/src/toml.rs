//! A TOML file, in which comments, order and formatting stay.

use serde_json::{Map, Number, Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// A TOML file.
pub(crate) struct Toml {
    document: DocumentMut,
    /// `toml_edit` writes `\n`.
    has_crlf: bool,
}

impl Toml {
    /// # Errors
    /// The syntax is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // The error itself has the line, which may have a secret.
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let end = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("{} on line {line}", error.message())
        })?;
        let lines = text.matches('\n').count();
        let has_crlf = lines > 0 && text.matches("\r\n").count() == lines;
        Ok(Self { document, has_crlf })
    }

    pub(crate) fn value(&self) -> Value {
        json(self.document.as_item())
    }

    pub(crate) fn text(&self) -> String {
        let text = self.document.to_string();
        match self.has_crlf {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }

    pub(crate) fn set(
        &mut self,
        keys: &[String],
        members: &Map<String, Value>,
    ) -> Result<(), String> {
        let [above @ .., name] = keys else { return Ok(()) };
        let end = self.document.trailing().as_str().unwrap_or_default().to_owned();
        let mut is_new = false;
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for key in above {
            let inner = table.entry(key).or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            let inner = inner.as_table_like_mut();
            table = inner.ok_or_else(|| format!("`{key}` in it is not a table"))?;
        }
        let entry = table.entry(name).or_insert_with(|| {
            is_new = true;
            // The last of the file: comments before another table belong to that.
            let mut table = Table::new();
            table.set_position(Some(isize::MAX));
            table.decor_mut().set_prefix(format!("{end}\n"));
            Item::Table(table)
        });
        let entry = entry.as_table_like_mut();
        let entry = entry.ok_or_else(|| format!("`{name}` in it is not a table"))?;
        for (key, value) in members {
            match entry.get_mut(key) {
                Some(old) if json(old) == *value => {}
                // The comments beside the value stay.
                Some(Item::Value(old)) if !value.is_object() => {
                    let decor = old.decor().clone();
                    if let Item::Value(mut new) = item(value) {
                        *new.decor_mut() = decor;
                        *old = new;
                    }
                }
                _ => drop(entry.insert(key, item(value))),
            }
        }
        // Comments at the end stay above the new table.
        if is_new {
            self.document.set_trailing("");
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, keys: &[String]) {
        let [above @ .., name] = keys else { return };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for key in above {
            let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) else { return };
            table = inner;
        }
        // Comments above the table may be about others.
        let comments = match table.remove(name) {
            Some(Item::Table(entry)) => {
                entry.decor().prefix().and_then(|it| it.as_str()).map(str::to_owned)
            }
            _ => None,
        };
        if let Some(comments) = comments.filter(|text| text.contains('#')) {
            let end = self.document.trailing().as_str().unwrap_or_default();
            let end = format!("{}{end}", comments.trim_end_matches('\n').to_owned() + "\n");
            self.document.set_trailing(end);
        }
    }
}

fn item(value: &Value) -> Item {
    match value {
        Value::String(text) => self::value(text.as_str()),
        Value::Array(values) => {
            self::value(values.iter().filter_map(Value::as_str).collect::<Array>())
        }
        Value::Object(members) => {
            let mut table = Table::new();
            for (name, value) in members {
                table.insert(name, item(value));
            }
            Item::Table(table)
        }
        Value::Bool(flag) => self::value(*flag),
        Value::Null | Value::Number(_) => Item::None,
    }
}

fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => json_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| json_table(table)).collect(),
    }
}

fn json_table(table: &dyn TableLike) -> Value {
    let members: Map<_, _> =
        table.iter().map(|(name, item)| (name.to_owned(), json(item))).collect();
    Value::Object(members)
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => {
            Number::from_f64(*number.value()).map_or(Value::Null, Value::Number)
        }
        toml_edit::Value::Boolean(flag) => json!(flag.value()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(json_value).collect(),
        toml_edit::Value::InlineTable(table) => json_table(table),
    }
}
