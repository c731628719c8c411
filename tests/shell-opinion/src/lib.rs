//! Empty: the tests of this package compare two parsers of shell commands.
