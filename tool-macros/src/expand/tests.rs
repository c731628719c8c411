//! Compares whole expansions with the formatted Rust in `golden/`. After an intended change, regenerate the
//! files with `BLESS=1 cargo test -p tool-macros`, and review the diff.

use super::{expand, expand_prompt, expand_resource, expand_toolset};
use proc_macro2::TokenStream;
use quote::quote;
use std::fs;
use std::path::Path;

/// Compares the expansion of `#[tool(options)] item` with its golden file.
fn golden(name: &str, options: TokenStream, item: TokenStream) {
    compare(name, expand(options, item));
}

fn compare(name: &str, expansion: TokenStream) {
    let file = syn::parse2(expansion).expect("an expansion is a list of items");
    let expansion = prettyplease::unparse(&file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/expand/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expansion).expect("a golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(expansion, expected, "{name} differs; see the head of this module");
}

#[test]
fn a_plain_tool() {
    golden(
        "plain.rs",
        quote!(read_only),
        quote! {
            /// Add two integers.
            async fn add(
                /// First addend.
                a: i64,
                /// Second addend.
                #[arg(default = 1)]
                b: i64,
            ) -> i64 {
                a + b
            }
        },
    );
}

#[test]
fn the_length_of_a_default_is_counted_in_characters() {
    let is_rejected = |default: &str| {
        let tool = quote! {
            /// Greet.
            async fn greet(
                /// The name of the person.
                #[arg(length = 2..=2, default = #default)]
                name: String,
            ) {}
        };
        expand(TokenStream::new(), tool).to_string().contains("compile_error")
    };
    assert!(!is_rejected("äö"));
    assert!(is_rejected("ä"));
    assert!(is_rejected("äöü"));
}

#[test]
fn a_tool_with_every_option() {
    golden(
        "every_option.rs",
        quote! {
            name = "web.search", title = "Search", description = "Search the web.", read_only,
            destructive = false, idempotent = true, open_world, tags("web", "text"), scope = "web:read",
            meta = json!({ "cost": 1 }), timeout = "1m 30s", visualize = crate::visualize,
            input_schema = schema(), action = Search, register = false, crate = crate::rt,
            icon("https://example.com/s.png"), progress, task = "required",
            safe_to_retry,
        },
        quote! {
            /// Not the description.
            #[must_use]
            #[allow(clippy::unused_async)]
            pub(crate) async fn r#search(
                /// The text to search for.
                #[arg(rename = "q", alias("query", "text"), length = 1..=200, pattern = "^[a-z]+$")]
                #[arg(format = "hostname", example = "rust")]
                mut r#type: String,
                /// The maximum number of results.
                #[arg(default, range = ..LIMIT, header = "Limit", allow_unknown_fields)]
                limit: Option<u32>,
                #[arg(undocumented, secret, default = "none")] key: String,
                #[arg(flatten)] page: Page,
                _context: &ToolContext,
            ) -> Result<Vec<String>, Error> {
                todo!()
            }
        },
    );
}

#[test]
fn a_plain_function_with_state() {
    golden(
        "state.rs",
        quote!(),
        quote! {
            /// Count the stored items.
            #[deprecated]
            pub fn count(db: &Arc<Db>, _: &ToolContext) -> usize {
                db.len()
            }
        },
    );
}

#[test]
fn a_tool_with_declared_access() {
    golden(
        "access.rs",
        quote!(reads("file:{path}", "clock:"), writes("db:{r#type}/{path}{{}}")),
        quote! {
            /// Copy a file into the database.
            async fn copy(
                /// The file.
                path: String,
                /// The table.
                r#type: u64,
            ) {
            }
        },
    );
}

#[test]
fn an_inline_function_without_anything() {
    golden(
        "inline.rs",
        quote!(inline),
        quote! {
            /// Do nothing.
            fn nothing() {}
        },
    );
}

#[test]
fn a_function_with_mistakes() {
    golden(
        "mistakes.rs",
        quote!(readonly),
        quote! {
            async fn greet(
                /// The name of the person.
                name: String,
                language: &str,
            ) -> String {
                name
            }
        },
    );
}

