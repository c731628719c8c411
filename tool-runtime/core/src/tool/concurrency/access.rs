//! Resources that a call touches. Conflicting calls do not run concurrently.

mod claim;
mod directory;
mod key;
mod part;
mod template;

#[cfg(test)]
mod tests;

pub(crate) use claim::Claim;
pub(crate) use directory::in_directory;
pub use part::KeyPart;

use compact_str::CompactString;

/// The resources that a call touches, by key, each read or written.
///
/// A key is text of the form `scheme:rest`. Two calls conflict if one writes a key that the other reads
/// or writes. Keys are compared as text, except for the scheme `file`: its path is made absolute
/// against the current directory, or that of the tool ([`Tool::resolve_keys_in`](crate::tool::Tool::resolve_keys_in)), without
/// `.`, `..` and double separators. Symbolic links are resolved in
/// the path as it is when the key is created, also broken ones. Hard links are not resolved.
///
/// ```
/// use tool_runtime::Access;
///
/// let copy = Access::none().read("file:./a.txt").write("file:b.txt");
/// let edit = Access::none().write("file:drafts/../a.txt");
/// assert!(copy.conflicts_with(&edit));
/// assert!(!copy.conflicts_with(&Access::none().read("file:a.txt")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    declaration: Declaration,
    /// Sorted, like `writes`. Most calls have one key or none; a short key needs no allocation.
    reads: Vec<CompactString>,
    writes: Vec<CompactString>,
}

/// The extent of a declaration. As wide as a word, so that moves of an access copy whole words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
enum Declaration {
    #[default]
    Undeclared,
    Declared,
    /// There were too many keys to keep. The call then counts as undeclared.
    Unbounded,
}

impl Access {
    /// An access without a declaration, the default: the call may touch anything.
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

    /// An access without keys, to which keys are added.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// assert!(Access::none().is_declared());
    /// assert_ne!(Access::none(), Access::undeclared());
    /// ```
    pub fn none() -> Self {
        Self { declaration: Declaration::Declared, ..Self::default() }
    }

    /// Adds a key that is read. The access counts as declared.
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
        self.declare();
        insert(&mut self.reads, key.into().into());
        self
    }

    /// Adds a key that is read and has the form of all keys already.
    pub(crate) fn read_resolved(mut self, key: String) -> Self {
        self.declare();
        self.reads.push(key.into());
        self
    }

    /// Adds a key that is written and may be read. The access counts as declared.
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
        self.declare();
        insert(&mut self.writes, key.into().into());
        self
    }

    fn declare(&mut self) {
        if self.declaration == Declaration::Undeclared {
            self.declaration = Declaration::Declared;
        }
    }

    /// Whether the access has no keys, so that no other key conflicts with it.
    pub(crate) fn touches_nothing(&self) -> bool {
        self.declaration != Declaration::Unbounded
            && self.reads.is_empty()
            && self.writes.is_empty()
    }

    /// Whether all resources are declared.
    pub fn is_declared(&self) -> bool {
        self.declaration == Declaration::Declared
    }

    /// The keys that are read, sorted.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        self.reads.iter().map(CompactString::as_str)
    }

    /// The keys that are written, sorted.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().map(CompactString::as_str)
    }

    /// Whether both have a key in common that at least one of them writes. Only keys are compared: an
    /// undeclared access has none, and a batch decides by the tool's read-only hint instead.
    ///
    /// ```
    /// use tool_runtime::Access;
    ///
    /// let (read, write) = (Access::none().read("db:a"), Access::none().write("db:a"));
    /// assert!(read.conflicts_with(&write) && write.conflicts_with(&write));
    /// assert!(!read.conflicts_with(&read) && !write.conflicts_with(&Access::undeclared()));
    /// ```
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.overwrites(other) || other.overwrites(self)
    }

    fn overwrites(&self, other: &Self) -> bool {
        let has = |keys: &[CompactString], key| keys.binary_search(key).is_ok();
        self.writes.iter().any(|key| has(&other.reads, key) || has(&other.writes, key))
    }
}

/// Inserts a normalized key in order, without duplicates.
fn insert(keys: &mut Vec<CompactString>, key: CompactString) {
    let key = key::normalize(key);
    if let Err(position) = keys.binary_search(&key) {
        keys.insert(position, key);
    }
}
