//! The command line of one tool: its arguments as options, made from its schema.

use super::arguments::Given;
use super::example::{example, forms};
use super::schema::{choices, limits, resolved, says_something, type_name};
use crate::options::candidates;
use clap::builder::StringValueParser;
use clap::{Arg, ArgAction, Command};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use tool_runtime_core::seam::printable_lines;
use tool_runtime_core::tool::ToolDefinition;

/// Objects within objects whose fields are options.
const MAX_DEPTH: usize = 3;

/// The length above which each option of an example has a line, so that wrapped lines do not break it.
const LINE_CHARS: usize = 70;

/// An argument of a tool, or a field of one.
pub(super) struct ToolOption {
    /// The name, with the names of the objects around it: `book.title`.
    pub(super) name: String,
    /// The option, without dashes. `None` for a name that no option can have.
    pub(super) flag: Option<Flag>,
    pub(super) schema: Value,
    description: String,
    default: Option<Value>,
    /// A value that fits.
    example: Value,
    /// The forms of its objects that have no options.
    forms: Vec<String>,
    is_required: bool,
    pub(super) is_secret: bool,
}

/// The option of an argument.
pub(super) enum Flag {
    Long(String),
    /// Of an argument that is named `-i`.
    Short(char),
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(long) => write!(f, "--{long}"),
            Self::Short(short) => write!(f, "-{short}"),
        }
    }
}

/// The id of the option of an argument, which no other option of `call` has.
pub(super) fn id(name: &str) -> String {
    format!("argument {name}")
}

/// The arguments of a tool, and the fields of objects among them. `reserved` names options that are not the tool's.
pub(super) fn tool_options(definition: &ToolDefinition, reserved: &[String]) -> Vec<ToolOption> {
    let mut options = Vec::new();
    let root = Value::Object(definition.input_schema.clone());
    add_fields(&root, &root, "", true, &mut options);
    for option in &mut options {
        option.flag = flag(&option.name).filter(|flag| match flag {
            Flag::Long(long) => long != "help" && !reserved.contains(long),
            Flag::Short(short) => *short != 'h',
        });
    }
    let mut taken = std::collections::HashSet::new();
    for option in &mut options {
        if let Some(Flag::Long(long)) = &option.flag
            && !taken.insert(long.clone())
        {
            option.flag = None;
        }
    }
    options
}

fn add_fields(
    schema: &Value,
    root: &Value,
    prefix: &str,
    is_required: bool,
    options: &mut Vec<ToolOption>,
) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let required = schema["required"].as_array();
    for (name, given) in properties {
        let name_in_parent = Value::from(name.as_str());
        let value = resolved(given, root);
        let is_required =
            is_required && required.is_some_and(|names| names.contains(&name_in_parent));
        let name = format!("{prefix}{name}");
        let has_options = value["properties"].is_object() && name.split('.').count() < MAX_DEPTH;
        let text = |key: &str| given.get(key).or(value.get(key));
        options.push(ToolOption {
            name: name.clone(),
            flag: None,
            schema: value.clone(),
            description: text("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            default: text("default").cloned(),
            example: example(given, root),
            forms: if has_options { Vec::new() } else { forms(given, root) },
            is_required,
            is_secret: text("writeOnly") == Some(&Value::Bool(true)),
        });
        if has_options {
            add_fields(value, root, &format!("{name}."), is_required, options);
        }
    }
}

fn flag(name: &str) -> Option<Flag> {
    if let Some(short) = name.strip_prefix('-') {
        let mut letters = short.chars();
        let letter = letters.next().filter(char::is_ascii_alphanumeric)?;
        return letters.next().is_none().then_some(Flag::Short(letter));
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(is_plain)).then(|| Flag::Long(name.replace('_', "-")))
}

/// The command line of a tool. `program` ends with the command that calls it, whose own options follow those of the tool.
pub(super) fn command(
    program: &str,
    definition: &ToolDefinition,
    of_command: Vec<Arg>,
    options: &[ToolOption],
) -> Command {
    let name = format!("{program} {}", definition.name);
    let mut usage = name.clone();
    for option in options.iter().filter(|option| option.is_required && !option.name.contains('.')) {
        match &option.flag {
            Some(flag) => {
                let _ = write!(usage, " {}", option.usage(flag));
            }
            None => {
                let _ = write!(usage, " {}=<{}>", option.name, option.value_name());
            }
        }
    }
    usage.push_str(" [OPTIONS]");
    let of_command = of_command.into_iter().filter(|arg| {
        let is_taken = |option: &ToolOption| matches!(&option.flag, Some(Flag::Long(long)) if Some(&**long) == arg.get_long());
        !options.iter().any(is_taken)
    });
    Command::new(definition.name.clone())
        .bin_name(name)
        .no_binary_name(true)
        .about(printable_lines(&definition.description))
        .override_usage(usage)
        .args(options.iter().filter_map(ToolOption::arg))
        .disable_help_flag(true)
        .args(of_command.map(|arg| arg.help_heading("Options")))
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help("Print help")
                .help_heading("Options"),
        )
        .arg(
            Arg::new("pairs")
                .value_name("KEY=VALUE")
                .num_args(0..)
                .action(ArgAction::Append)
                .help_heading("Arguments without options")
                .help(pairs_help(options)),
        )
        .after_help(after_help(program, definition, options))
}

fn pairs_help(options: &[ToolOption]) -> String {
    let pairs = options.iter().filter(|option| option.flag.is_none());
    let names: Vec<String> = pairs.map(|option| format!("`{}`", option.name)).collect();
    let text = "The same arguments as pairs; a lone `-` reads a JSON object from standard input";
    match names.is_empty() {
        true => text.to_owned(),
        false => format!("{text}. Only pairs are {}", names.join(", ")),
    }
}

