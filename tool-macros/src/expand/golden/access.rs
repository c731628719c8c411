/// Copy a file into the database.
async fn copy(path: String, r#type: u64) {}
///Copy a file into the database.
struct CopyAction {
    ///The file.
    path: String,
    ///The table.
    r#type: u64,
}
#[doc(hidden)]
type tool_named_copy = ();
const _: () = {
    use ::tool_runtime::__private as __tool;
    const __TYPES: (__tool::ArgumentType<String>, __tool::ArgumentType<u64>) = (
        __tool::argument::<String>(),
        __tool::argument::<u64>(),
    );
    static __KEYS: &[__tool::Key] = &[
        __tool::Key::named("path", 0usize),
        __tool::Key::named("type", 1usize),
    ];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES.0.parameter("path", "The file."),
        __TYPES.1.parameter("type", "The table."),
    ];
    static __NEEDS: &[__tool::Need] = &[];
    fn __output() -> __tool::Output<()> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<()>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<()>(),
                (&&&&&__failure).kind().accept::<()>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for CopyAction {
        const NAME: &'static ::core::primitive::str = "copy";
        type Output = ();
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(
                    Self::NAME,
                    "Copy a file into the database.",
                    __PARAMETERS,
                )
                .output_schema(__output().schema())
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS)
        }
        fn decode(
            __arguments: __tool::Arguments<'_>,
        ) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            let mut __slot_path = ::core::option::Option::None;
            let mut __slot_type = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_path)?,
                    1usize => __TYPES.1.read(&mut __reader, &mut __slot_type)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                path: __TYPES.0.end(__slot_path, &mut __reader, 0usize)?,
                r#type: __TYPES.1.end(__slot_type, &mut __reader, 1usize)?,
            };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            copy(self.path, self.r#type)
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
        const ACCESS: ::core::option::Option<fn(&Self) -> __tool::Access> = ::core::option::Option::Some(|
            __action|
        {
            let _ = __action;
            __tool::Access::none()
                .reads_of(&["file:", ""], &[&__action.path])
                .reads_of(&["clock:"], &[])
                .writes_of(&["db:", "/", "{}"], &[&__action.r#type, &__action.path])
        });
    }
    #[automatically_derived]
    impl __tool::CallAction for CopyAction {
        const TOOL: &'static ::core::primitive::str = <CopyAction as __tool::Action>::NAME;
        const IS_RESULT: ::core::primitive::bool = {
            use __tool::NotResult as _;
            <__tool::Returned<<CopyAction as __tool::Action>::Output>>::IS_RESULT
        };
        type Value = <CopyAction as __tool::Action>::Output;
    }
    #[automatically_derived]
    impl<'__typed> __tool::TypedArguments for CopyAction
    where
        String: __tool::TypedArgument<'__typed>,
        u64: __tool::TypedArgument<'__typed>,
    {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            use __tool::{OmitJson as _, WriteJson as _};
            __tool::json_object(
                __PARAMETERS,
                &[
                    (&&__tool::JsonOf(&self.path)).json(),
                    (&&__tool::JsonOf(&self.r#type)).json(),
                ],
            )
        }
    }
    __tool::inventory::submit! {
        __tool::Registration::from_action:: < CopyAction > (::core::file!(),
        ::core::line!())
    }
};
