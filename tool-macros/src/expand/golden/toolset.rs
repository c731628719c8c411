/// Not looked at.
#[allow(clippy::unused_self)]
impl Terminal {
    const ROWS: usize = 24;
    /// Run a command.
    pub async fn run(
        &self,
        command: Vec<Self>,
        context: &ToolContext,
    ) -> Result<Self, Error> {
        self.start(command, context).await
    }
    /// Show the screen.
    #[cfg(unix)]
    fn r#match(&self) -> [u8; Self::ROWS] {
        self.screen()
    }
    fn screen(&self) -> [u8; Self::ROWS] {
        [0; Self::ROWS]
    }
}
///Run a command.
#[allow(clippy::unused_self)]
pub struct TerminalRunAction {
    ///The command line.
    pub command: Vec<Terminal>,
}
#[doc(hidden)]
type tool_spelled_terminal_dot_run = ();
#[allow(clippy::unused_self)]
const _: () = {
    use ::tool_runtime::__private as __tool;
    #[allow(clippy::unnecessary_wraps)]
    fn __default_of_command() -> Vec<Terminal> {
        Terminal::SHELL
    }
    fn __length_of_command() -> __tool::Length<Vec<Terminal>> {
        __tool::length::<
            Vec<Terminal>,
        >(::core::ops::Bound::Included(1), ::core::ops::Bound::Included(Terminal::ROWS))
    }
    const __TYPES: (__tool::ArgumentType<Vec<Terminal>>,) = (
        __tool::defaulted::<Vec<Terminal>>(),
    );
    static __KEYS: &[__tool::Key] = &[__tool::Key::named("command", 0usize)];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES
            .0
            .parameter("command", "The command line.")
            .optional()
            .refined(|__schema| {
                __tool::Constraint::describe(&__length_of_command(), __schema);
            })
            .valued(|__schema| {
                {
                    use __tool::{AdvertiseDefault as _, OmitDefault as _};
                    (&&__tool::DefaultOf(&__default_of_command())).advertise(__schema);
                }
            }),
    ];
    static __NEEDS: &[__tool::Need] = &[<ToolContext as __tool::Injectable>::NEED];
    fn __output() -> __tool::Output<Result<Terminal, Error>> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<Result<Terminal, Error>>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<Terminal>(),
                (&&&&&__failure).kind().accept::<Result<Terminal, Error>>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for TerminalRunAction {
        const NAME: &'static ::core::primitive::str = "terminal.run";
        type Output = Result<Terminal, Error>;
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "Run a command.", __PARAMETERS)
                .read_only(false)
                .destructive(true)
                .tags(&["tty", "shell"])
                .output_schema(__output().schema())
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS)
                .timeout(10u64, 0u32)
                .method_of::<Terminal>()
        }
        fn decode(
            __arguments: __tool::Arguments<'_>,
        ) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            let mut __slot_command = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_command)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                command: match __slot_command {
                    ::core::option::Option::Some(__value) => __value,
                    ::core::option::Option::None => __default_of_command(),
                },
            };
            __tool::Action::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn check(&self) -> ::core::result::Result<(), __tool::DecodeError> {
            __tool::ensure(&__length_of_command(), &self.command, 0usize)?;
            ::core::result::Result::Ok(())
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            <Terminal>::run(
                __tool::receiver::<Terminal>(__context),
                self.command,
                <ToolContext as __tool::Injectable>::borrow_from(__context),
            )
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for TerminalRunAction {
        const TOOL: &'static ::core::primitive::str = <TerminalRunAction as __tool::Action>::NAME;
        type Value = <<TerminalRunAction as __tool::Action>::Output as __tool::ResultType>::Value;
    }
    #[automatically_derived]
    impl<'__typed> __tool::TypedArguments for TerminalRunAction
    where
        Vec<Terminal>: __tool::TypedArgument<'__typed>,
    {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            use __tool::{OmitJson as _, WriteJson as _};
            __tool::json_object(
                __PARAMETERS,
                &[(&&__tool::JsonOf(&self.command)).json()],
            )
        }
    }
};
#[cfg(unix)]
///Show the screen.
#[allow(clippy::unused_self)]
struct TerminalMatchAction {}
#[cfg(unix)]
#[doc(hidden)]
type tool_spelled_terminal_dot_match = ();
#[cfg(unix)]
#[allow(clippy::unused_self)]
const _: () = {
    use ::tool_runtime::__private as __tool;
    const __TYPES: () = ();
    static __KEYS: &[__tool::Key] = &[];
    static __PARAMETERS: &[__tool::Parameter] = &[];
    static __NEEDS: &[__tool::Need] = &[];
    fn __output() -> __tool::Output<[u8; Terminal::ROWS]> {
        use __tool::{
            ErrorKind as _, FlattenedKind as _, NestedResultKind as _, MessageKind as _,
            UnsupportedErrorKind as _, DirectKind as _, PlainKind as _,
            ReportedKind as _, StructuredKind as _, UnsupportedKind as _,
        };
        let __returned = __tool::Returned::<[u8; Terminal::ROWS]>::NEW;
        let (__success, __failure) = (__returned.success(), __returned.failure());
        __returned
            .with(
                (&&&&&__success).kind().accept::<[u8; Terminal::ROWS]>(),
                (&&&&&__failure).kind().accept::<[u8; Terminal::ROWS]>(),
            )
    }
    #[automatically_derived]
    impl __tool::Action for TerminalMatchAction {
        const NAME: &'static ::core::primitive::str = "terminal.match";
        type Output = [u8; Terminal::ROWS];
        fn definition() -> __tool::ToolDefinition {
            __tool::Draft::new(Self::NAME, "Show the screen.", __PARAMETERS)
                .read_only(true)
                .tags(&["tty"])
                .output_schema(__output().schema())
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS)
                .timeout(10u64, 0u32)
                .method_of::<Terminal>()
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
            __tool::blocking::<
                [u8; Terminal::ROWS],
                _,
            >(
                __context,
                move |__context| <Terminal>::r#match(
                    __tool::receiver::<Terminal>(__context),
                ),
            )
        }
        fn observe(
            __value: Self::Output,
        ) -> ::core::result::Result<__tool::Observation, __tool::ToolError> {
            __output().observe(__value)
        }
    }
    #[automatically_derived]
    impl __tool::CallAction for TerminalMatchAction {
        const TOOL: &'static ::core::primitive::str = <TerminalMatchAction as __tool::Action>::NAME;
        const IS_RESULT: ::core::primitive::bool = {
            use __tool::NotResult as _;
            <__tool::Returned<
                <TerminalMatchAction as __tool::Action>::Output,
            >>::IS_RESULT
        };
        type Value = <TerminalMatchAction as __tool::Action>::Output;
    }
    #[automatically_derived]
    impl __tool::TypedArguments for TerminalMatchAction {
        fn to_json(&self) -> ::core::option::Option<__tool::String> {
            __tool::json_object(__PARAMETERS, &[])
        }
    }
};
#[allow(clippy::unused_self)]
const _: () = {
    use ::tool_runtime::__private as __tool;
    #[automatically_derived]
    impl __tool::ToolsetMethods for Terminal {
        const NAME: &'static ::core::primitive::str = "terminal";
        fn methods() -> &'static [__tool::Method] {
            const METHODS: &[__tool::Method] = &[
                __tool::Method::from_action::<TerminalRunAction>(),
                #[cfg(unix)]
                __tool::Method::from_action::<TerminalMatchAction>(),
            ];
            METHODS
        }
    }
    __tool::inventory::submit! {
        __tool::ToolsetKind::from_type:: < Terminal > (::core::file!(), ::core::line!())
    }
};