#[test]
fn a_method() {
    golden(
        "method.rs",
        quote!(),
        quote! {
            /// Tell the time.
            async fn time(&self) -> i64 {
                0
            }
        },
    );
}

#[test]
fn a_struct() {
    golden(
        "struct.rs",
        quote!(),
        quote! {
            /// A clock.
            struct Clock;
        },
    );
}

#[test]
fn a_toolset() {
    let expansion = expand_toolset(
        quote!(read_only, tags("tty"), timeout = "10s"),
        quote! {
            /// Not looked at.
            #[allow(clippy::unused_self)]
            impl Terminal {
                const ROWS: usize = 24;

                /// Run a command.
                #[tool(destructive, tags("shell"))]
                pub async fn run(
                    &self,
                    /// The command line.
                    #[arg(default = Self::SHELL, length = 1..=Self::ROWS)]
                    command: Vec<Self>,
                    context: &ToolContext,
                ) -> Result<Self, Error> {
                    self.start(command, context).await
                }

                /// Show the screen.
                #[cfg(unix)]
                #[tool]
                fn r#match(&self) -> [u8; Self::ROWS] {
                    self.screen()
                }

                fn screen(&self) -> [u8; Self::ROWS] {
                    [0; Self::ROWS]
                }
            }
        },
    );
    compare("toolset.rs", expansion);
}

#[test]
fn a_prompt() {
    let expansion = expand_prompt(
        quote!(title = "Review", icon = "https://example.com/a.png", meta = json!({}), inline),
        quote! {
            /// Review a piece of code.
            pub fn review(
                /// The code.
                #[arg(length = 1..)]
                code: String,
                /// The text to search for.
                #[arg(complete = focuses)]
                focus: Option<String>,
                shelf: &Shelf,
            ) -> String {
                code
            }
        },
    );
    compare("prompt.rs", expansion);
}

#[test]
fn a_resource() {
    let expansion = expand_resource(
        quote! {
            "notes://{id}", name = "A note", mime_type = "text/plain", size = 3, audience("user"),
            priority = 0.5, timeout = "1s"
        },
        quote! {
            /// One note.
            async fn note(
                /// The number.
                id: u32,
            ) -> Option<String> {
                None
            }
        },
    );
    compare("resource.rs", expansion);
}

#[test]
fn the_macro_never_panics() {
    let items = [
        quote!(),
        quote!(fn),
        quote!(
            fn _2d() {}
        ),
        quote!(
            async fn f(
                self: Box<Self>,
                x: impl Fn(&str) -> u8,
                _: [u8; A & B],
                #[arg(range = 1..)] y: _,
            ) -> _ {
            }
        ),
        quote!(
            fn f(#[arg(range = 340282366920938463463374607431768211456..=-0.0)] x: u8) {}
        ),
        quote!(
            fn f(x: u8, x: u8) {}
        ),
        quote!(impl),
        quote!(
            impl X {}
        ),
        quote!(
            unsafe impl<'a, T: 'a> Iterator for [&'a T; 3]
            where
                T: Copy,
            {
                #[tool]
                #[tool = 1]
                const X: u8 = 1;
                #[tool = 1]
                #[tool(name = Self)]
                fn _2d(self: Self::X, #[arg(default = Self)] x: Self) -> Self;
                #[tool]
                fn _2d(&mut self) -> Self {}
            }
        ),
    ];
    let options = [
        quote!(),
        quote!(,),
        quote!(= = , "text", name(), crate = <u8>::x, tags = [], timeout = "99999999999999999999y"),
        quote!(action = Self, name = "\0", visualize = "a b", meta = return),
    ];
    for item in &items {
        for options in &options {
            let _expansion = expand(options.clone(), item.clone());
            let _expansion = expand_toolset(options.clone(), item.clone());
            let _expansion = expand_prompt(options.clone(), item.clone());
            let _expansion = expand_resource(options.clone(), item.clone());
            let _expansion = expand_resource(quote!("a:{x}", #options), item.clone());
        }
    }
}
