//! Arguments of types of well-known crates, which implement `Deserialize` and `JsonSchema` by a feature each.

use super::{ArgumentType, ArgumentValue, argument, defaulted, flattened};

/// A trait for each crate: its error names the features that are missing.
macro_rules! of_crates {
    ($($of_crate:ident $label:literal)*) => {$(
        #[diagnostic::on_unimplemented(
            message = "`{Self}` cannot be an argument",
            label = $label,
            note = "a type of your own derives `serde::Deserialize` and `schemars::JsonSchema`"
        )]
        /// Types of this crate as arguments.
        pub trait $of_crate: Sized {
            /// An argument that is required.
            const REQUIRED: ArgumentType<Self>;
            /// An argument with a default.
            const DEFAULTED: ArgumentType<Self>;
            /// An argument whose fields are arguments themselves.
            const FLATTENED: ArgumentType<Self>;
        }

        #[diagnostic::do_not_recommend]
        impl<T: ArgumentValue> $of_crate for T {
            const REQUIRED: ArgumentType<Self> = argument();
            const DEFAULTED: ArgumentType<Self> = defaulted();
            const FLATTENED: ArgumentType<Self> = flattened();
        }
    )*};
}

of_crates! {
    OfBytes "enable the feature `serde` of `bytes`, and `bytes1` of `schemars`"
    OfChrono "enable the feature `serde` of `chrono`, and `chrono04` of `schemars`"
    OfIndexmap "enable the feature `serde` of `indexmap`, and `indexmap2` of `schemars`"
    OfJiff "enable the feature `serde` of `jiff`, and `jiff02` of `schemars`"
    OfRustDecimal "enable the feature `serde` of `rust_decimal`, and `rust_decimal1` of `schemars`"
    OfSemver "enable the feature `serde` of `semver`, and `semver1` of `schemars`"
    OfUrl "enable the feature `serde` of `url`, and `url2` of `schemars`"
    OfUuid "enable the feature `serde` of `uuid`, and `uuid1` of `schemars`"
}
