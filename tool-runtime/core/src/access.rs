//! Resources that a call touches, so that conflicting calls do not run at once.

mod claim;
mod key;
mod part;
mod template;

#[cfg(test)]
mod tests;

pub(crate) use claim::Claim;
pub use part::KeyPart;

/// The resources that a call touches, by key, each read or written.
///
/// A key is text of the form `scheme:rest`. Two calls conflict where one writes what the other reads
/// or writes. Keys are compared as text, except for the scheme `file`: its path is made absolute
/// against the current directory and loses `.`, `..`, double separators and symbolic links, so
/// far as it exists when the key is made. Hard links and links that lead nowhere are not seen
/// through.
///
/// ```
/// use tool_runtime::Access;
///
/// let copy = Access::none().read("file:./a.txt").write("file:b.txt");
/// let edit = Access::none().write("file:drafts/../a.txt");
/// assert!(copy.meets(&edit));
/// assert!(!copy.meets(&Access::none().read("file:a.txt")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    is_declared: bool,
    /// More keys than are kept: it may be any.
    is_unbounded: bool,
    /// Sorted, as the other: most calls have one key or none.
    reads: Vec<String>,
    writes: Vec<String>,
}

impl Access {
    /// Nothing is known of it: the default.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// assert!(!Access::undeclared().is_declared());
    /// assert_eq!(Access::undeclared(), Access::default());
    /// ```
    pub fn undeclared() -> Self {
        Self::default()
    }

    /// Touches nothing, except for what is added.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// assert!(Access::none().is_declared());
    /// assert_ne!(Access::none(), Access::undeclared());
    /// ```
    pub fn none() -> Self {
        Self { is_declared: true, ..Self::default() }
    }

    /// Adds a key that is read, and makes the access a declared one.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// let access = Access::undeclared().read("table:users");
    /// assert!(access.is_declared());
    /// assert_eq!(access.reads().collect::<Vec<_>>(), ["table:users"]);
    /// ```
    #[must_use]
    pub fn read(mut self, key: impl Into<String>) -> Self {
        self.is_declared = true;
        insert(&mut self.reads, key::normal(key.into()));
        self
    }

    /// Adds a key that is written, and makes the access a declared one. It may be read,
    /// too.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// let access = Access::undeclared().write("table:users");
    /// assert!(access.is_declared());
    /// assert_eq!(access.writes().collect::<Vec<_>>(), ["table:users"]);
    /// ```
    #[must_use]
    pub fn write(mut self, key: impl Into<String>) -> Self {
        self.is_declared = true;
        insert(&mut self.writes, key::normal(key.into()));
        self
    }

    /// Whether no call can meet this one by its keys.
    pub(crate) fn touches_nothing(&self) -> bool {
        !self.is_unbounded && self.reads.is_empty() && self.writes.is_empty()
    }

    /// Whether all resources are declared.
    pub fn is_declared(&self) -> bool {
        self.is_declared && !self.is_unbounded
    }

    /// The keys that are read, in order of the alphabet.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        self.reads.iter().map(String::as_str)
    }

    /// The keys that are written, in order of the alphabet.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().map(String::as_str)
    }

    /// Whether both touch one key, and at least one of them writes it. An undeclared access has no
    /// keys, and so meets none.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// let (read, write) = (Access::none().read("db:a"), Access::none().write("db:a"));
    /// assert!(read.meets(&write) && write.meets(&write));
    /// assert!(!read.meets(&read) && !write.meets(&Access::undeclared()));
    /// ```
    pub fn meets(&self, other: &Self) -> bool {
        self.overwrites(other) || other.overwrites(self)
    }

    fn overwrites(&self, other: &Self) -> bool {
        let has = |keys: &[String], key| keys.binary_search(key).is_ok();
        self.writes.iter().any(|key| has(&other.reads, key) || has(&other.writes, key))
    }
}

/// Inserts a key in its place, once.
fn insert(keys: &mut Vec<String>, key: String) {
    if let Err(place) = keys.binary_search(&key) {
        keys.insert(place, key);
    }
}
