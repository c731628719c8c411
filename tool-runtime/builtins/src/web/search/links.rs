//! Links of search engines to themselves, and through themselves.

use super::SearchQuery;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use tool_runtime::ToolError;

/// Characters of an address, as of one that `WebFetch` takes.
const MAX_URL: usize = 8192;
/// Redirects within redirects that are unwrapped.
const MAX_WRAPPED: usize = 3;

/// The page that a link of an engine leads to. `None` for one of the engine itself, and for what is no web page.
pub(super) fn target(link: &str, own_hosts: &[String]) -> Option<Url> {
    let link = link.trim();
    let whole = if link.starts_with("//") { format!("https:{link}") } else { link.to_owned() };
    let mut url = Url::parse(&whole).ok()?;
    for _ in 0..MAX_WRAPPED {
        match unwrap(&url) {
            Some(target) => url = target,
            None => break,
        }
    }
    let host = url.host_str()?;
    let is_own = own_hosts.iter().any(|own| is_within(host, own)) || is_wrapper(&url);
    let is_short = url.as_str().len() <= MAX_URL;
    (matches!(url.scheme(), "http" | "https") && !is_own && is_short).then_some(url)
}

/// The target of a redirect of DuckDuckGo, Google, Bing or Yahoo.
fn unwrap(url: &Url) -> Option<Url> {
    let host = url.host_str()?;
    let query = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    let target = if is_within(host, "duckduckgo.com") && url.path().starts_with("/l/") {
        query("uddg")?
    } else if is_google(host) && url.path() == "/url" {
        query("q").or_else(|| query("url"))?
    } else if is_within(host, "bing.com") && url.path().starts_with("/ck/") {
        // `a1` and the target in Base64.
        let encoded = query("u")?;
        String::from_utf8(URL_SAFE_NO_PAD.decode(encoded.get(2..)?).ok()?).ok()?
    } else if is_within(host, "search.yahoo.com") {
        let encoded = url.path().split("/RU=").nth(1)?.split('/').next()?;
        Url::parse(&format!("http://x/?u={encoded}")).ok()?.query_pairs().next()?.1.into_owned()
    } else {
        return None;
    };
    Url::parse(&target).ok()
}

/// Whether a link is a page of an engine that could not be unwrapped, such as an advertisement.
fn is_wrapper(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    (is_within(host, "duckduckgo.com") && matches!(url.path(), "/l/" | "/y.js" | "/"))
        || (is_google(host) && matches!(url.path(), "/url" | "/search" | "/aclk"))
        || (is_within(host, "bing.com") && matches!(url.path(), "/ck/a" | "/search" | "/aclick"))
        || is_within(host, "search.yahoo.com")
}

/// Whether a host is `google.com`, `www.google.de` or `google.co.uk`.
fn is_google(host: &str) -> bool {
    let host = host.strip_prefix("www.").unwrap_or(host);
    let ending = host.strip_prefix("google.").unwrap_or_default();
    let ending = ending.strip_prefix("co.").or(ending.strip_prefix("com.")).unwrap_or(ending);
    ending == "com" || ending.len() == 2
}

/// Whether a host is a domain or one of its subdomains.
fn is_within(host: &str, domain: &str) -> bool {
    let front = host.strip_suffix(domain);
    front.is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// Whether a page is of the domains of a query.
pub(super) fn is_wanted(url: &Url, query: &SearchQuery) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_of = |domains: &[String]| domains.iter().any(|domain| is_within(host, domain));
    (query.allowed_domains.is_empty() || is_of(&query.allowed_domains))
        && !is_of(&query.blocked_domains)
}

/// The domain that a model means: `docs.rs` for `https://docs.rs/` and `*.docs.rs`.
///
/// # Errors
/// The text is not a domain.
pub(super) fn domain(text: &str) -> Result<String, ToolError> {
    let name = text.trim().trim_start_matches("*.").trim_start_matches('.');
    let whole = if name.contains("://") { name.to_owned() } else { format!("http://{name}") };
    let url = Url::parse(&whole).ok();
    let host = url.as_ref().and_then(Url::host_str).filter(|host| !host.contains(['%', ' ']));
    let invalid =
        || ToolError::user(format!("`{text}` is not a domain; write it as `example.com`"));
    host.map(str::to_owned).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_unwrapped_and_own_links_dropped() {
        let own = ["search.example".to_owned()];
        let long = format!("https://a.example/{}", "x".repeat(MAX_URL));
        for (link, expected) in [
            ("https://a.example/x?y=1#z", Some("https://a.example/x?y=1#z")),
            (
                "//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F&rut=1",
                Some("https://a.example/"),
            ),
            ("https://www.google.com/url?q=https://a.example/&sa=U", Some("https://a.example/")),
            ("https://www.google.co.uk/url?url=https://a.example/", Some("https://a.example/")),
            (
                "https://www.bing.com/ck/a?p=1&u=a1aHR0cHM6Ly9hLmV4YW1wbGUv",
                Some("https://a.example/"),
            ),
            (
                "https://r.search.yahoo.com/_ylt=x/RU=https%3a%2f%2fa.example%2f/RK=2",
                Some("https://a.example/"),
            ),
            (
                "https://www.google.com/url?q=https%3A%2F%2Fduckduckgo.com%2Fl%2F%3Fuddg%3Dhttps%253A%252F%252Fa.example%252F",
                Some("https://a.example/"),
            ),
            ("https://duckduckgo.com/y.js?ad_domain=x", None),
            ("https://www.google.com/search?q=more", None),
            ("https://www.bing.com/ck/a?u=broken", None),
            ("https://search.example/preferences", None),
            ("https://cache.search.example/x", None),
            ("https://research.example/x", Some("https://research.example/x")),
            ("https://maps.google.com/url", Some("https://maps.google.com/url")),
            ("javascript:alert(1)", None),
            (&long, None),
            ("/relative", None),
            ("", None),
        ] {
            let found = target(link, &own).map(String::from);
            assert_eq!(found.as_deref(), expected, "{link}");
        }
    }

    #[test]
    fn domains_are_read_in_the_forms_that_models_write() {
        for text in
            ["docs.rs", "https://docs.rs/serde", "*.docs.rs", ".docs.rs", " DOCS.rs ", "docs.rs/"]
        {
            assert_eq!(domain(text).unwrap(), "docs.rs", "{text}");
        }
        assert!(domain("").is_err() && domain("two words").is_err());
    }
}
