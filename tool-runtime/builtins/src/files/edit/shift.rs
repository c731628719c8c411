//! The difference between the indentation that a model quotes and that of the file.

/// A change of indentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::files) struct Shift {
    /// The shift of the first line, if it differs from the others: models often drop its indentation.
    first: Option<Change>,
    rest: Change,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Change {
    #[default]
    None,
    Add(String),
    Remove(String),
    /// Each `from` is a `to`: tabs and spaces, two spaces and four.
    Units {
        from: String,
        to: String,
    },
    /// The indentation that all lines have becomes another; units count beyond it.
    Based {
        quoted: String,
        found: String,
        units: Box<Self>,
    },
}

impl Shift {
    /// The change that turns every quoted line into that of the file, if there is one.
    pub(super) fn between(quoted: &[&str], found: &[&str]) -> Option<Self> {
        let pairs = quoted.iter().zip(found).map(|(quoted, found)| (indent(quoted), indent(found)));
        let is_blank = |line: &str| line.trim().is_empty();
        let pairs: Vec<_> =
            pairs.zip(quoted).filter(|(_, line)| !is_blank(line)).map(|(pair, _)| pair).collect();
        if let Some(rest) = Change::between(&pairs) {
            return Some(Self { first: None, rest });
        }
        let (first, others) = pairs.split_first()?;
        let starts_with_first = quoted.first().is_some_and(|line| !is_blank(line));
        let rest = Change::between(others).filter(|_| starts_with_first)?;
        Some(Self { first: Change::between(&[*first]), rest })
    }

    /// The new line with the indentation of the file.
    pub(super) fn apply(&self, line: &str, is_first: bool) -> String {
        match &self.first {
            Some(first) if is_first => first.apply(line),
            _ => self.rest.apply(line),
        }
    }
}

impl Change {
    fn between(pairs: &[(&str, &str)]) -> Option<Self> {
        let (quoted, found) = *pairs.first()?;
        let change = if let Some(added) = found.strip_suffix(quoted) {
            Self::Add(added.to_owned())
        } else if let Some(removed) = quoted.strip_suffix(found) {
            Self::Remove(removed.to_owned())
        } else {
            Self::None
        };
        let simple = [Self::None, change];
        let units = || Self::units(pairs);
        let simple = simple.into_iter().chain(units()).find(|change| change.explains(pairs));
        simple.or_else(|| Self::based(pairs))
    }

    fn based(pairs: &[(&str, &str)]) -> Option<Self> {
        let (base, new_base) = *pairs.iter().min_by_key(|(quoted, _)| quoted.len())?;
        let beyond = |(quoted, found): &(&'_ str, &'_ str)| {
            Some((quoted.strip_prefix(base)?.len(), found.strip_prefix(new_base)?.len()))
        };
        let lengths: Vec<(usize, usize)> = pairs.iter().map(beyond).collect::<Option<_>>()?;
        let tails = pairs.iter().zip(lengths);
        let tails: Vec<(&str, &str)> = tails
            .map(|((quoted, found), (old, new))| {
                (&quoted[quoted.len() - old..], &found[found.len() - new..])
            })
            .collect();
        let units = Self::units(&tails).find(|units| units.explains(&tails))?;
        let [quoted, found] = [base, new_base].map(str::to_owned);
        Some(Self::Based { quoted, found, units: Box::new(units) })
    }

    /// Units of the smallest indentation: with tabs the smallest ones, since one tab is one level; otherwise the largest
    /// ones, so that spaces that align stay as they are.
    fn units(pairs: &[(&str, &str)]) -> impl Iterator<Item = Self> {
        let indented =
            pairs.iter().filter(|(quoted, found)| !quoted.is_empty() && !found.is_empty());
        let smallest = indented.min_by_key(|(quoted, _)| quoted.len()).copied();
        smallest.into_iter().flat_map(|(quoted, found)| {
            // None if the text has no such part, also between the bytes of a character.
            let part = |text: &str, count: usize| {
                let is_whole = text.len().is_multiple_of(count);
                text.get(..text.len() / count).filter(|_| is_whole).map(str::to_owned)
            };
            let has_tabs = quoted.contains('\t') || found.contains('\t');
            let most = quoted.len();
            (1..=most).filter_map(move |number| {
                let count = if has_tabs { most + 1 - number } else { number };
                Some(Self::Units { from: part(quoted, count)?, to: part(found, count)? })
            })
        })
    }

