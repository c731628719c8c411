/// Add two integers.
async fn add(a: i64, b: i64) -> i64 {
    a + b
}
///Add two integers.
struct AddAction {
    ///First addend.
    a: i64,
    ///Second addend.
    b: i64,
}
#[doc(hidden)]
type tool_named_add = ();
const _: () = {
    use ::tool_runtime::__private as __tool;
    #[allow(clippy::unnecessary_wraps)]
    fn __default_of_b() -> i64 {
        1
    }
    const __TYPES: (__tool::ArgumentType<i64>, __tool::ArgumentType<i64>) = (
        __tool::argument::<i64>(),
        __tool::defaulted::<i64>(),
    );
    static __KEYS: &[__tool::Key] = &[
        __tool::Key::named("a", 0usize),
        __tool::Key::named("b", 1usize),
    ];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES.0.parameter("a", "First addend."),
        __TYPES
            .1
            .parameter("b", "Second addend.")
            .optional()
            .valued(|__schema| {
                {
                    use __tool::{AdvertiseDefault as _, OmitDefault as _};
                    (&&__tool::DefaultOf(&__default_of_b())).advertise(__schema);
                }
            }),
    ];
    static __NEEDS: &[__tool::Need] = &[];
    fn __output() -> __tool::Output<i64> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<i64>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<i64>(),
                (&&&&&__failure).kind().accept::<i64>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for AddAction {
        const NAME: &'static ::core::primitive::str = "add";
        type Output = i64;
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "Add two integers.", __PARAMETERS)
                .read_only(true)
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
            let mut __slot_a = ::core::option::Option::None;
            let mut __slot_b = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_a)?,
                    1usize => __TYPES.1.read(&mut __reader, &mut __slot_b)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                a: __TYPES.0.end(__slot_a, &mut __reader, 0usize)?,
                b: match __slot_b {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => __default_of_b(),
                },
            };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            add(self.a, self.b)
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for AddAction {
        const TOOL: &'static ::core::primitive::str = <AddAction as __tool::Action>::NAME;
        const IS_RESULT: ::core::primitive::bool = {
            use __tool::NotResult as _;
            <__tool::Returned<<AddAction as __tool::Action>::Output>>::IS_RESULT
        };
        type Value = <AddAction as __tool::Action>::Output;
    }
    #[automatically_derived]
    impl<'__typed> __tool::TypedArguments for AddAction
    where
        i64: __tool::TypedArgument<'__typed>,
        i64: __tool::TypedArgument<'__typed>,
    {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            use __tool::{OmitJson as _, WriteJson as _};
            __tool::json_object(
                __PARAMETERS,
                &[(&&__tool::JsonOf(&self.a)).json(), (&&__tool::JsonOf(&self.b)).json()],
            )
        }
    }
    __tool::inventory::submit! {
        __tool::Registration::from_action:: < AddAction > (::core::file!(),
        ::core::line!())
    }
};
