//! What the rest of its file says about a function: rustc passes an attribute only its function.
//!
//! The file is read once. Where it cannot be read, or code comes from another macro, nothing is known, and rustc reports the
//! mistake in its own words.

mod outline;

use outline::{Function, Outline};
use proc_macro2::{Ident, Span, TokenStream};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

pub(crate) use outline::Context;

/// A file, as it was when it was read.
type Version = (PathBuf, u64, Option<SystemTime>);

/// The context of a function, if all functions with this name and these parameters have the same one.
pub(crate) fn context(name: &Ident, parameters: &TokenStream) -> Option<Context> {
    let outline = outline(name.span())?;
    let functions = outline.functions.iter();
    let has_attribute = |it: &&Function| it.action.is_some() && it.is(name, parameters);
    let mut contexts = functions.filter(has_attribute).map(|it| it.context);
    let context = contexts.next()?;
    contexts.all(|other| other == context).then_some(context)
}

/// The earlier function whose struct has the same name, or the type of this name, next to a function.
pub(crate) fn same_struct(name: &Ident, parameters: &TokenStream, action: &Ident) -> Option<Rival> {
    let outline = outline(name.span())?;
    let mut functions =
        outline.functions.iter().enumerate().filter(|(_, it)| it.is(name, parameters));
    let (Some((index, own)), None) = (functions.next(), functions.next()) else { return None };
    let action = action.to_string();
    let is_rival = |it: &&Function| {
        it.scope == own.scope && it.name != own.name && it.action.as_ref() == Some(&action)
    };
    let certain = |is_conditional: bool| !is_conditional && !own.is_conditional;
    if let Some(earlier) = outline.functions[..index].iter().find(is_rival) {
        return certain(earlier.is_conditional).then(|| Rival::Function(earlier.name.clone()));
    }
    let mut types = outline.types.iter();
    let same = types.find(|it| it.scope == own.scope && it.name == action)?;
    certain(same.is_conditional).then_some(Rival::Type)
}

/// What else has the name of a struct.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rival {
    /// A tool, prompt or resource: that of the function of this name.
    Function(String),
    Type,
}

/// Whether each type of this name has a lifetime, and borrows.
pub(crate) fn lifetimes(name: &Ident) -> Option<Lifetimes> {
    let outline = outline(name.span())?;
    let written = name.to_string();
    let mut types = outline.types.iter().filter(|it| it.name == written);
    let lifetimes = types.next()?.lifetimes?;
    types.all(|other| other.lifetimes == Some(lifetimes)).then_some(lifetimes)
}

/// What a type with a lifetime does with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lifetimes {
    /// It has a reference with this lifetime.
    Borrowed,
    /// It passes it on.
    Passed,
}

fn outline(span: Span) -> Option<Arc<Outline>> {
    static READ: LazyLock<Mutex<HashMap<Version, Option<Arc<Outline>>>>> =
        LazyLock::new(Mutex::default);
    if !proc_macro::is_available() {
        return None;
    }
    let path = span.unwrap().local_file()?;
    let metadata = fs::metadata(&path).ok()?;
    let version = (path, metadata.len(), metadata.modified().ok());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read_now =
        |(path, ..): &Version| Some(Arc::new(Outline::from_text(&fs::read_to_string(path).ok()?)?));
    if !read.contains_key(&version) {
        let outline = read_now(&version);
        read.insert(version.clone(), outline);
    }
    read.get(&version)?.clone()
}
