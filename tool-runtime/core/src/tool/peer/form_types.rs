//! Types that can be requested from the user in a form.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

/// A type that [`ToolContext::ask`] can request from the user.
///
/// MCP's forms are flat. A form is a struct whose fields are [`FormField`]s, or a single value: a
/// string, a number, a boolean, an enum of unit variants or a list of such an enum. Use the
/// derive macro of the same name for structs and enums.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema, Form)]
/// struct Guest {
///     /// Full name.
///     name: String,
///     /// Extra guests.
///     others: Option<u8>,
/// }
///
/// # async fn body(context: &ToolContext) -> Result<(), tool_runtime::peer::PeerError> {
/// let guest = context.ask::<Guest>("guest", "Who is coming?").await?.accepted();
/// let sure = context.ask::<bool>("sure", "Is that final?").await?.accepted();
/// # drop((guest, sure));
/// # Ok(())
/// # }
/// ```
///
/// Other types do not compile:
///
/// ```compile_fail,E0277
/// # use tool_runtime::prelude::*;
/// # async fn body(context: &ToolContext) -> Result<(), tool_runtime::peer::PeerError> {
/// context.ask::<Vec<Vec<String>>>("table", "Which rows?").await?;
/// # Ok(())
/// # }
/// ```
///
/// The trait has no methods. The fields come from the type's `JsonSchema`, and `ask` checks them again
/// when it runs.
///
/// [`ToolContext::ask`]: crate::tool::ToolContext::ask
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be requested in a form",
    label = "not a form",
    note = "forms are flat: ask for a string, number, boolean, enum of unit variants or list of such an enum, or for a struct of these",
    note = "for a struct or an enum, write `#[derive(serde::Deserialize, schemars::JsonSchema, tool_runtime::Form)]`"
)]
pub trait Form: JsonSchema + DeserializeOwned {}

/// A type that one field of a [`Form`](trait@Form) may have.
///
/// - `bool`, `char`, `String`, `Box<str>`, `Arc<str>`, `Cow<'static, str>`, `PathBuf`, IP and socket addresses
/// - integers, `NonZero` integers and floats
/// - enums of unit variants with `#[derive(Form)]`
/// - lists of such an enum: `Vec`, `VecDeque`, `[E; N]`, `BTreeSet`, `HashSet`
/// - `Option`, `Box` and `Arc` of these; a field that is an `Option` may be left empty
///
/// Implement it by hand for a newtype whose schema is that of one of these:
///
/// ```
/// use tool_runtime::peer::FormField;
/// use tool_runtime::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Isbn(String);
///
/// impl FormField for Isbn {}
///
/// #[derive(serde::Deserialize, schemars::JsonSchema, Form)]
/// struct Book {
///     isbn: Isbn,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a string, number, boolean, enum or list of enums",
    note = "forms are flat: a field is a string, number, boolean, enum of unit variants or list of such an enum, or an `Option` of these",
    note = "derive `tool_runtime::Form` for an enum; for another type that is read from one of these, such as a `Uuid`, write `#[schemars(with = \"String\")]` on the field"
)]
pub trait FormField {}

/// An enum of unit variants, which a [`FormField`] may be a list of. Implemented by
/// `#[derive(Form)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a list in a form",
    label = "not an enum of unit variants",
    note = "derive `tool_runtime::Form` for an enum of unit variants"
)]
pub trait FormChoice {}

/// Lets the compiler check the type of a field.
pub const fn form_field<T: FormField>() {}

// `do_not_recommend` keeps the messages to the notes above: rustc would list eight arbitrary types.
macro_rules! values {
    ($($ty:ty),* $(,)?) => { $(
        #[diagnostic::do_not_recommend]
        impl Form for $ty {}
        #[diagnostic::do_not_recommend]
        impl FormField for $ty {}
    )* };
}

macro_rules! integers {
    ($($ty:ty),*) => { values!($($ty, NonZero<$ty>),*); };
}

macro_rules! lists {
    ($([$($parameter:tt)*] $ty:ty),* $(,)?) => { $(
        #[diagnostic::do_not_recommend]
        impl<E: FormChoice, $($parameter)*> Form for $ty where $ty: JsonSchema + DeserializeOwned {}
        #[diagnostic::do_not_recommend]
        impl<E: FormChoice, $($parameter)*> FormField for $ty {}
    )* };
}

macro_rules! fields {
    ($([$($parameter:tt)*] $ty:ty),* $(,)?) => { $(
        #[diagnostic::do_not_recommend]
        impl<$($parameter)*> FormField for $ty {}
    )* };
}

values!(bool, char, String, PathBuf, f32, f64);
values!(IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6);
integers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
lists!([] Vec<E>, [] VecDeque<E>, [] BTreeSet<E>, [S] HashSet<E, S>, [const N: usize] [E; N]);
fields!([T: FormField] Option<T>, [T: FormField] Box<T>, [T: FormField] Arc<T>);
fields!([] Box<str>, [] Arc<str>, [] Cow<'static, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::peer::form::FormSchema;
    use serde::Deserialize;

    #[derive(JsonSchema, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
    enum Extra {
        Wine,
        Cake,
    }

    impl Form for Extra {}
    impl FormField for Extra {}
    impl FormChoice for Extra {}

    fn is_shown_as_a_field<T: FormField + JsonSchema>() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Fields<T> {
            field: T,
        }
        FormSchema::for_form::<Fields<T>>("").request_schema().expect("a form");
    }

    fn is_shown<T: Form + FormField>() {
        FormSchema::for_form::<T>("value").request_schema().expect("a form");
        is_shown_as_a_field::<T>();
        is_shown_as_a_field::<Option<T>>();
        is_shown_as_a_field::<Box<T>>();
    }

    #[test]
    fn form_fields_have_valid_schemas() {
        macro_rules! shown {
            ($($ty:ty),* $(,)?) => { $(is_shown::<$ty>();)* };
        }
        shown!(bool, char, String, PathBuf, f32, f64, IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6);
        shown!(i8, i128, u8, u64, u128, usize, NonZero<u8>, NonZero<i64>, NonZero<u128>);
        shown!(Extra, Vec<Extra>, VecDeque<Extra>, BTreeSet<Extra>, HashSet<Extra>, [Extra; 2]);
        is_shown_as_a_field::<Box<str>>();
        is_shown_as_a_field::<Arc<str>>();
        is_shown_as_a_field::<Cow<'static, str>>();
        is_shown_as_a_field::<Arc<Option<Extra>>>();
    }
}
