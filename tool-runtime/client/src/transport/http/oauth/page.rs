//! Checks the authorization page before the user is sent to it.

use reqwest::Url;
use tool_runtime_mcp::http_client::is_this_machine;

/// Parameters that this program sets, once each: the meaning of duplicates is undefined.
const RESERVED: &[&str] = &[
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "response_type",
    "state",
];

/// The page of an authorization server that `server` has named.
///
/// # Errors
/// The page is not a web address.
pub(super) fn check_page(page: &str, server: &Url) -> Result<Url, &'static str> {
    let page = Url::parse(page).map_err(|_| "the authorization page has no valid URL")?;
    let is_open = page.scheme() == "http"
        && (is_this_machine(&page) || (server.scheme() == "http" && server.host() == page.host()));
    if page.scheme() != "https" && !is_open {
        return Err("the authorization page is not a web address: it is not opened");
    }
    if !page.username().is_empty() || page.password().is_some() {
        return Err("the URL of the authorization page contains a user name: it is not opened");
    }
    let count = |name: &str| page.query_pairs().filter(|(key, _)| key == name).count();
    if RESERVED.iter().any(|name| count(name) != 1) {
        return Err(
            "the URL of the authorization page overrides a reserved parameter: it is not opened",
        );
    }
    Ok(page)
}

/// The `state` parameter of a page.
pub(super) fn state(page: &Url) -> String {
    let state = page.query_pairs().find(|(key, _)| key == "state");
    state.map(|(_, state)| state.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_authorization_urls_are_opened() {
        const RESERVED: &str = "response_type=code&client_id=c&state=s&code_challenge=x&code_challenge_method=S256&redirect_uri=r";
        let (far, near) = ("https://far.example/mcp", "http://near.example/mcp");
        for (server, address, is_fine) in [
            (far, "https://login.example/authorize?", true),
            (far, "https://login.example/authorize?tenant=t&", true),
            (far, "http://127.0.0.1:1/authorize?", true),
            (far, "http://[::1]:1/authorize?", true),
            (far, "http://login.example/authorize?", false),
            (near, "http://near.example:1/authorize?", true),
            (near, "http://login.example/authorize?", false),
            (far, "javascript:alert(1)//?", false),
            (far, "file:///etc/passwd?", false),
            (far, "vscode://x/y?", false),
            (far, "data:text/html,x?", false),
            (far, "https://evil@login.example/authorize?", false),
            (far, "https://:evil@login.example/authorize?", false),
            (far, "https://login.example/authorize?state=fixed&", false),
            (far, "https://login.example/authorize?client%5Fid=z&", false),
            (far, "https://login.example/authorize?redirect_uri=evil&", false),
            (far, "https://login.example/authorize#", false),
        ] {
            let server = Url::parse(server).unwrap();
            let found = check_page(&format!("{address}{RESERVED}"), &server);
            assert_eq!(found.is_ok(), is_fine, "{address}: {found:?}");
        }
        let broken = format!("http://127.0.0.1:1/a b\nc?{RESERVED}");
        let checked = check_page(&broken, &Url::parse(near).unwrap()).unwrap();
        assert!(checked.as_str().starts_with("http://127.0.0.1:1/a%20bc?"), "{checked}");
        assert_eq!(state(&checked), "s");
    }
}
