//! Results of the tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter, Result};

/// A page after an action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageOutput {
    /// Address of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Tab of the page.
    #[serde(default)]
    pub tab_id: String,
    /// HTTP status, if the page was loaded by HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Pixels of the page above the visible part.
    #[serde(default)]
    pub scroll_top: i64,
    /// Height of the page, in pixels.
    #[serde(default)]
    pub height: i64,
    /// Height of the visible part, in pixels.
    #[serde(default)]
    pub visible_height: i64,
    /// Side effects since the last result: dialogs, new tabs, downloads, refused addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A page with its interactive elements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct StateOutput {
    /// The page.
    pub page: PageOutput,
    /// Elements that can be clicked or typed into.
    pub elements: Vec<PageElement>,
    /// Number of such elements on the page.
    pub total: usize,
    /// Whether `elements` is incomplete.
    pub truncated: bool,
    /// All tabs.
    pub tabs: Vec<TabOutput>,
}

/// An interactive element of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageElement {
    /// Number of the element, for `browser_click` and `browser_type`.
    pub index: usize,
    /// HTML tag: `a`, `button`, `input`.
    pub tag: String,
    /// Label or text, shortened.
    pub text: String,
    /// ARIA role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The type of an `input`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Target of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    /// Content of a field, except for password fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether a box is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
    /// First options of a `select`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether the element is disabled.
    #[serde(default)]
    pub disabled: bool,
}

/// The text of a page, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ContentOutput {
    /// Address of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// The page as Markdown.
    pub content: String,
    /// Position of the first character, counted from 0.
    pub start: usize,
    /// Length of the whole text, in characters.
    pub total: usize,
    /// Whether `content` is incomplete.
    pub truncated: bool,
    /// `start_from_char` of the next part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<usize>,
    /// Missing parts, and side effects since the last result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A tab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TabOutput {
    /// Id of the tab, for `browser_switch_tab` and `browser_close_tab`.
    pub tab_id: String,
    /// Address of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Whether the other tools act on this tab.
    pub active: bool,
}

/// The tabs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TabsOutput {
    /// All tabs, oldest first.
    pub tabs: Vec<TabOutput>,
    /// Side effects since the last result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Display for PageOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let status = self.status.filter(|status| *status >= 400);
        let status = status.map_or(String::new(), |status| format!(" (HTTP status {status})"));
        write!(f, "[tab {}] {} \"{}\"{status}", self.tab_id, self.url, self.title)?;
        let below = self.height - self.scroll_top - self.visible_height;
        if self.scroll_top > 0 || below > 0 {
            write!(f, "\n{} pixels above, {} below", self.scroll_top, below.max(0))?;
        }
        notices(f, &self.notices)
    }
}

impl Display for StateOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{}", self.page)?;
        for tab in self.tabs.iter().filter(|tab| !tab.active) {
            writeln!(f, "other {tab}")?;
        }
        if self.elements.is_empty() {
            return write!(f, "The page has no elements to click or to type into.");
        }
        write!(f, "Elements:")?;
        for element in &self.elements {
            write!(f, "\n{element}")?;
        }
        if self.truncated {
            let (count, total) = (self.elements.len(), self.total);
            write!(
                f,
                "\n[{count} of {total} elements, those near the visible part; scroll for others]"
            )?;
        }
        Ok(())
    }
}

impl Display for PageElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let kind = self.kind.as_ref().map_or(String::new(), |kind| format!(" {kind}"));
        write!(f, "[{}] {}{kind} \"{}\"", self.index, self.tag, self.text)?;
        if let Some(role) = &self.role {
            write!(f, " role={role}")?;
        }
        if let Some(value) = &self.value {
            write!(f, " value=\"{value}\"")?;
        }
        if let Some(checked) = self.checked {
            f.write_str(if checked { " checked" } else { " not checked" })?;
        }
        if !self.options.is_empty() {
            write!(f, " options: {}", self.options.join(" | "))?;
        }
        if let Some(href) = &self.href {
            write!(f, " -> {href}")?;
        }
        if self.disabled { f.write_str(" disabled") } else { Ok(()) }
    }
}

impl Display for ContentOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let content =
            if self.content.trim().is_empty() { "[the page has no text]" } else { &self.content };
        write!(f, "[{} \"{}\"]\n{content}", self.url, self.title)?;
        notices(f, &self.notices)
    }
}

impl Display for TabOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let active = if self.active { " (active)" } else { "" };
        write!(f, "[tab {}]{active} {} \"{}\"", self.tab_id, self.url, self.title)
    }
}

impl Display for TabsOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let tabs: Vec<String> = self.tabs.iter().map(TabOutput::to_string).collect();
        f.write_str(&tabs.join("\n"))?;
        notices(f, &self.notices)
    }
}

fn notices(f: &mut Formatter<'_>, notices: &[String]) -> Result {
    notices.iter().try_for_each(|notice| write!(f, "\n[{notice}]"))
}