impl ToolOption {
    fn arg(&self) -> Option<Arg> {
        let arg = Arg::new(id(&self.name))
            .help(self.help())
            .help_heading("Arguments")
            .value_parser(StringValueParser::new());
        let arg = match self.flag.as_ref()? {
            Flag::Long(long) => match *long == self.name {
                true => arg.long(long.clone()),
                false => arg.long(long.clone()).alias(self.name.clone()),
            },
            Flag::Short(short) => arg.short(*short),
        };
        let choices: Vec<String> = self.choices().into_iter().map(str::to_owned).collect();
        let arg = match choices.is_empty() {
            true => arg,
            false => arg.add(candidates(choices)),
        };
        let kind = type_name(&self.schema);
        Some(match kind {
            Some("boolean") => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("true|false")
                .hide_possible_values(true),
            // Without a value it is asked for.
            _ if self.is_secret => arg.value_name("FILE").num_args(0..=1).default_missing_value(""),
            Some("array") => arg.value_name(self.value_name()).action(ArgAction::Append),
            _ => arg
                .value_name(self.value_name())
                .allow_negative_numbers(matches!(kind, Some("integer" | "number"))),
        })
    }

    /// The name and the value, if a pair `key=value` is of this argument.
    pub(super) fn value_of<'a>(&'a self, pair: &'a str) -> Option<(&'a str, &'a str)> {
        let value = pair.strip_prefix(&self.name)?.strip_prefix('=')?;
        Some((&self.name, value))
    }

    /// Whether it is a secret that the tool needs and was not given.
    pub(super) fn is_missing_secret(&self, given: &Given<'_>) -> bool {
        self.is_secret && self.is_required && !given.has(&self.name) && !self.name.contains('.')
    }

    /// The values of an enumeration, or of a list of such values.
    fn choices(&self) -> Vec<&str> {
        match choices(&self.schema) {
            choices if choices.is_empty() => self::choices(&self.schema["items"]),
            choices => choices,
        }
    }

    fn usage(&self, flag: &Flag) -> String {
        match type_name(&self.schema) {
            Some("boolean") => flag.to_string(),
            _ => format!("{flag} <{}>", self.value_name()),
        }
    }

    fn value_name(&self) -> String {
        match value_name(&self.schema) {
            name if name == "VALUE" && !self.forms.is_empty() => "JSON".to_owned(),
            name => name.into_owned(),
        }
    }

    fn help(&self) -> String {
        let choices = self.choices();
        let mut notes = Vec::new();
        if self.is_required {
            notes.push("required".to_owned());
        }
        if !choices.is_empty() {
            notes.push(format!("possible values: {}", choices.join(", ")));
        }
        notes.extend(limits(&self.schema));
        if !self.forms.is_empty() {
            notes.push(format!("as {}", self.forms.join(" or ")));
        }
        if self.schema["type"] == "array" {
            notes.push("repeatable".to_owned());
        }
        if self.is_secret {
            notes.push("secret: asked for, or `@FILE`".to_owned());
        }
        if let Some(default) = self.default.as_ref().filter(|default| says_something(default)) {
            notes.push(format!("default: {}", plain(default)));
        }
        let notes: String = notes.iter().map(|note| format!(" [{note}]")).collect();
        printable_lines(&format!("{}{notes}", self.description.trim())).trim().to_owned()
    }

    /// The option with a value that fits, for an example.
    fn example(&self) -> Option<String> {
        let flag = self.flag.as_ref()?;
        match type_name(&self.schema) {
            Some("boolean") => Some(flag.to_string()),
            _ if self.is_secret => None,
            _ => {
                // Each of several values has an option of its own.
                let value = match &self.example {
                    Value::Array(items) => items.first().unwrap_or(&Value::Null),
                    value => value,
                };
                let value = if *value == "TEXT" { self.value_name() } else { plain(value) };
                Some(format!("{flag} {}", quoted(&value)))
            }
        }
    }
}

/// The name of a value in usage lines.
fn value_name(schema: &Value) -> Cow<'static, str> {
    match type_name(schema) {
        Some("integer") => "INTEGER".into(),
        Some("number") => "NUMBER".into(),
        Some("array") => value_name(&schema["items"]),
        Some("object") => "JSON".into(),
        Some("string") => match schema["format"].as_str() {
            Some("uri") => "URL".into(),
            Some(format) => format.to_uppercase().into(),
            None => "TEXT".into(),
        },
        _ if !choices(schema).is_empty() => "TEXT".into(),
        _ => "VALUE".into(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A value as a shell reads it.
fn quoted(value: &str) -> String {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':' | ',')
    };
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

fn after_help(program: &str, definition: &ToolDefinition, options: &[ToolOption]) -> String {
    let is_top = |option: &&ToolOption| !option.name.contains('.');
    let required: Vec<String> = options
        .iter()
        .filter(is_top)
        .filter(|it| it.is_required)
        .filter_map(ToolOption::example)
        .collect();
    let shown = match required.is_empty() {
        true => options.iter().filter(is_top).find_map(ToolOption::example).into_iter().collect(),
        false => required,
    };
    let line: Vec<String> =
        [format!("{program} {}", definition.name)].into_iter().chain(shown).collect();
    let one = line.join(" ");
    let line = if one.len() > LINE_CHARS { line.join(" \\\n    ") } else { one };
    let mut text = format!("Example: {}", printable_lines(&line));
    let hints = crate::list::hints(definition);
    if !hints.is_empty() {
        let _ = write!(text, "\n\nHints: {hints}");
    }
    text + "\n\nThe value `@FILE` is the text of a file, `-` or `@-` of standard input, `@@text` is `@text`."
}
