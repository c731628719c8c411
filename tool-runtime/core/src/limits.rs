//! Limits on the size of results, and the treatment of larger ones.

mod apply;
mod base64;
mod cut;
mod media;
mod notice;
mod resource;
mod spill;
mod structured;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use apply::Limits;

use std::path::PathBuf;

/// Limits on the size of a result that reaches a model: a tool that reads a log file must not
/// fill the whole context.
///
/// Results within the limits are passed on as they are. Others:
///
/// | What | Unit | Default | Over it |
/// |---|---|---|---|
/// | [`text`](Self::text) | characters of all text blocks of a result | 30,000 | the middle is cut |
/// | [`structured`](Self::structured) | bytes of the value's JSON | 100,000 | the result becomes an error |
/// | [`media`](Self::media) | bytes of one picture or sound | 5 MiB | a text stands for it |
/// | [`resource`](Self::resource) | characters, or bytes, of one embedded resource | 100,000 | the middle is cut, or a text stands for it |
///
/// Each limit is a number, or `None` for no limit. Where something was cut, a notice says how
/// much, and where the whole is if there is a directory for it, see
/// [`spill_to`](Self::spill_to). The notice counts as text; of a text that may be no longer
/// than its notice, only the notice is left, and texts as short as that are never cut.
/// Annotations and metadata of blocks that stay are kept, and an error stays an error.
/// Metadata, links and the number of blocks are not limited.
///
/// ```
/// use tool_runtime::OutputLimits;
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
    /// No limits: every result is passed on as it is.
    ///
    /// ```
    /// # use tool_runtime::OutputLimits;
    /// assert_ne!(OutputLimits::none(), OutputLimits::default());
    /// ```
    #[must_use]
    pub fn none() -> Self {
        Self { text: None, structured: None, media: None, resource: None, directory: None }
    }

    /// Limits the characters of all text blocks of a result together, with one for each line
    /// break between two blocks. Default: 30,000.
    ///
    /// Over it the beginning and the end are kept, half of it each, and cut where a line ends
    /// if one does nearby. Blocks of which nothing is left are left out.
    #[must_use]
    pub fn text(mut self, characters: impl Into<Option<usize>>) -> Self {
        self.text = characters.into();
        self
    }

    /// Limits the bytes of the structured value's JSON. Default: 100,000. Clients that read
    /// only text are sent the value a second time, as text, which is not counted.
    ///
    /// No part of a value satisfies the tool's output schema, so the result becomes an error
    /// that asks for less.
    #[must_use]
    pub fn structured(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.structured = bytes.into();
        self
    }

    /// Limits the bytes of each picture and each sound, decoded. Default: 5 MiB.
    ///
    /// Over it a text says what was left out.
    #[must_use]
    pub fn media(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.media = bytes.into();
        self
    }

    /// Limits each embedded resource: the characters of its text, or its decoded bytes.
    /// Default: 100,000.
    ///
    /// Over it a text is cut as [`text`](Self::text) says; for bytes a text stands that names
    /// the URI.
    #[must_use]
    pub fn resource(mut self, length: impl Into<Option<usize>>) -> Self {
        self.resource = length.into();
        self
    }

    /// Keeps the whole of what had to be cut in files of this directory, and names them in the
    /// notices, as the path is written here. Default: nothing is kept.
    ///
    /// The directory is made when it is first needed; on Unix nobody else can read what is
    /// made. The same content is kept once, and nothing is ever deleted. What cannot be written
    /// is logged, and then the notice names no file.
    #[must_use]
    pub fn spill_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}