    fn explains(&self, pairs: &[(&str, &str)]) -> bool {
        pairs.iter().all(|(quoted, found)| match self {
            Self::None => quoted == found,
            Self::Add(added) => found.strip_prefix(added.as_str()) == Some(quoted),
            Self::Remove(removed) => quoted.strip_prefix(removed.as_str()) == Some(found),
            Self::Units { from, to } => {
                let count = quoted.len() / from.len();
                *quoted == from.repeat(count) && *found == to.repeat(count)
            }
            // Made of pairs that it explains.
            Self::Based { .. } => true,
        })
    }

    fn apply(&self, line: &str) -> String {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        match self {
            Self::None => line.to_owned(),
            Self::Add(added) => format!("{added}{line}"),
            Self::Remove(removed) => match line.strip_prefix(removed.as_str()) {
                Some(line) => line.to_owned(),
                None => line.trim_start().to_owned(),
            },
            Self::Units { from, to } => {
                let mut rest = line;
                let mut shifted = String::new();
                while let Some(less) = rest.strip_prefix(from.as_str()) {
                    shifted.push_str(to);
                    rest = less;
                }
                shifted + rest
            }
            Self::Based { quoted, found, units } => match line.strip_prefix(quoted.as_str()) {
                Some(line) => format!("{found}{}", units.apply(line)),
                None => line.trim_start().to_owned(),
            },
        }
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn shifts(quoted: &[&str], found: &[&str], lines: &[(&str, &str)]) {
        let shift = Shift::between(quoted, found).unwrap();
        for (number, (line, expected)) in lines.iter().enumerate() {
            assert_eq!(shift.apply(line, number == 0), *expected);
        }
    }

    #[test]
    fn indentation_is_added_and_removed() {
        shifts(&["a", "  b"], &["    a", "      b"], &[("c", "    c"), ("", ""), (" d", "     d")]);
        shifts(&["    a", "      b"], &["a", "  b"], &[("    c", "c"), ("  d", "d")]);
    }

    #[test]
    fn units_are_converted() {
        shifts(&["    a", "        b"], &["\ta", "\t\tb"], &[("            c", "\t\t\tc")]);
        shifts(&["a", "  b"], &["a", "    b"], &[("    c", "        c"), ("  d", "    d")]);
        shifts(&["\ta"], &["    a"], &[("\t\tc", "        c")]);
        shifts(&["\t\ta"], &["        a"], &[("\t\t\tc", "            c")]);
        shifts(&["        a"], &["\t\ta"], &[("            c", "\t\t\tc")]);
        shifts(&["a", "    b"], &["\ta", "\t\tb"], &[("c", "\tc"), ("        d", "\t\t\td")]);
    }

    #[test]
    fn indentation_may_have_characters_of_several_bytes() {
        let found = ["\u{3000}foo", "\u{3000}\u{3000}bar"];
        shifts(&["   foo", "      bar"], &found, &[("   a", "\u{3000}a")]);
        assert!(Shift::between(&["   foo", "   bar"], &found).is_some());
        let no_break = "\u{a0}".repeat(8);
        shifts(
            &["        a"],
            &[&format!("{no_break}a")],
            &[("        b", &format!("{no_break}b"))],
        );
    }

    #[test]
    fn the_first_line_may_lack_its_indentation() {
        shifts(
            &["a {", "        b"],
            &["    a {", "        b"],
            &[("c {", "    c {"), ("        d", "        d")],
        );
    }

    #[test]
    fn other_differences_are_not_a_shift() {
        assert_eq!(Shift::between(&["a", "b", "c"], &["  a", "b", "  c"]), None);
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Indentation may consist of blanks of several bytes.
        #[test]
        fn a_shift_makes_the_found_lines_of_the_quoted_ones(
            indents in prop::collection::vec(("[ \t\u{a0}\u{3000}]{0,6}", "[ \t\u{a0}\u{3000}]{0,6}"), 1..4),
        ) {
            let (quoted, found): (Vec<_>, Vec<_>) =
                indents.iter().map(|(quoted, found)| (format!("{quoted}x"), format!("{found}x"))).unzip();
            let [quoted, found] = [&quoted, &found].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
            if let Some(shift) = Shift::between(&quoted, &found) {
                for (number, (quoted, found)) in quoted.iter().zip(&found).enumerate() {
                    prop_assert_eq!(&shift.apply(quoted, number == 0), found);
                }
            }
        }
    }
}
