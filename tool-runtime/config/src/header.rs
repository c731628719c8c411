//! Validates request headers.

use super::findings::ValueProblem;

/// Headers that the transport sets itself.
pub const OWN: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// # Errors
/// The name is not a valid header name, or the transport sets the header itself.
pub(super) fn check_name(name: &str) -> Result<(), ValueProblem> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(ValueProblem::new(
            "no header has such a name",
            "write letters, digits and hyphens, as `X-Api-Key`",
        ));
    }
    let name = name.to_ascii_lowercase();
    if OWN.contains(&name.as_str()) {
        return Err(ValueProblem::new("this header is set by the transport itself", "remove it"));
    }
    Ok(())
}

/// # Errors
/// The value is not a valid header value. The error does not show it.
pub(super) fn check_value(value: &str) -> Result<(), ValueProblem> {
    if value.contains(['\r', '\n']) {
        return Err(ValueProblem::new(
            "the value contains a line break",
            "remove it; a file that a token is read from often ends with one",
        ));
    }
    if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return Err(ValueProblem::new(
            "the value contains a character that is not allowed in a header",
            "write visible ASCII characters",
        ));
    }
    Ok(())
}
