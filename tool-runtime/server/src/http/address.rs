//! Parses addresses to listen on.

/// The host if only a port is given: only this machine can connect.
const LOOPBACK: &str = "127.0.0.1";

/// Host and port of `8080`, `:8080`, `localhost:8080`, `0.0.0.0:8080`, `[::1]:8080`.
///
/// # Errors
/// The text is not an address; the error says what to write.
pub(super) fn parse(text: &str) -> Result<(&str, u16), String> {
    let (host, port) = match text.rsplit_once(':') {
        Some(("", port)) => (LOOPBACK, port),
        Some((host, port)) => (without_brackets(host).ok_or_else(|| invalid(text))?, port),
        None => (LOOPBACK, text),
    };
    let port = port.parse().map_err(|_| invalid(text))?;
    Ok((host, port))
}

/// The host without the brackets that an IPv6 address needs.
fn without_brackets(host: &str) -> Option<&str> {
    match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']'),
        None => (!host.contains(':')).then_some(host),
    }
}

fn invalid(text: &str) -> String {
    format!(
        "`{text}` is not an address to listen on; write `8080`, `127.0.0.1:8080` or `[::1]:8080`"
    )
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_port_alone_is_a_loopback_address() {
        assert_eq!(parse("8080"), Ok(("127.0.0.1", 8080)));
        assert_eq!(parse(":0"), Ok(("127.0.0.1", 0)));
    }

    #[test]
    fn an_address_without_a_host_is_rejected() {
        assert_eq!(parse("0.0.0.0:80"), Ok(("0.0.0.0", 80)));
        assert_eq!(parse("localhost:80"), Ok(("localhost", 80)));
        assert_eq!(parse("[::1]:80"), Ok(("::1", 80)));
    }

    #[test]
    fn the_error_has_a_remedy() {
        for text in
            ["", "localhost", "127.0.0.1", "::1", "::1:80", "[::1]", "h:65536", "h:-1", "h:"]
        {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains("`127.0.0.1:8080`"), "{problem}");
        }
    }
}
