/// One note.
async fn note(id: u32) -> Option<String> {
    None
}
///One note.
struct NoteResource {
    ///The number.
    id: u32,
}
const _: () = {
    use ::tool_runtime::__private as __tool;
    const __TYPES: (__tool::ArgumentType<u32>,) = (__tool::argument::<u32>(),);
    static __KEYS: &[__tool::Key] = &[__tool::Key::named("id", 0usize)];
    static __PARAMETERS: &[__tool::Parameter] = &[
        __TYPES.0.parameter("id", "The number."),
    ];
    static __NEEDS: &[__tool::Need] = &[];
    #[automatically_derived]
    impl __tool::ResourceAction for NoteResource {
        const URI: &'static ::core::primitive::str = "notes://{id}";
        type Output = Option<String>;
        fn definition() -> __tool::ResourceDefinition {
            __tool::ResourceDraft::new(Self::URI, "A note", "One note.", __PARAMETERS)
                .mime_type("text/plain")
                .size(3)
                .audience(&["user"])
                .priority(0.5)
                .finish()
        }
        fn settings() -> __tool::Settings {
            __tool::Settings::new(__PARAMETERS, __NEEDS).timeout(1u64, 0u32)
        }
        fn decode(
            __arguments: __tool::Arguments<'_>,
        ) -> ::core::result::Result<Self, __tool::DecodeError> {
            let mut __reader = __arguments.reader(__KEYS)?;
            let mut __slot_id = ::core::option::Option::None;
            while let ::core::option::Option::Some(__index) = __reader.next_key()? {
                match __index {
                    0usize => __TYPES.0.read(&mut __reader, &mut __slot_id)?,
                    _ => __reader.skip()?,
                }
            }
            let __action = Self {
                id: __TYPES.0.end(__slot_id, &mut __reader, 0usize)?,
            };
            __tool::ResourceAction::check(&__action)?;
            ::core::result::Result::Ok(__action)
        }
        fn run(
            self,
            __context: &__tool::ToolContext,
        ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send {
            note(self.id)
        }
    }
    __tool::inventory::submit! {
        __tool::ResourceRegistration::from_action:: < NoteResource > (::core::file!(),
        ::core::line!())
    }
};
