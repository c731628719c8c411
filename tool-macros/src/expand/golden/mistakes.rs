async fn greet(name: String, language: &str) -> String {
    name
}
///
struct GreetAction {
    ///The name of the person.
    name: String,
}
#[doc(hidden)]
type tool_named_greet = ();
const _: () = {
    use ::tool_runtime::__private as __tool;
    const __TYPES: (__tool::ArgumentType<String>,) = (__tool::argument::<String>(),);
    static __KEYS: &[__tool::Key] = &[__tool::Key::named("name", 0usize)];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES.0.parameter("name", "The name of the person."),
    ];
    static __NEEDS: &[__tool::Need] = &[];
    fn __output() -> __tool::Output<String> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<String>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<String>(),
                (&&&&&__failure).kind().accept::<String>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for GreetAction {
        const NAME: &'static ::core::primitive::str = "greet";
        type Output = String;
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "", __PARAMETERS)
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
            let mut __slot_name = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_name)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                name: __TYPES.0.end(__slot_name, &mut __reader, 0usize)?,
            };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            ::core::future::pending()
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for GreetAction {
        const TOOL: &'static ::core::primitive::str = <GreetAction as __tool::Action>::NAME;
        const IS_RESULT: ::core::primitive::bool = {
            use __tool::NotResult as _;
            <__tool::Returned<<GreetAction as __tool::Action>::Output>>::IS_RESULT
        };
        type Value = <GreetAction as __tool::Action>::Output;
    }
    #[automatically_derived]
    impl<'__typed> __tool::TypedArguments for GreetAction
    where
        String: __tool::TypedArgument<'__typed>,
    {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            use __tool::{OmitJson as _, WriteJson as _};
            __tool::json_object(__PARAMETERS, &[(&&__tool::JsonOf(&self.name)).json()])
        }
    }
    __tool::inventory::submit! {
        __tool::Registration::from_action:: < GreetAction > (::core::file!(),
        ::core::line!())
    }
};
::core::compile_error! {
    "unknown option `readonly` of `#[tool]`; did you mean `read_only`?"
}
::core::compile_error! {
    "an argument must be owned; write `String` instead of `&str`"
}
::core::compile_error! {
    "tool `greet` has no description; write a `///` comment above it that says what it does and when to use it"
}
