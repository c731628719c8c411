//! URIs with variables: RFC 6570, level 1 and `{+name}`.

mod percent;

use crate::tool::offering::text_arguments::TextArguments;
use percent::decode_percent;
use std::fmt;

/// Limit on the bytes of a URI: finding its variables takes several times as much memory.
const MAX_URI: usize = 64 << 10;

/// A URI, or a template of URIs: `{name}` matches one segment or a part of it, `{+name}`
/// any text, slashes included. Neither matches an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, spans_segments: bool },
}

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// The problem and its remedy.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let part = take(&mut rest)?;
            let follows = matches!(parts.last(), Some(Part::Variable { .. }));
            if let (true, Part::Variable { name, .. }) = (follows, &part) {
                return Err(format!(
                    "`{{{name}}}` directly follows another variable; write text between the two"
                ));
            }
            parts.push(part);
        }
        let template = Self { text: text.to_owned(), parts };
        template.check_scheme()?;
        template.check_names()?;
        Ok(template)
    }

    /// The scheme cannot be variable.
    fn check_scheme(&self) -> Result<(), String> {
        let scheme = match self.parts.first() {
            Some(Part::Literal(literal)) => literal.split_once(':').map(|(scheme, _)| scheme),
            _ => None,
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        match scheme {
            Some(scheme)
                if scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme.chars().all(allowed) =>
            {
                Ok(())
            }
            _ => Err("it has no scheme; write one, as in `notes://`".to_owned()),
        }
    }

    fn check_names(&self) -> Result<(), String> {
        let names: Vec<&str> = self.variables().collect();
        match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            Some((_, twice)) => Err(format!("`{{{twice}}}` is used twice; rename one of the two")),
            None => Ok(()),
        }
    }

    /// The names of its variables, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Whether the template matches more than one URI.
    pub(crate) fn is_template(&self) -> bool {
        self.variables().next().is_some()
    }

    /// A key that is equal for templates of the same URIs.
    pub(crate) fn shape(&self) -> String {
        let shape = |part: &Part| match part {
            Part::Literal(literal) => literal.clone(),
            Part::Variable { spans_segments: true, .. } => "{+}".to_owned(),
            Part::Variable { .. } => "{}".to_owned(),
        };
        self.parts.iter().map(shape).collect()
    }

    /// The rank of a template, the most specific first: without variables, without variables that
    /// span segments, with more literal text.
    pub(crate) fn breadth(&self) -> (bool, usize, std::cmp::Reverse<usize>) {
        let (mut spans, mut text) = (0, 0);
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text += literal.len(),
                Part::Variable { spans_segments, .. } => spans += usize::from(*spans_segments),
            }
        }
        (self.is_template(), spans, std::cmp::Reverse(text))
    }

    /// The values of the variables in `uri`, percent-decoded; `None` if it is another URI.
    ///
    /// Each variable matches as little as possible. Matching reads the URI once per
    /// part of the template, for every URI.
    pub(crate) fn captures(&self, uri: &str) -> Option<TextArguments> {
        if uri.len() > MAX_URI || !self.begins(uri) {
            return None;
        }
        let fits = self.fitting(uri);
        let (mut at, mut captures) = (0, TextArguments::new());
        for (index, part) in self.parts.iter().enumerate() {
            let fits_from = &fits[index];
            if !fits_from[at] {
                return None;
            }
            at = match part {
                Part::Literal(literal) => at + literal.len(),
                Part::Variable { name, .. } => {
                    let rest = fits.get(index + 1);
                    let fits = |end: &usize| rest.map_or(*end == uri.len(), |rest| rest[*end]);
                    let end = (at + 1..=uri.len()).find(fits)?;
                    captures.insert(name.clone(), decode_percent(uri.get(at..end)?)?);
                    end
                }
            };
        }
        (at == uri.len()).then_some(captures)
    }

    /// Whether a URI begins as the template does: most others differ there.
    fn begins(&self, uri: &str) -> bool {
        matches!(self.parts.first(), Some(Part::Literal(literal)) if uri.starts_with(literal))
    }

    /// For every part and every position: whether this part and those after it can match the whole
    /// rest of the URI. Computed from the end, which avoids backtracking.
    fn fitting(&self, uri: &str) -> Vec<Vec<bool>> {
        let end = uri.len();
        let mut fits: Vec<Vec<bool>> = Vec::with_capacity(self.parts.len());
        let mut rest: Vec<bool> = (0..=end).map(|at| at == end).collect();
        for part in self.parts.iter().rev() {
            let here = match part {
                Part::Literal(literal) => literal_fits(literal, uri, &rest),
                Part::Variable { spans_segments, .. } => variable_fits(*spans_segments, uri, &rest),
            };
            fits.push(std::mem::replace(&mut rest, here.clone()));
            rest = here;
        }
        // The stored row belongs to the part after this one.
        fits.push(rest);
        fits.reverse();
        fits
    }
}

fn literal_fits(literal: &str, uri: &str, rest: &[bool]) -> Vec<bool> {
    let fits = |at: usize| {
        let begins = uri.as_bytes()[at..].starts_with(literal.as_bytes());
        begins && rest[at + literal.len()]
    };
    (0..rest.len()).map(fits).collect()
}

