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
        let document = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        Ok(Self { document, has_crlf: text.contains("\r\n") })
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
        let entry = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
        let entry = entry.as_table_like_mut();
        let entry = entry.ok_or_else(|| format!("`{name}` in it is not a table"))?;
        for (key, value) in members {
            if entry.get(key).map(json).as_ref() != Some(value) {
                entry.insert(key, item(value));
            }
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
        table.remove(name);
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
