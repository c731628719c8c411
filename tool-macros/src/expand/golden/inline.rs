/// Do nothing.
fn nothing() {}
///Do nothing.
struct NothingAction {}
#[doc(hidden)]
type tool_named_nothing = ();
const _: () = {
    use ::tool_runtime::__private as __tool;
    const __TYPES: () = ();
    static __KEYS: &[__tool::Key] = &[];
    static __PARAMETERS: &[__tool::Parameter] = &[];
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
    impl __tool::Action for NothingAction {
        const NAME: &'static ::core::primitive::str = "nothing";
        type Output = ();
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "Do nothing.", __PARAMETERS)
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
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {};
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            async move { nothing() }
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for NothingAction {
        const TOOL: &'static ::core::primitive::str = <NothingAction as __tool::Action>::NAME;
        const IS_RESULT: ::core::primitive::bool = {
            use __tool::NotResult as _;
            <__tool::Returned<<NothingAction as __tool::Action>::Output>>::IS_RESULT
        };
        type Value = <NothingAction as __tool::Action>::Output;
    }
    #[automatically_derived]
    impl __tool::TypedArguments for NothingAction {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            __tool::json_object(__PARAMETERS, &[])
        }
    }
    __tool::inventory::submit! {
        __tool::Registration::from_action:: < NothingAction > (::core::file!(),
        ::core::line!())
    }
};
