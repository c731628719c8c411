//! Static bearer tokens.

use super::auth::{AuthRejection, Authenticate};
use axum::http::request::Parts;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// A fixed set of bearer tokens, each with its principal.
///
/// Tokens are read from lines, one token each: `NAME:TOKEN`, whose principal has the id `NAME`, or
/// only `TOKEN`, whose principal is `#1`, `#2` and so on by its position among the tokens. Empty
/// lines and those that begin with `#` are skipped. A line may end with the scopes of the principal, as in
/// `NAME:TOKEN scopes=notes:read,notes:write`. One name may have several tokens, so that they
/// can be rotated.
///
/// Only digests are kept, and compared in constant time; they are never printed.
///
/// ```
/// use tool_runtime::http::BearerTokens;
///
/// let tokens = BearerTokens::parse("ada:8fQm2x\n# the build server\n1vXk9p")?;
/// assert_eq!(format!("{tokens:?}"), r##"BearerTokens(["ada", "#2"])"##);
/// assert!(BearerTokens::parse("").is_err());
/// # Ok::<(), tool_runtime::http::TokensError>(())
/// ```
#[derive(Clone)]
pub struct BearerTokens(Vec<Known>);

#[derive(Clone)]
struct Known {
    digest: [u8; 32],
    principal: Principal,
}

/// An error of [`BearerTokens`].
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The environment variable is not set, or not UTF-8.
    #[error("the environment variable `{0}` is empty; set it to a token")]
    Variable(String),
    /// The file cannot be read.
    #[error("cannot read the tokens in `{}`: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The list has no tokens.
    #[error("there is no token; write one on a line, as `TOKEN` or `NAME:TOKEN`")]
    Empty,
    /// The variable and the file hold the same token.
    #[error("a token is both in the variable and in the file; keep one of them")]
    Repeated,
    /// Invalid lines: the number of each, from 1, and its problem.
    #[error("{}", lines(.0))]
    Lines(Vec<(usize, &'static str)>),
}

tool_runtime_core::debug_as_message!(TokensError);

fn lines(problems: &[(usize, &'static str)]) -> String {
    let lines: Vec<String> =
        problems.iter().map(|(line, problem)| format!("line {line} {problem}")).collect();
    lines.join("; ")
}

impl BearerTokens {
    /// The tokens in these lines.
    ///
    /// # Errors
    /// The file has no token, or lines are invalid: an empty name or token, a token that no header
    /// could carry, or a repeated token.
    pub fn parse(lines: &str) -> Result<Self, TokensError> {
        let (tokens, problems) = Self::of_valid_lines(lines);
        if !problems.is_empty() {
            return Err(TokensError::Lines(problems));
        }
        if tokens.0.is_empty() { Err(TokensError::Empty) } else { Ok(tokens) }
    }

    /// Those of the tokens that are in these lines, too. Lines with mistakes have none.
    #[doc(hidden)]
    #[must_use]
    pub fn also_in(&self, lines: &str) -> Self {
        let (valid, _) = Self::of_valid_lines(lines);
        let is_there = |known: &&Known| valid.find(&known.digest).is_some();
        Self(self.0.iter().filter(is_there).cloned().collect())
    }

    fn of_valid_lines(lines: &str) -> (Self, Vec<(usize, &'static str)>) {
        let (mut tokens, mut problems) = (Self(Vec::new()), Vec::new());
        for (index, line) in written(lines) {
            match tokens.parse_line(line) {
                Ok(known) => tokens.0.push(known),
                Err(problem) => problems.push((index + 1, problem)),
            }
        }
        (tokens, problems)
    }

    /// No token: nobody is let in by one.
    #[doc(hidden)]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// The callers of the tokens that these lack, without repetition.
    #[doc(hidden)]
    pub fn lacking<'a>(&'a self, others: &'a Self) -> BTreeSet<&'a str> {
        let lacking = others.0.iter().filter(|known| self.find(&known.digest).is_none());
        lacking.map(|known| known.principal.id()).collect()
    }

    /// The callers of the tokens that are in both sets, with other names or scopes in the other one.
    #[doc(hidden)]
    pub fn differing<'a>(&self, others: &'a Self) -> BTreeSet<&'a str> {
        let is_other =
            |known: &&Known| self.find(&known.digest).is_some_and(|own| *own != known.principal);
        others.0.iter().filter(is_other).map(|known| known.principal.id()).collect()
    }

    /// The tokens in an environment variable.
    ///
    /// # Errors
    /// The variable is not set, and as [`Self::parse`].
    pub fn from_env(variable: &str) -> Result<Self, TokensError> {
        let lines = std::env::var(variable);
        Self::parse(&lines.map_err(|_| TokensError::Variable(variable.to_owned()))?)
    }

    /// The tokens in a file.
    ///
    /// # Errors
    /// The file cannot be read, and as [`Self::parse`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TokensError> {
        let path = path.as_ref();
        let lines = std::fs::read_to_string(path);
        Self::parse(&lines.map_err(|source| TokensError::File { path: path.to_owned(), source })?)
    }

    /// The tokens of both sets.
    ///
    /// # Errors
    /// A token is in both sets.
    #[doc(hidden)]
    pub fn and(mut self, more: Self) -> Result<Self, TokensError> {
        if more.0.iter().any(|known| self.find(&known.digest).is_some()) {
            return Err(TokensError::Repeated);
        }
        for mut known in more.0 {
            if known.principal.id().starts_with('#') {
                let scopes = known.principal.scopes().to_vec();
                known.principal = Principal::new(self.next_id()).with_scopes(scopes);
            }
            self.0.push(known);
        }
        Ok(self)
    }

    /// The tokens in these lines, to be masked.
    #[doc(hidden)]
    pub fn secrets_in(lines: &str) -> impl Iterator<Item = &str> {
        written(lines).map(|(_, line)| parts(line).1)
    }

    /// The principals of all tokens.
    #[doc(hidden)]
    pub fn principals(&self) -> impl Iterator<Item = &Principal> {
        self.0.iter().map(|known| &known.principal)
    }

    /// The id of a token without a name.
    fn next_id(&self) -> String {
        format!("#{}", self.0.len() + 1)
    }

    fn parse_line(&self, line: &str) -> Result<Known, &'static str> {
        let (name, token, scopes) = parts(line);
        let scopes: Vec<&str> =
            scopes.map_or_else(Vec::new, |scopes| scopes.split(',').map(str::trim).collect());
        if scopes.iter().any(|scope| scope.is_empty() || scope.contains(' ')) {
            return Err("has an empty scope; write `scopes=a,b`");
        }
        let name = name.map_or_else(|| self.next_id(), str::to_owned);
        if name.is_empty() {
            return Err("has no name before its colon; write `NAME:TOKEN`");
        }
        if token.is_empty() {
            return Err("has no token after its name; write `NAME:TOKEN`");
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(
                "is not `NAME:TOKEN scopes=a,b`, with a token in visible ASCII without spaces",
            );
        }
        let digest = digest(token);
        if self.find(&digest).is_some() {
            return Err("repeats a token; give each principal its own");
        }
        Ok(Known { digest, principal: Principal::new(name).with_scopes(scopes) })
    }

    /// Compares with all tokens, so that the time taken reveals nothing.
    fn find(&self, digest: &[u8; 32]) -> Option<&Principal> {
        let mut found = None;
        for known in &self.0 {
            if known.digest.ct_eq(digest).into() {
                found = Some(&known.principal);
            }
        }
        found
    }
}

