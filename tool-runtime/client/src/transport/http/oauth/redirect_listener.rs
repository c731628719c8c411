//! Receives the redirect of a browser on this machine.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tool_runtime_core::seam::is_loopback;

/// Limits on the time and the size of a browser's request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEAD: usize = 16 << 10;
const MAX_VISITS: usize = 64;

/// The redirect address of the browser.
pub(super) struct RedirectListener {
    redirect: Url,
    /// `None` for an address of another machine.
    listener: Option<TcpListener>,
}

impl RedirectListener {
    /// Listens at an address, or at a free port of this machine.
    ///
    /// # Errors
    /// The address is invalid, or another program listens there.
    pub(super) async fn bind(redirect: Option<&str>) -> io::Result<Self> {
        let configured = redirect.map(Url::parse).transpose().map_err(io::Error::other)?;
        let Some(redirect) = configured else {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let redirect = format!("http://{}/callback", listener.local_addr()?);
            let redirect = Url::parse(&redirect).map_err(io::Error::other)?;
            return Ok(Self { redirect, listener: Some(listener) });
        };
        let listener = match own_address(&redirect) {
            Some(address) => Some(TcpListener::bind(address).await?),
            None => None,
        };
        Ok(Self { redirect, listener })
    }

    pub(super) fn redirect_uri(&self) -> &str {
        self.redirect.as_str()
    }

    /// Waits for the redirect with this `state`, and returns its URL. Other requests get 404.
    pub(super) async fn redirected(&self, state: &str) -> io::Result<Url> {
        let Some(listener) = &self.listener else { return std::future::pending().await };
        // Browsers open connections without sending a request.
        let mut visits = FuturesUnordered::new();
        loop {
            tokio::select! {
                visit = listener.accept(), if visits.len() < MAX_VISITS => {
                    visits.push(self.visited(visit?.0, state));
                }
                Some(redirected) = visits.next() => {
                    if let Some(url) = redirected {
                        return Ok(url);
                    }
                }
            }
        }
    }

    /// The redirect of a visitor, if it is the expected one.
    async fn visited(&self, mut stream: TcpStream, state: &str) -> Option<Url> {
        let target = timeout(REQUEST_TIMEOUT, target(&mut stream)).await.ok().and_then(Result::ok);
        let url = target.and_then(|target| self.redirect.join(&target).ok());
        let redirected = url.filter(|url| self.is_expected(url, state));
        let (status, text) = match &redirected {
            Some(_) => ("200 OK", "You may close this page now."),
            None => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        drop(timeout(REQUEST_TIMEOUT, stream.write_all(answer.as_bytes())).await);
        redirected
    }

    fn is_expected(&self, url: &Url, state: &str) -> bool {
        let has_state = url.query_pairs().any(|(key, value)| key == "state" && value == state);
        url.origin() == self.redirect.origin() && url.path() == self.redirect.path() && has_state
    }
}

fn own_address(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_matches(['[', ']']);
    let is_own = url.scheme() == "http" && is_loopback(host);
    let ip = host.parse().unwrap_or(IpAddr::from([127, 0, 0, 1]));
    Some(SocketAddr::new(ip, url.port_or_known_default()?).to_string()).filter(|_| is_own)
}

/// The target of a request.
async fn target(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        match stream.read(&mut part).await? {
            0 => break,
            read => head.extend_from_slice(&part[..read]),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => Ok(target.to_owned()),
        _ => Err(io::Error::other("no request of a browser")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_limit::in_time;

    async fn ask(listener: &RedirectListener, target: &str) -> String {
        let address = listener.listener.as_ref().unwrap().local_addr().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: here\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        in_time("an answer", stream.read_to_string(&mut answer)).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn only_a_redirect_with_the_right_state_is_accepted() {
        let listener = RedirectListener::bind(None).await.unwrap();
        let address = listener.listener.as_ref().unwrap().local_addr().unwrap();
        let asking = async {
            let _silent = TcpStream::connect(address).await.unwrap();
            for wrong in
                ["/callback?code=1&state=forged", "/favicon.ico", "//evil/callback?state=s"]
            {
                assert!(ask(&listener, wrong).await.starts_with("HTTP/1.1 404"), "{wrong}");
            }
            ask(&listener, "/callback?code=1&state=s").await
        };
        let (redirected, answer) =
            tokio::join!(in_time("the browser", listener.redirected("s")), asking);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(redirected.unwrap().query(), Some("code=1&state=s"));
    }

    #[test]
    fn only_loopback_addresses_are_bound() {
        for (url, address) in [
            ("http://localhost:8080/callback", Some("127.0.0.1:8080")),
            ("http://[::1]:9/", Some("[::1]:9")),
            ("https://localhost:8080/callback", None),
            ("https://example.com/callback", None),
            ("http://10.0.0.1:80/", None),
        ] {
            assert_eq!(own_address(&Url::parse(url).unwrap()).as_deref(), address, "{url}");
        }
    }
}