/// A variable matches if the following parts match one character later, or the variable does.
fn variable_fits(spans_segments: bool, uri: &str, rest: &[bool]) -> Vec<bool> {
    let mut fits = vec![false; rest.len()];
    for (at, byte) in uri.bytes().enumerate().rev() {
        let is_taken = spans_segments || !matches!(byte, b'/' | b'?' | b'#');
        fits[at] = is_taken && (rest[at + 1] || fits[at + 1]);
    }
    fits
}

/// Takes one part off the front.
fn take(rest: &mut &str) -> Result<Part, String> {
    let Some(inner) = rest.strip_prefix('{') else {
        let end = rest.find(['{', '}']).unwrap_or(rest.len());
        if rest[end..].starts_with('}') {
            return Err("`}` closes nothing; write `{name}` for a variable".to_owned());
        }
        let (literal, behind) = rest.split_at(end);
        *rest = behind;
        return Ok(Part::Literal(literal.to_owned()));
    };
    let Some((inside, behind)) = inner.split_once('}') else {
        return Err("`{` is not closed; write `{name}` for a variable".to_owned());
    };
    *rest = behind;
    let (name, spans_segments) = match inside.strip_prefix('+') {
        Some(name) => (name, true),
        None => (inside, false),
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match is_name {
        true => Ok(Part::Variable { name: name.to_owned(), spans_segments }),
        false => Err(format!("`{{{inside}}}` is not a variable; write `{{name}}` or `{{+name}}`")),
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn template(text: &str) -> UriTemplate {
        UriTemplate::parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    fn captures(text: &str, uri: &str) -> Option<Vec<String>> {
        let template = template(text);
        let captures = template.captures(uri)?;
        Some(template.variables().map(|name| captures[name].clone()).collect())
    }

    #[test]
    fn variables_are_replaced_by_their_values() {
        for (text, uri, expected) in [
            ("notes://{id}", "notes://7", Some(vec!["7"])),
            ("notes://{id}", "notes://", None),
            ("notes://{id}", "notes://7/8", None),
            ("notes://{id}", "other://7", None),
            ("notes://{id}", "notes://a%20b%2Fc", Some(vec!["a b/c"])),
            ("notes://{id}", "notes://%C3%A4", Some(vec!["ä"])),
            ("notes://{id}", "notes://%FF", None),
            ("notes://{id}", "notes://50%", None),
            ("notes://{id}", "notes://ä", Some(vec!["ä"])),
            ("test://template/{id}/data", "test://template/123/data", Some(vec!["123"])),
            ("file:///{+path}", "file:///a/b.txt", Some(vec!["a/b.txt"])),
            ("a:{x}-{y}", "a:1-2-3", Some(vec!["1", "2-3"])),
            ("a:{x}-z", "a:1-z-z", Some(vec!["1-z"])),
            ("a:{+x}-{y}", "a:1-2/3-4", Some(vec!["1-2/3", "4"])),
            ("config://app", "config://app", Some(vec![])),
            ("config://app", "config://apple", None),
        ] {
            let expected =
                expected.map(|values| values.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(captures(text, uri), expected, "{text} {uri}");
        }
    }

    #[test]
    fn an_invalid_template_is_rejected_with_a_remedy() {
        for (text, part) in [
            ("notes", "no scheme"),
            ("{a}:b", "no scheme"),
            ("a:{x}{y}", "write text between"),
            ("a:{x", "not closed"),
            ("a:x}", "closes nothing"),
            ("a:{?q}", "is not a variable"),
            ("a:{}", "is not a variable"),
            ("a:{x}/{x}", "twice"),
        ] {
            let problem = UriTemplate::parse(text).expect_err(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    #[test]
    fn the_more_specific_template_comes_first() {
        let mut templates =
            ["a:{+x}", "a:{x}", "a:b", "a:{+x}/y", "a:b/{x}"].map(template).to_vec();
        templates.sort_by_key(UriTemplate::breadth);
        let order: Vec<String> = templates.iter().map(ToString::to_string).collect();
        assert_eq!(order, ["a:b", "a:b/{x}", "a:{x}", "a:{+x}/y", "a:{+x}"]);
        assert_eq!(template("a:{x}").shape(), template("a:{other}").shape());
    }

    #[test]
    fn matching_a_hostile_uri_takes_linear_time() {
        let many = (0..20).map(|n| format!("{{v{n}}}-")).collect::<String>();
        let uri = format!("a:{}", "-".repeat(20_000));
        assert_eq!(template(&format!("a:{many}z")).captures(&uri), None);
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Matching an expanded template returns its values, unless the template is ambiguous.
        #[test]
        fn expanding_and_matching_a_template_agree(id in "[^/?#%\u{0}]{1,20}", path in "[^%]{1,20}") {
            let uri = format!("notes://{id}/at/{path}");
            let found = template("notes://{id}/at/{+path}").captures(&uri);
            let expected = TextArguments::from([("id".to_owned(), id), ("path".to_owned(), path)]);
            prop_assert_eq!(found, Some(expected));
        }
    }
}
