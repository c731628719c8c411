use super::*;
use ArgumentMatch::{No, Yes};

fn path(pattern: &str, text: &str) -> ArgumentMatch {
    PathMatcher::new().compile(pattern).unwrap().matches(text)
}

fn url(pattern: &str, text: &str) -> ArgumentMatch {
    UrlMatcher::new().compile(pattern).unwrap().matches(text)
}

fn is_undecidable(matched: &ArgumentMatch) -> bool {
    matches!(matched, ArgumentMatch::Undecidable(_))
}

#[test]
fn globs_are_compared_with_normal_paths() {
    for (pattern, text) in [
        ("src/**", "src/lib.rs"),
        ("src/**", "src/a/b/c"),
        ("src/**", "./src//a/./b"),
        ("./src/*", "src/lib.rs"),
        ("src", "src/"),
        ("**", "a"),
        ("**", "a/b"),
        ("**", "."),
        ("**/*.rs", "a.rs"),
        ("**/*.rs", "a/b.rs"),
        ("/etc/*.conf", "/etc//a.conf"),
        ("//etc/*", "/etc/a"),
        ("~/notes/*", "~/notes/a"),
        ("{a,b}/[cd]?", "b/dx"),
        ("src/", "src"),
        ("/**", "/etc/passwd"),
    ] {
        assert_eq!(path(pattern, text), Yes, "{pattern} {text}");
    }
    for (pattern, text) in [
        ("src/*", "src/a/b"),
        ("src/**", "srcs/a"),
        ("src/**", "a/src/b"),
        ("src?key", "src/key"),
        ("src[!a]key", "src/key"),
        ("*", "a/b"),
        ("/etc/*", "/etc/a/b"),
    ] {
        assert_eq!(path(pattern, text), No, "{pattern} {text}");
    }
}

#[test]
fn uncertain_paths_are_undecidable() {
    for (pattern, text) in [
        ("src/**", "src/../key"),
        ("src/**", ".."),
        ("src/**", "src/.."),
        ("src/**", "../src/a"),
        ("src/**", "/work/src/a"),
        ("**", "/etc/passwd"),
        ("**", "~/.ssh/id"),
        ("**", "~root/x"),
        ("/**", "etc/passwd"),
        ("~/**", "/root/x"),
        ("src/**", ""),
        ("src/**", "src/a\0b"),
        ("src/**", "src/a\nb"),
        ("src/**", "SRC/key"),
        (".env", ".ENV"),
        ("café/*", "cafe\u{301}/key"),
        ("my keys/*", "my\u{a0}keys/key"),
        ("it’s.txt", "it's.txt"),
    ] {
        assert!(is_undecidable(&path(pattern, text)), "{pattern} {text}");
    }
    #[cfg(not(windows))]
    assert!(is_undecidable(&path("src/**", "src\\..\\key")));
}

#[test]
fn a_directory_makes_relative_and_absolute_comparable() {
    let paths = PathMatcher::new().in_directory("/work/a");
    let matches = |pattern: &str, text| paths.compile(pattern).unwrap().matches(text);
    assert_eq!(matches("src/*", "/work/a/src/x"), Yes);
    assert_eq!(matches("src/*", "/work/ab/src/x"), No);
    assert_eq!(matches("src/*", "/etc/passwd"), No);
    assert_eq!(matches("**", "/work/a"), Yes);
    assert_eq!(matches("/work/*/src/*", "src/x"), Yes);
    assert_eq!(matches("/work/*", "."), Yes);
    assert!(is_undecidable(&matches("src/*", "/work/a/../b/src/x")));
    assert!(is_undecidable(&matches("src/*", "~/x")));
    let error = PathMatcher::new().in_directory("work").compile("src").err().unwrap();
    assert!(error.to_string().ends_with("the directory `work` of the matcher is not absolute"));
}

