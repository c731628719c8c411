//! Reads conditions about the files that a call touches.

use super::object::{At, Mistakes};
use super::predicate::match_result;
use super::problem::Fault;
use super::rule::did_you_mean;
use crate::Touches;
use crate::touches::{Purpose, TouchedFiles};

/// `{path: "*.key", for: write}`, or only the paths.
pub(super) fn touches(at: &At<'_>, mistakes: &mut Mistakes) -> Option<TouchedFiles> {
    if !at.value.is_object() {
        let paths = at.parsed(mistakes, |path| Ok(path.to_owned()));
        return mistakes.valid(&at.path, Touches::new(paths).compile());
    }
    let mut object = at.object(mistakes)?;
    let path = object.take("path");
    if path.is_none() {
        mistakes.add(&at.path, "the key `path` is missing", "write it, as in `path: \"*.key\"`");
    }
    let paths = path.as_ref().map(|at| at.parsed(mistakes, |path| Ok(path.to_owned())));
    let mut files = Touches::new(paths.unwrap_or_default());
    if let Some(at) = object.take("for") {
        files = at.parsed(mistakes, purpose).into_iter().fold(files, Touches::for_purpose);
    }
    if let Some(at) = object.take("if_undeclared") {
        files = match_result(&at, mistakes).into_iter().fold(files, Touches::if_undeclared);
    }
    object.finish(mistakes);
    mistakes.valid(&path?.path, files.compile())
}

fn purpose(text: &str) -> Result<Purpose, Fault> {
    match text {
        "read" => Ok(Purpose::Read),
        "write" => Ok(Purpose::Write),
        _ => {
            let help = did_you_mean(text, &["read", "write"]);
            Err(Fault::new(format!("unknown purpose `{text}`"), help))
        }
    }
}
