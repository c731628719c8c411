//! Empty: the manifest is what counts.
