//! Limits on the size of results.

mod apply;
mod cut;
mod media;
mod notice;
mod resource;
mod spill;
mod structured;
mod text;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

/// Limits on the size of results, so that a tool that reads a log file does not fill the whole context of a model.
///
/// Results within the limits are passed on unchanged. Larger ones are changed:
///
/// | Limit | Unit | Default | Beyond it |
/// |---|---|---|---|
/// | [`text`](Self::text) | characters of all text blocks of a result | 30,000 | the middle is cut |
/// | [`structured`](Self::structured) | bytes of the value's JSON | 100,000 | the result becomes an error |
/// | [`media`](Self::media) | bytes of one image or audio block | 5 MiB | replaced by a notice |
/// | [`resource`](Self::resource) | characters, or bytes, of one embedded resource | 100,000 | the middle is cut, or replaced by a notice |
///
/// Each limit is a number, or `None` for no limit. A notice states the removed amount, and names the file with the
/// whole content if [`spill_to`](Self::spill_to) is set. The notice counts as text. A text that is not longer
/// than its notice is never cut. Annotations and metadata of the remaining blocks stay, and an error stays an error.
/// Metadata, links and the number of blocks are not limited.
///
/// ```
/// use tool_runtime::govern::OutputLimits;
///
/// let limits = OutputLimits::default().text(8_000).media(None).spill_to("/var/tmp/results");
/// assert_ne!(limits, OutputLimits::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    text: Option<usize>,
    structured: Option<usize>,
    media: Option<usize>,
    resource: Option<usize>,
    directory: Option<PathBuf>,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self {
            text: Some(30_000),
            structured: Some(100_000),
            media: Some(5 << 20),
            resource: Some(100_000),
            directory: None,
        }
    }
}

impl OutputLimits {
    /// No limits: every result is passed on unchanged.
    ///
    /// ```
    /// # use tool_runtime::govern::OutputLimits;
    /// assert_ne!(OutputLimits::none(), OutputLimits::default());
    /// ```
    #[must_use]
    pub fn none() -> Self {
        Self { text: None, structured: None, media: None, resource: None, directory: None }
    }

    /// Limits the characters of all text blocks of a result together, with one for each line
    /// break between two blocks. Default: 30,000.
    ///
    /// Beyond it the beginning and the end stay, half of the limit each, and are cut at the end of a line if one is
    /// near. Blocks without remaining text are removed.
    #[must_use]
    pub fn text(mut self, characters: impl Into<Option<usize>>) -> Self {
        self.text = characters.into();
        self
    }

    /// Limits the bytes of the structured value's JSON. Default: 100,000. Clients that read
    /// only text are sent the value a second time, as text, which is not counted.
    ///
    /// A part of a value would not satisfy the tool's output schema, so the result becomes an error that asks for less.
    #[must_use]
    pub fn structured(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.structured = bytes.into();
        self
    }

    /// The most characters of text that keep a result with a structured value of this text within the limits: of the text,
    /// and of the value, in which a character may take two bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn room(&self) -> Option<usize> {
        let structured = self.structured.map(|bytes| bytes / 2);
        self.text.into_iter().chain(structured).min()
    }

    /// Limits the decoded bytes of each image and audio block. Default: 5 MiB.
    ///
    /// Beyond it a notice describes the removed block.
    #[must_use]
    pub fn media(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.media = bytes.into();
        self
    }

    /// Limits each embedded resource: the characters of its text, or its decoded bytes.
    /// Default: 100,000.
    ///
    /// Beyond it text is cut as with [`text`](Self::text); bytes are replaced by a notice that names the URI.
    #[must_use]
    pub fn resource(mut self, length: impl Into<Option<usize>>) -> Self {
        self.resource = length.into();
        self
    }

    /// Stores removed content whole in files of this directory, and names them in the notices by the path given here.
    /// Default: nothing is stored.
    ///
    /// The directory is created when it is first needed. On Unix only its owner can read it and its files. Equal contents
    /// are stored once, and nothing is ever deleted. A file that cannot be written is logged, and the notice names none.
    #[must_use]
    pub fn spill_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}