/// The lines that are no comments, each with its index.
fn written(lines: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = lines.lines().map(str::trim).enumerate();
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The name, the token and the scopes of `NAME:TOKEN scopes=a,b`.
fn parts(line: &str) -> (Option<&str>, &str, Option<&str>) {
    let (line, scopes) = match line.split_once(" scopes=") {
        Some((line, scopes)) => (line.trim_end(), Some(scopes)),
        None => (line, None),
    };
    match line.split_once(':') {
        Some((name, token)) => (Some(name.trim()), token.trim(), scopes),
        None => (None, line, scopes),
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

impl Authenticate for BearerTokens {
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        let found = token.and_then(|token| self.find(&digest(token)));
        Box::pin(ready(found.cloned().ok_or(AuthRejection::Unknown)))
    }
}

impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|known| known.principal.id()).collect();
        f.debug_tuple("BearerTokens").field(&names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{BearerTokens, digest};

    fn id(tokens: &BearerTokens, token: &str) -> Option<String> {
        tokens.find(&digest(token)).map(|principal| principal.id().to_owned())
    }

    #[test]
    fn a_line_is_a_token_with_or_without_a_name() {
        let tokens = BearerTokens::parse("\n# people\n ada : one \nada:two\n\nthree\n").unwrap();
        assert_eq!(id(&tokens, "one").as_deref(), Some("ada"));
        assert_eq!(id(&tokens, "two").as_deref(), Some("ada"));
        assert_eq!(id(&tokens, "three").as_deref(), Some("#3"));
        assert_eq!(id(&tokens, ""), None);
        assert_eq!(id(&tokens, "ada:one"), None);
    }

    #[test]
    fn an_invalid_token_line_is_reported_by_number() {
        for lines in ["ok\nada:", "ok\n:hunter2", "ok\nhunter 2", "ok\nx:ok", "ok\nhünter2"] {
            let problem = BearerTokens::parse(lines).expect_err(lines).to_string();
            assert!(problem.starts_with("line 2 "), "{problem}");
            assert!(!problem.contains("nter"), "{problem}");
        }
    }

    #[test]
    fn all_lines_that_are_not_tokens_are_reported() {
        let problem = BearerTokens::parse("ada:\nok\n:x").expect_err("two problems").to_string();
        assert_eq!(
            problem,
            "line 1 has no token after its name; write `NAME:TOKEN`; line 3 has no name before its colon; write `NAME:TOKEN`"
        );
    }

    #[test]
    fn an_empty_token_file_is_an_error() {
        for lines in ["", "  \n", "# nothing"] {
            assert!(BearerTokens::parse(lines).is_err(), "{lines:?}");
        }
    }

    #[test]
    fn the_tokens_of_lines_are_those_that_authenticate() {
        let lines = "# people\nada smith: one scopes=a,b\n\ntwo\n";
        assert!(BearerTokens::secrets_in(lines).eq(["one", "two"]));
    }
}
