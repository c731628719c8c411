/// Review a piece of code.
pub fn review(code: String, focus: Option<String>, shelf: &Shelf) -> String {
    code
}
///Review a piece of code.
pub struct ReviewPrompt {
    ///The code.
    pub code: String,
    ///The text to search for.
    pub focus: Option<String>,
}
#[doc(hidden)]
type prompt_named_review = ();
const _: () = {
    use ::tool_runtime::__private as __tool;
    fn __length_of_code() -> __tool::Length<String> {
        __tool::length::<
            String,
        >(::core::ops::Bound::Included(1), ::core::ops::Bound::Unbounded)
    }
    const __TYPES: (
        __tool::ArgumentType<String>,
        __tool::ArgumentType<Option<String>>,
    ) = (__tool::argument::<String>(), __tool::argument::<Option<String>>());
    static __KEYS: &[__tool::Key] = &[
        __tool::Key::named("code", 0usize),
        __tool::Key::named("focus", 1usize),
    ];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES
            .0
            .parameter("code", "The code.")
            .refined(|__schema| {
                __tool::Constraint::describe(&__length_of_code(), __schema);
            }),
        __TYPES.1.parameter("focus", "The text to search for."),
    ];
    static __NEEDS: &[__tool::Need] = &[<Shelf as __tool::Injectable>::NEED];
    #[automatically_derived]
    impl __tool::PromptAction for ReviewPrompt {
        const NAME: &'static ::core::primitive::str = "review";
        type Output = String;
        fn definition() -> __tool::PromptDefinition {
            __tool::PromptDraft::new(Self::NAME, "Review a piece of code.", __PARAMETERS)
                .title("Review")
                .icon("https://example.com/a.png")
                .meta(json!({}))
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS)
        }
        fn decode(
            __arguments: __tool::Arguments<'_>,
        ) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            let mut __slot_code = ::core::option::Option::None;
            let mut __slot_focus = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_code)?,
                    1usize => __TYPES.1.read(&mut __reader, &mut __slot_focus)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                code: __TYPES.0.end(__slot_code, &mut __reader, 0usize)?,
                focus: __TYPES.1.end(__slot_focus, &mut __reader, 1usize)?,
            };
            __tool::PromptAction::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn check(&self) -> ::core::result::Result<(), __tool::DecodeError> {
            __tool::ensure(&__length_of_code(), &self.code, 0usize)?;
            ::core::result::Result::Ok(())
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            async move {
                review(
                    self.code,
                    self.focus,
                    <Shelf as __tool::Injectable>::borrow_from(__context),
                )
            }
        }
        fn completers() -> &'static [__tool::ArgumentCompleter] {
            const {
                &[
                    __tool::ArgumentCompleter::new(
                        "focus",
                        |__prefix, __context| __tool::Complete::complete(
                            &focuses,
                            __prefix,
                            __context,
                        ),
                    ),
                ]
            }
        }
    }
    __tool::inventory::submit! {
        __tool::PromptRegistration::from_action:: < ReviewPrompt > (::core::file!(),
        ::core::line!())
    }
};