#[test]
fn hosts_schemes_and_ports_are_compared() {
    for (pattern, text) in [
        ("domain:example.com", "https://example.com"),
        ("domain:example.com", "http://example.com/a?b#c"),
        ("domain:example.com", "HTTPS://EXAMPLE.COM./a"),
        ("domain:EXAMPLE.com", "https://example.com:443/"),
        ("example.com", "http://example.com:80/"),
        ("example.com", "http://example.com:/"),
        ("*.example.com", "https://a.b.example.com/"),
        ("https://example.com/*", "https://example.com/a"),
        ("localhost:*", "http://localhost:8080/"),
        ("localhost:8080", "http://localhost:8080/"),
        ("https://*", "https://anything.example"),
        ("ftp://example.com", "ftp://example.com/"),
        ("[::1]:*", "http://[0:0::1]:9/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("127.0.0.1", "http://[::ffff:7f00:1]/"),
        ("169.254.169.254", "http://[::FFFF:169.254.169.254]/"),
        ("xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de/"),
    ] {
        assert_eq!(url(pattern, text), Yes, "{pattern} {text}");
    }
    for (pattern, text) in [
        ("domain:example.com", "https://evil.com/example.com"),
        ("domain:example.com", "https://example.com.evil.com/"),
        ("domain:example.com", "https://notexample.com/"),
        ("domain:example.com", "https://a.example.com/"),
        ("*.example.com", "https://example.com/"),
        ("localhost:8080", "http://localhost/"),
        ("https://example.com", "http://example.com/"),
        ("127.0.0.1", "http://127.0.0.2/"),
    ] {
        assert_eq!(url(pattern, text), No, "{pattern} {text}");
    }
}

#[test]
fn uncertain_urls_are_undecidable() {
    for text in [
        "https://example.com@evil.com/",
        "https://evil.com@example.com/",
        "https://user:password@example.com/",
        "https://@example.com/",
        "https://evil.com\\@example.com/",
        "https:\\\\example.com",
        "https:example.com",
        "https:///example.com",
        "//example.com/",
        "example.com",
        "",
        " https://example.com/",
        "https://exam\tple.com/",
        "https://example.com\n.evil.com/",
        "https://ex%61mple.com/",
        "https://exämple.com/",
        "https://ｅxample.com/",
        "https://example。com/",
        "https://example..com/",
        "https://example.com:99999/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://0177.0.0.1/",
        "http://[::1",
        "http://[v1.a]/",
        "data:text/plain,a",
        "https://example.com:8443/",
        "http://example.com:443/",
        "ftp://example.com/",
        "file://example.com/etc/passwd",
    ] {
        assert!(is_undecidable(&url("domain:example.com", text)), "{text}");
    }
}

#[test]
fn invalid_patterns_are_explained() {
    let path = |pattern: &str| PathMatcher::new().compile(pattern).err().unwrap().to_string();
    assert_eq!(
        path("src/../*"),
        "`src/../*` is not a valid path pattern: it contains `..`; write the path without it"
    );
    for pattern in ["", "!src", "src/{a", "src/[a", "~root/*", "a\nb"] {
        assert!(path(pattern).contains("is not a valid path pattern: "), "{pattern}");
    }
    let url = |pattern: &str| UrlMatcher::new().compile(pattern).err().unwrap().to_string();
    assert_eq!(
        url("domain:münchen.de"),
        "`domain:münchen.de` is not a valid url pattern: the host `münchen.de` is not in ASCII; write its form `xn--..`"
    );
    for pattern in [
        "",
        "domain:",
        "domain:https://a.b",
        "https://a@b.c",
        "https://a.b/docs/*",
        "a.*",
        "a*b.c",
        "a.b:x",
        "1+://a.b",
        "http://127.1",
        "[::1",
    ] {
        assert!(url(pattern).contains("is not a valid url pattern: "), "{pattern}");
    }
}

#[test]
fn only_a_single_string_is_the_text_of_an_argument() {
    let argument = MatchedArgument {
        aliases: vec!["cmd".into()],
        ..MatchedArgument::new("command", MatchAs::Shell)
    };
    let text = |json| text_of(json, &argument);
    assert_eq!(text(r#"{"a": [1], "command": "git"}"#).unwrap(), "git");
    assert_eq!(text(r#"{"cmd": "git"}"#).unwrap(), "git");
    assert_eq!(text(r#"{"comm\u0061nd": "g\u0069t"}"#).unwrap(), "git");
    for json in ["", "{}", r#"{"command": null}"#, r#"{"x": {"command": "git"}}"#] {
        assert_eq!(text(json).unwrap_err(), "is absent; write it", "{json}");
    }
    for json in [r#"{"command": ["git"]}"#, r#"{"command": 1}"#] {
        assert_eq!(text(json).unwrap_err(), "is not a string", "{json}");
    }
    for json in [
        r#"{"command": "git", "command": "id"}"#,
        r#"{"command": "git", "cmd": "id"}"#,
        r#"{"command": "git", "comm\u0061nd": null}"#,
    ] {
        assert_eq!(text(json).unwrap_err(), "is given more than once", "{json}");
    }
    for json in ["[]", "\"git\"", r#"{"command": "git"} x"#, r#"{"command": "git""#] {
        assert!(text(json).unwrap_err().starts_with("is unreadable"), "{json}");
    }
}
