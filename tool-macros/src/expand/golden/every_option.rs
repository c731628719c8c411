/// Not the description.
#[must_use]
#[allow(clippy::unused_async)]
pub(crate) async fn r#search(
    mut r#type: String,
    limit: Option<u32>,
    key: String,
    page: Page,
    _context: &ToolContext,
) -> Result<Vec<String>, Error> {
    todo!()
}
///Not the description.
#[allow(clippy::unused_async)]
pub(crate) struct Search {
    ///The text to search for.
    pub(crate) r#type: String,
    ///The maximum number of results.
    pub(crate) limit: Option<u32>,
    ///
    pub(crate) key: String,
    ///
    pub(crate) page: Page,
}
#[doc(hidden)]
type tool_spelled_web_dot_search = ();
#[allow(clippy::unused_async)]
const _: () = {
    use crate::rt::__private as __tool;
    #[allow(clippy::unnecessary_wraps)]
    fn __example_of_type() -> String {
        __tool::text_default("rust")
    }
    fn __length_of_type() -> __tool::Length<String> {
        __tool::length::<
            String,
        >(::core::ops::Bound::Included(1), ::core::ops::Bound::Included(200))
    }
    fn __pattern_of_type() -> &'static __tool::Pattern<String> {
        static __PATTERN: __tool::Pattern<String> = __tool::pattern::<
            String,
        >("^[a-z]+$");
        &__PATTERN
    }
    fn __format_of_type() -> __tool::Format<String> {
        __tool::format::<String>("hostname")
    }
    #[allow(clippy::unnecessary_wraps)]
    fn __default_of_limit() -> Option<u32> {
        __tool::type_default()
    }
    fn __range_of_limit() -> __tool::Range<Option<u32>> {
        __tool::range::<
            Option<u32>,
        >()(::core::ops::Bound::Unbounded, ::core::ops::Bound::Excluded(LIMIT))
    }
    #[allow(clippy::unnecessary_wraps)]
    fn __default_of_key() -> String {
        __tool::text_default("none")
    }
    const __TYPES: (
        __tool::ArgumentType<String>,
        __tool::ArgumentType<Option<u32>>,
        __tool::ArgumentType<String>,
        __tool::ArgumentType<Page>,
    ) = (
        __tool::argument::<String>(),
        __tool::defaulted::<Option<u32>>().allow_unknown_fields(),
        __tool::defaulted::<String>(),
        __tool::flattened::<Page>(),
    );
    static __KEYS: &[__tool::Key] = &[
        __tool::Key::named("q", 0usize),
        __tool::Key::named("query", 0usize),
        __tool::Key::named("text", 0usize),
        __tool::Key::named("limit", 1usize),
        __tool::Key::named("key", 2usize),
        __tool::Key::rest(3usize),
    ];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES
            .0
            .parameter("q", "The text to search for.")
            .aliases(&["query", "text"])
            .refined(|__schema| {
                __tool::Constraint::describe(&__length_of_type(), __schema);
                __tool::Constraint::describe(&__pattern_of_type(), __schema);
                __tool::Constraint::describe(&__format_of_type(), __schema);
            })
            .valued(|__schema| {
                __tool::advertise_example::<String>(__schema, &__example_of_type());
            }),
        __TYPES
            .1
            .parameter("limit", "The maximum number of results.")
            .header("Limit")
            .optional()
            .refined(|__schema| {
                __tool::Constraint::describe(&__range_of_limit(), __schema);
            })
            .valued(|__schema| {
                {
                    use __tool::{AdvertiseDefault as _, OmitDefault as _};
                    (&&__tool::DefaultOf(&__default_of_limit())).advertise(__schema);
                }
            }),
        __TYPES
            .2
            .parameter("key", "")
            .secret()
            .optional()
            .valued(|__schema| {
                {
                    use __tool::{AdvertiseDefault as _, OmitDefault as _};
                    (&&__tool::DefaultOf(&__default_of_key())).advertise(__schema);
                }
            }),
        __TYPES.3.parameter("page", "").flattened(),
    ];
    static __NEEDS: &[__tool::Need] = &[<ToolContext as __tool::Injectable>::NEED];
    fn __output() -> __tool::Output<Result<Vec<String>, Error>> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<Result<Vec<String>, Error>>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<Vec<String>>(),
                (&&&&&__failure).kind().accept::<Result<Vec<String>, Error>>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for Search {
        const NAME: &'static ::core::primitive::str = "web.search";
        type Output = Result<Vec<String>, Error>;
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "Search the web.", __PARAMETERS)
                .title("Search")
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(true)
                .safe_to_retry()
                .tags(&["web", "text"])
                .scopes(&["web:read"])
                .meta(json!({ "cost" : 1 }))
                .input_schema(schema())
                .icons(&["https://example.com/s.png"])
                .reports_progress()
                .task(__tool::TaskSupport::Required)
                .output_schema(__output().schema())
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS)
                .timeout(90u64, 0u32)
                .given_schema()
        }
        fn decode(
            __arguments: __tool::Arguments<'_>,
        ) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            let mut __slot_type = ::core::option::Option::None;
            let mut __slot_limit = ::core::option::Option::None;
            let mut __slot_key = ::core::option::Option::None;
            let mut __slot_page = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_type)?,
                    1usize => __TYPES.1.read(&mut __reader, &mut __slot_limit)?,
                    2usize => __TYPES.2.read(&mut __reader, &mut __slot_key)?,
                    3usize => __TYPES.3.read(&mut __reader, &mut __slot_page)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                r#type: __TYPES.0.end(__slot_type, &mut __reader, 0usize)?,
                limit: match __slot_limit {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => __default_of_limit(),
                },
                key: match __slot_key {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => __default_of_key(),
                },
                page: __TYPES.3.end(__slot_page, &mut __reader, 3usize)?,
            };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn check(&self) -> ::core::result::Result<(), __tool::DecodeError> {
            __tool::ensure(&__length_of_type(), &self.r#type, 0usize)?;
            __tool::ensure(&__pattern_of_type(), &self.r#type, 0usize)?;
            __tool::ensure(&__format_of_type(), &self.r#type, 0usize)?;
            __tool::ensure(&__range_of_limit(), &self.limit, 1usize)?;
            ::core::result::Result::Ok(())
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            r#search(
                self.r#type,
                self.limit,
                self.key,
                self.page,
                <ToolContext as __tool::Injectable>::borrow_from(__context),
            )
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
        fn visualize(&self) -> ::core::option::Option<__tool::String> {
            let __visualize = crate::visualize;
            ::core::option::Option::Some(__tool::to_display(&__visualize(self)))
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for Search {
        const TOOL: &'static ::core::primitive::str = <Search as __tool::Action>::NAME;
        type Value = <<Search as __tool::Action>::Output as __tool::ResultType>::Value;
    }
    #[automatically_derived]
    impl<'__typed> __tool::TypedArguments for Search
    where
        String: __tool::TypedArgument<'__typed>,
        Option<u32>: __tool::TypedArgument<'__typed>,
        String: __tool::TypedArgument<'__typed>,
        Page: __tool::TypedArgument<'__typed>,
    {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            use __tool::{OmitJson as _, WriteJson as _};
            __tool::json_object(
                __PARAMETERS,
                &[
                    (&&__tool::JsonOf(&self.r#type)).json(),
                    (&&__tool::JsonOf(&self.limit)).json(),
                    (&&__tool::JsonOf(&self.key)).json(),
                    (&&__tool::JsonOf(&self.page)).json(),
                ],
            )
        }
    }
};
