//! Results of conditions: yes, no, or not decidable.

/// The result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// The condition holds.
    Yes,
    /// The condition does not hold.
    No,
    /// The condition cannot be evaluated: a value is absent or of another type, say.
    Unknown,
}

impl Truth {
    /// Whether all hold: one that does not hold outweighs those that cannot be evaluated.
    pub(crate) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Yes;
        for truth in truths {
            match truth {
                Self::No => return Self::No,
                Self::Unknown => all = Self::Unknown,
                Self::Yes => {}
            }
        }
        all
    }

    /// Whether one holds.
    pub(crate) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        truths
            .into_iter()
            .map(Self::not)
            .fold(Self::Yes, |all, truth| Self::all([all, truth]))
            .not()
    }

    /// Whether all are the same; `Unknown` if they differ, or if there are none.
    pub(crate) fn same(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut truths = truths.into_iter();
        let first = truths.next().unwrap_or(Self::Unknown);
        match truths.all(|truth| truth == first) {
            true => first,
            false => Self::Unknown,
        }
    }

    pub(crate) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(flag: bool) -> Self {
        if flag { Self::Yes } else { Self::No }
    }
}
