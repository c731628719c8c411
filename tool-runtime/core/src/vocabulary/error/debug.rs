//! The `Debug` form of errors: what `main` prints of an error that it returns.

use super::causes::chain;
use std::error::Error;
use std::fmt;

/// Implements `Debug` for error types as their message and its causes, one a line. A cause that the message quotes is
/// not repeated.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_message {
    ($($error:ty),+ $(,)?) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::__private::write_error(self, ::std::error::Error::source(self), f)
            }
        }
    )+};
}

/// Writes a message and its causes.
///
/// # Errors
/// Those of the formatter.
pub fn write_error(
    message: &dyn fmt::Display,
    source: Option<&(dyn Error + 'static)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut said = message.to_string();
    f.write_str(&said)?;
    for cause in chain(source) {
        let text = cause.to_string();
        if !said.contains(&text) {
            write!(f, "\ncaused by: {text}")?;
        }
        said = text;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::INTERNAL;
    use crate::vocabulary::error::{CallError, ErrorClass, ToolError};
    use std::io;

    #[derive(thiserror::Error)]
    #[error("no notes: {source}")]
    struct NoNotes {
        source: io::Error,
    }

    #[derive(thiserror::Error)]
    #[error("no start")]
    struct NoStart(#[source] NoNotes);

    debug_as_message!(NoNotes, NoStart);

    #[test]
    fn a_returned_error_is_printed_as_its_message_with_its_causes() {
        let error = NoStart(NoNotes { source: io::Error::other("disk") });
        assert_eq!(format!("{error:?}"), "no start\ncaused by: no notes: disk");
    }

    #[test]
    fn the_detail_for_operators_follows_the_text_for_models() {
        let error = || ToolError::internal(io::Error::other("disk"));
        let expected = format!("{INTERNAL}\ncaused by: disk");
        assert_eq!(format!("{:?}", error()), expected);
        assert_eq!(format!("{:?}", CallError::from(error())), expected);
        let error = CallError::new(ErrorClass::Tool, "no").with_detail("disk");
        assert_eq!(format!("{error:?}"), "no\ncaused by: disk");
    }
}
