//! Parts of a resource key.

use crate::vocabulary::sealed::Sealed;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A value in a resource key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a resource key",
    label = "has no text that says which resource it is",
    note = "write `access = path::to_function` instead"
)]
pub trait KeyPart {
    /// The strings of the value in keys: none for an absent value, several for a list.
    #[doc(hidden)]
    fn strings(&self, _: Sealed) -> Vec<String>;
}

macro_rules! displayed {
    ($($type:ty),* $(,)?) => {
        $(impl KeyPart for $type {
            fn strings(&self, _: Sealed) -> Vec<String> {
                vec![self.to_string()]
            }
        })*
    };
}

displayed!(str, String, Cow<'_, str>, char, bool);
displayed!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl KeyPart for Path {
    fn strings(&self, _: Sealed) -> Vec<String> {
        vec![self.display().to_string()]
    }
}

impl KeyPart for PathBuf {
    fn strings(&self, _: Sealed) -> Vec<String> {
        self.as_path().strings(Sealed)
    }
}

impl<T: KeyPart> KeyPart for Option<T> {
    fn strings(&self, _: Sealed) -> Vec<String> {
        self.iter().flat_map(|part| part.strings(Sealed)).collect()
    }
}

impl<T: KeyPart> KeyPart for Vec<T> {
    fn strings(&self, _: Sealed) -> Vec<String> {
        self.iter().flat_map(|part| part.strings(Sealed)).collect()
    }
}

impl<T: KeyPart + ?Sized> KeyPart for Box<T> {
    fn strings(&self, _: Sealed) -> Vec<String> {
        T::strings(self, Sealed)
    }
}

impl<T: KeyPart + ?Sized> KeyPart for &T {
    fn strings(&self, _: Sealed) -> Vec<String> {
        T::strings(self, Sealed)
    }
}
